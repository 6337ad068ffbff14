import { OPERATIONS, type ApiOperation } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { newTenant, rawCall } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: "t".repeat(32) })
})
afterAll(() => server.stop())

const BODY = '{"localPart":"a"}'

const operations: ReadonlyArray<ApiOperation> = Object.values(OPERATIONS)

/** Returns the response to a request with all required headers and the given ones. */
const answerTo = async (...more: ReadonlyArray<string>) => {
  const headers = [
    "POST /api/v1/email/mailboxes HTTP/1.1",
    "Host: agentos.test",
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    "Connection: close",
    ...more
  ]
  const [head = "", text = ""] = (await rawCall(server, `${headers.join("\r\n")}\r\n\r\n${BODY}`)).split("\r\n\r\n")
  return { status: head.split(" ")[1], text }
}

describe("headers", () => {
  it("are refused with 400 and their name if a single-value header appears twice", async () => {
    const rows = [
      ["Host", ["Host: agentos.test"]],
      ["Host", ["HOST: other.test"]],
      ["Content-Type", ["Content-Type: application/json"]],
      ["Authorization", ["Authorization: Bearer a", "authorization: Bearer a"]],
      ["Idempotency-Key", ["Idempotency-Key: a", "Idempotency-Key: b"]],
      ["PAYMENT-SIGNATURE", ["PAYMENT-SIGNATURE: a", "payment-signature: a"]],
      ["Content-Length", [`Content-Length: ${BODY.length}`]],
      ["Content-Length", ["Content-Length: 1"]]
    ] as const
    for (const [name, more] of rows) {
      const { status, text } = await answerTo(...more)
      assert.strictEqual(status, "400", name)
      const { error } = JSON.parse(text)
      assert.strictEqual(error.code, "INVALID_REQUEST")
      assert.deepStrictEqual(
        error.issues.map((issue: { readonly path: string }) => issue.path),
        [name]
      )
      assert.include(error.message, name)
    }
  })

  it("report an unknown payment state if the payment header appears twice", async () => {
    const { text } = await answerTo("PAYMENT-SIGNATURE: a", "PAYMENT-SIGNATURE: b", "Idempotency-Key: k")
    assert.strictEqual(JSON.parse(text).error.paymentState, "unknown")
  })

  it("may appear twice if they are lists", async () => {
    const { status } = await answerTo(
      "Accept: a",
      "Accept: b",
      "If-None-Match: a",
      "If-None-Match: b",
      "X-Own: a",
      "X-Own: b"
    )
    assert.strictEqual(status, "402")
  })

  it("are limited to 100 (431)", async () => {
    const own = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}: a`)
    assert.strictEqual((await answerTo(...own(90))).status, "402")
    for (const count of [100, 1_000, 2_500])
      assert.strictEqual((await answerTo(...own(count))).status, "431", `${count}`)
  })

  it("must declare the length of every body, with or without a token", async () => {
    const { token } = await newTenant(server)
    const paths = operations.filter(({ entry }) => entry.method === "POST").map(({ entry }) => entry.path)
    for (const path of [...paths, "/webhooks/twilio/voice", "/internal/tenants/x/suspend"]) {
      const head = [
        `POST ${path.replaceAll(/\{\w+\}/g, "1")} HTTP/1.1`,
        "Host: agentos.test",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        "Connection: close"
      ]
      const answer = await rawCall(server, `${head.join("\r\n")}\r\n\r\n${"1\r\n \r\n".repeat(5_000)}0\r\n\r\n`)
      assert.match(answer, /^HTTP\/1.1 400 /, path)
      assert.include(answer, '"path":"Content-Length"', path)
    }
  })
})

describe("a query", () => {
  it("may have at most 32 parameters", async () => {
    const get = (query: string) =>
      rawCall(server, `GET /api/v1/services?${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    const answer = await get("&".repeat(5_000))
    assert.match(answer, /^HTTP\/1.1 400 /)
    assert.include(answer, "more than 32 query parameters")
    assert.include(await get("a&".repeat(32) + "a"), "more than 32 query parameters")
    assert.notInclude(await get("a&".repeat(31) + "a"), "query parameters")
    assert.include(await get("a=1&b=2"), '"path":"b"')
  })
})
