import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { operations, OPERATIONS } from "@agentos/api"
import { bodyLimitsOf } from "../../src/edge/RequestLimits.ts"
import { call, errorOf, fresh, newTenant, rawCall } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Returns the error envelope of a raw response. */
const rawError = (answer: string): { readonly status: string; readonly code: string; readonly requestId: string } => {
  const [head = "", body = ""] = answer.split("\r\n\r\n")
  const { error } = JSON.parse(body) as { error: { code: string; requestId: string } }
  assert.include(head.toLowerCase(), `x-request-id: ${error.requestId}`)
  return { status: head.split(" ")[1] ?? "", ...error }
}

describe("HttpEdge", () => {
  it("assigns every request its own id, in header and body", async () => {
    const answers = [await call(server, "GET", "/nowhere"), await call(server, "GET", "/nowhere")]
    const ids = answers.map((answer) => errorOf(answer).requestId)
    for (const id of ids) assert.match(id, UUID)
    assert.notStrictEqual(ids[0], ids[1])
  })

  it("answers unknown paths with 404, and matches paths exactly", async () => {
    const paths = [
      "/nowhere",
      "/api/v1/",
      "//api/v1",
      "/API/v1",
      "/api/v2",
      "/api/v1/events/x/y",
      "/api/v1/services/%E0",
      "/api/v1/service%73",
      "/api/v1/services/email.mailbox.%63reate"
    ]
    for (const path of paths) {
      const answer = await call(server, "GET", path)
      assert.strictEqual(answer.status, 404, path)
      assert.strictEqual(errorOf(answer).code, "RESOURCE_NOT_FOUND")
    }
  })

  it("answers unsupported methods with 405 and the allowed ones", async () => {
    const rows = [
      ["PUT", "/api/v1", "GET, HEAD, OPTIONS"],
      ["DELETE", "/api/v1/email/mailboxes", "POST, OPTIONS"],
      ["GET", "/api/v1/email/mailboxes", "POST, OPTIONS"],
      ["HEAD", "/api/v1/email/mailboxes", "POST, OPTIONS"],
      ["POST", "/api/v1/events", "GET, HEAD, OPTIONS"],
      ["GET", "/api/v1/events/x/acknowledge", "POST, OPTIONS"],
      ["POST", "/openapi.json", "GET, HEAD, OPTIONS"],
      ["POST", "/health/live", "GET, HEAD, OPTIONS"]
    ] as const
    for (const [method, path, allow] of rows) {
      const answer = await call(server, method, path)
      assert.strictEqual(answer.status, 405, `${method} ${path}`)
      assert.strictEqual(answer.headers.get("allow"), allow)
      if (method !== "HEAD") assert.strictEqual(errorOf(answer).code, "METHOD_NOT_ALLOWED")
    }
  })

  it("answers HEAD as GET, without the body", async () => {
    for (const path of [
      "/api/v1",
      "/api/v1/services/email.mailbox.create",
      "/openapi.json",
      "/llms.txt",
      "/health/live"
    ]) {
      const head = await call(server, "HEAD", path)
      const get = await call(server, "GET", path)
      assert.strictEqual(head.status, 200, path)
      assert.strictEqual(head.text, "")
      assert.strictEqual(head.headers.get("content-length"), get.headers.get("content-length"))
      assert.strictEqual(head.headers.get("etag"), get.headers.get("etag"))
    }
  })

  it("allows any origin to call and read, and restricts browsers otherwise", async () => {
    const preflight = await call(server, "OPTIONS", "/api/v1/email/mailboxes", {
      headers: { origin: "https://agent.example", "access-control-request-method": "POST" }
    })
    assert.strictEqual(preflight.status, 204)
    assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(preflight.headers.get("access-control-allow-methods"), "POST, OPTIONS")
    for (const name of ["Authorization", "PAYMENT-SIGNATURE", "Idempotency-Key", "Content-Type"]) {
      assert.include(preflight.headers.get("access-control-allow-headers"), name)
    }
    const answers = [await call(server, "GET", "/api/v1"), await call(server, "POST", "/api/v1/email/mailboxes")]
    for (const answer of answers) {
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
      assert.isNull(answer.headers.get("access-control-allow-credentials"))
      for (const name of ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-Request-Id"]) {
        assert.include(answer.headers.get("access-control-expose-headers"), name)
      }
      assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
      assert.include(answer.headers.get("content-security-policy"), "default-src 'none'")
    }
    assert.strictEqual((await call(server, "OPTIONS", "/nowhere")).status, 404)
    assert.strictEqual(answers[1]?.headers.get("cache-control"), "no-store")
  })

  it("answers the preflight of every operation without its work, with the headers of a payment", async () => {
    for (const { entry } of operations) {
      const path = entry.path.replaceAll(/\{\w+\}/g, "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11")
      const answer = await call(server, "OPTIONS", path, {
        headers: {
          origin: "https://agent.example",
          "access-control-request-method": entry.method,
          "access-control-request-headers": "authorization,content-type,idempotency-key,payment-signature"
        }
      })
      assert.deepStrictEqual([answer.status, answer.text], [204, ""], path)
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
      assert.include(answer.headers.get("access-control-allow-methods"), entry.method)
      assert.strictEqual(answer.headers.get("access-control-max-age"), "7200")
      const allowed = [
        "Authorization",
        "Content-Type",
        "Idempotency-Key",
        "PAYMENT-SIGNATURE",
        "Accept-Payment",
        "X-PAYMENT"
      ]
      for (const name of allowed) {
        assert.include(answer.headers.get("access-control-allow-headers"), name)
      }
      for (const name of ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"]) {
        assert.include(answer.headers.get("access-control-expose-headers"), name)
      }
    }
  })

  it("accepts only bodies of plain JSON (415)", async () => {
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "application/jsonp"
    ]
    for (const type of types) {
      const answer = await call(server, "POST", "/api/v1/email/mailboxes", {
        body: "{}",
        headers: { "content-type": type }
      })
      assert.strictEqual(answer.status, 415, type)
      assert.strictEqual(errorOf(answer).code, "UNSUPPORTED_MEDIA_TYPE")
    }
    const zipped = await call(server, "POST", "/api/v1/email/mailboxes", {
      body: "{}",
      headers: { "content-encoding": "gzip" }
    })
    assert.strictEqual(zipped.status, 415)
    for (const type of ["application/json", "Application/JSON; charset=UTF-8", 'application/json; charset="utf-8"']) {
      const answer = await call(server, "POST", "/api/v1/email/mailboxes", {
        body: { localPart: fresh("type") },
        headers: { "content-type": type }
      })
      assert.strictEqual(answer.status, 402, type)
    }
  })

  it("refuses bodies that are longer than their path allows (413)", async () => {
    const { token } = await newTenant(server)
    for (const [path, bytes] of [
      ["/api/v1/email/mailboxes", 16 * 1024 + 1],
      ["/api/v1/events/list", 64 * 1024 + 1]
    ] as const) {
      const answer = await call(server, "POST", path, { body: "x".repeat(bytes), token })
      assert.strictEqual(answer.status, 413)
      assert.strictEqual(errorOf(answer).code, "PAYLOAD_TOO_LARGE")
    }
  })

  it("accepts a message of the maximum length with every byte escaped", async () => {
    const { mailboxId, token } = await newTenant(server)
    const escaped = "\\u0001".repeat(1024 * 1024)
    const body = `{"mailboxId":"${mailboxId}","to":["a@example.com"],"subject":"s","text":"${escaped}","html":"${escaped}"}`
    assert.strictEqual((await call(server, "POST", "/api/v1/email/messages/send", { body, token })).status, 402)
    const longer = `${body}${" ".repeat(bodyLimitsOf(OPERATIONS.sendMessage).bytes - body.length + 1)}`
    assert.strictEqual((await call(server, "POST", "/api/v1/email/messages/send", { body: longer, token })).status, 413)
  })

  it("refuses long targets (414) and large headers (431)", async () => {
    const target = await call(server, "GET", `/api/v1/services/${"x".repeat(9 * 1024)}`)
    assert.strictEqual(target.status, 414)
    assert.strictEqual(errorOf(target).code, "URI_TOO_LONG")
    const longest = await rawCall(server, `GET /${"x".repeat(40 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`)
    assert.include(rawError(longest), { status: "414", code: "URI_TOO_LONG" })
    const headers = await rawCall(server, `GET /api/v1 HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(40 * 1024)}\r\n\r\n`)
    assert.include(rawError(headers), { status: "431", code: "HEADERS_TOO_LARGE" })
  })

  it("answers malformed HTTP in the envelope", async () => {
    for (const text of [
      "nonsense\r\n\r\n",
      "GET /api/v1 HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n"
    ]) {
      assert.include(rawError(await rawCall(server, text)), { status: "400", code: "INVALID_REQUEST" })
    }
    const hostless = await rawCall(server, "GET /api/v1 HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert.include(rawError(hostless), { status: "400", code: "INVALID_REQUEST" })
    assert.include(await rawCall(server, "GET /health/live HTTP/1.0\r\n\r\n"), "HTTP/1.1 200")
    const smuggled =
      "POST /api/v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert.include(rawError(await rawCall(server, smuggled)), { status: "400" })
  })

  it("ignores unknown expectations and upgrades", async () => {
    const expectation = "GET /health/live HTTP/1.1\r\nHost: a\r\nExpect: the-best\r\nConnection: close\r\n\r\n"
    assert.include(await rawCall(server, expectation), "HTTP/1.1 200")
    const upgrade = "GET /api/v1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"
    assert.include(await rawCall(server, upgrade), "HTTP/1.1 200")
  })

  it("answers requests without an upgrade to the realtime path with 426", async () => {
    const answer = await call(server, "GET", "/api/v1/events/socket")
    assert.strictEqual(answer.status, 426)
    assert.strictEqual(errorOf(answer).code, "UPGRADE_REQUIRED")
    assert.strictEqual(answer.headers.get("upgrade"), "websocket")
    for (const handshake of ["", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 12\r\n"]) {
      const upgrade = "GET /api/v1/events/socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      const refused = await rawCall(server, `${upgrade}${handshake}\r\n`)
      assert.include(rawError(refused), { status: "426", code: "UPGRADE_REQUIRED" })
      assert.include(refused, "sec-websocket-version: 13\r\n")
    }
  })
})
