import { EVENT_EXAMPLES } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { call, dataOf, errorOf, fresh, newTenant } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const SEND = "/api/v1/email/messages/send"

let server: TestServer
let tenant: Awaited<ReturnType<typeof newTenant>>
beforeAll(async () => {
  server = await startServer()
  tenant = await newTenant(server)
})
afterAll(() => server.stop())

/** Returns the paths of all issues of a request, which must be refused with 400. */
const flawsOf = async (method: string, path: string, body?: unknown) => {
  const answer = await call(server, method, path, { token: tenant.token, ...(body === undefined ? {} : { body }) })
  assert.strictEqual(answer.status, 400, answer.text)
  const error = errorOf(answer)
  assert.strictEqual(error.code, "INVALID_REQUEST")
  return error.issues?.map((issue) => issue.path)
}

describe("inputs", () => {
  it("must be JSON objects with each property once", async () => {
    for (const body of [
      "not json",
      "",
      "[]",
      '"text"',
      "null",
      "42",
      '{"localPart":"a"} {}',
      "{'localPart':'a'}",
      '{"a":1,}'
    ]) {
      assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/get", body === "" ? " " : body), [""], body)
    }
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, '{"localPart":"a","localPart":"b"}'), ["localPart"])
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, '{"localPart":"a","local\\u0050art":"b"}'), ["localPart"])
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, `{"localPart":${"[".repeat(8_000)}${"]".repeat(8_000)}}`), [
      `localPart${".0".repeat(7)}`
    ])
  })

  it("are refused with a message that ends with a whole word", async () => {
    const body = { url: "https://agent.example/events", types: ["email.receive"] }
    const answer = await call(server, "POST", "/api/v1/events/webhook", { token: tenant.token, body })
    const [{ message, path } = { message: "", path: "" }] = errorOf(answer).issues ?? []
    assert.strictEqual(path, "types.0")
    const names = /^must be one of (.*), \.\.\.$/.exec(message)?.[1]?.split(", ") ?? []
    assert.isAbove(names.length, 3, message)
    for (const name of names) assert.include(Object.keys(EVENT_EXAMPLES), name)
  })

  it("write integers in digits alone", async () => {
    const limits = ["1e2", "1e1", "+5", "%2B5", "%205", "5%20", "0x10", "1.0", "5.", "-5", "5,", "٥", "", "Infinity"]
    for (const limit of limits) {
      for (const path of ["/api/v1/events", "/api/v1/email/messages/query"]) {
        assert.deepStrictEqual(await flawsOf("GET", `${path}?limit=${encodeURI(limit)}`), ["limit"], limit)
      }
    }
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/events?limit=1e1&more=1"), ["limit", "more"])
    for (const limit of ["1", "10", "0010"]) {
      const answer = await call(server, "GET", `/api/v1/events?limit=${limit}`, { token: tenant.token })
      assert.strictEqual(answer.status, 200, limit)
    }
  })

  it("may leave out a body in which nothing is required, and no other", async () => {
    const { token } = tenant
    const without = await call(server, "POST", "/api/v1/events/list", { token })
    const empty = await call(server, "POST", "/api/v1/events/list", { token, body: {} })
    assert.strictEqual(without.status, 200)
    assert.deepStrictEqual(dataOf(without), dataOf(empty))
    for (const path of ["/api/v1/events/get", "/api/v1/events/ack-all", "/api/v1/email/mailboxes/update"]) {
      assert.deepStrictEqual(await flawsOf("POST", path), [""], path)
    }
  })

  it("name the mailbox that the client already owns, before payment", async () => {
    const localPart = tenant.address.split("@")[0]
    const answer = await call(server, "POST", MAILBOXES, { token: tenant.token, body: { localPart } })
    const error = errorOf(answer)
    assert.deepStrictEqual([answer.status, error.code], [409, "CONFLICT"])
    assert.include(error.message, `you own ${tenant.address}, the mailbox ${tenant.mailboxId}. Use that mailbox`)
    const stranger = errorOf(await call(server, "POST", MAILBOXES, { body: { localPart } }))
    assert.notInclude(stranger.message, tenant.mailboxId)
  })

  it("must be in UTF-8", async () => {
    const response = await fetch(`${server.url}${MAILBOXES}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from('{"localPart":"\xff"}', "latin1")
    })
    assert.strictEqual(response.status, 400)
  })

  it("must not have unknown properties", async () => {
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, { localPart: "a", admin: true }), ["admin"])
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, '{"localPart":"a","__proto__":{}}'), ["__proto__"])
    assert.deepStrictEqual(await flawsOf("POST", `/api/v1/events/${tenant.mailboxId}/acknowledge`, { eventId: "x" }), [
      "eventId"
    ])
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/events?limit=1&tenant=2"), ["tenant"])
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/email/mailboxes/query?x=1"), ["x"])
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1?x=1"), ["x"])
    assert.deepStrictEqual(await flawsOf("POST", `${MAILBOXES}?x=1`, { localPart: "a" }), ["x"])
  })

  it("are refused with messages that name no schema", async () => {
    const messageOf = async (method: string, path: string, body?: unknown) =>
      errorOf(await call(server, method, path, { token: tenant.token, ...(body === undefined ? {} : { body }) }))
        .message
    assert.strictEqual(await messageOf("GET", "/api/v1?x=1"), "unknown query parameter `x`.")
    assert.strictEqual(await messageOf("POST", "/api/v1/events/list", "[]"), "The body must be an object.")
    assert.strictEqual(await messageOf("POST", MAILBOXES, "7"), "The body must be an object. Nothing was charged.")
  })

  it("are refused with every issue and its path", async () => {
    const flaws = await flawsOf("POST", SEND, {
      mailboxId: "1",
      to: ["fine@example.com", "not an address", 7],
      cc: "a@example.com",
      subject: 1,
      priority: "high"
    })
    assert.sameMembers(flaws ?? [], ["mailboxId", "to.1", "to.2", "cc", "subject", "text", "priority"])
    const recipients = Array.from({ length: 50 }, () => 1)
    assert.lengthOf((await flawsOf("POST", SEND, { to: recipients, cc: recipients })) ?? [], 50)
  })

  it("must have numbers within their bounds and in number format", async () => {
    for (const limit of ["0", "101", "1.5", "-1", "abc", "", "1&limit=2", "NaN", "1e9"]) {
      assert.deepStrictEqual(await flawsOf("GET", `/api/v1/email/messages/query?limit=${limit}`), ["limit"], limit)
    }
    for (const limit of [0, 101, 1.5, "10", null]) {
      assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/list", { limit }), ["limit"], String(limit))
    }
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/events?limit=201"), ["limit"])
    const highest = await call(server, "GET", "/api/v1/events?limit=200", { token: tenant.token })
    assert.strictEqual(highest.status, 200)
  })

  it("must have ids that are UUIDs, in body, query and path", async () => {
    assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/get", { eventId: "1" }), ["eventId"])
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/email/messages/query?messageId=1"), ["messageId"])
    assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/1/acknowledge"), ["eventId"])
    const { token } = tenant
    const mailbox = `/api/v1/email/messages/query?mailboxId=${tenant.mailboxId.toUpperCase()}`
    assert.strictEqual((await call(server, "GET", mailbox, { token })).status, 200)
    const body = { mailboxId: tenant.mailboxId.toUpperCase() }
    assert.strictEqual((await call(server, "POST", "/api/v1/email/mailboxes/delete", { body, token })).status, 402)
  })

  it("must not put a line break or NUL into a header or the store", async () => {
    const message = { mailboxId: tenant.mailboxId, to: ["a@example.com"], subject: "s", text: "t" }
    for (const subject of ["a\r\nBcc: b@example.com", "a\nb", "a\rb", "a\u0000b", "a\u2028b", "\ud800"]) {
      assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, subject }), ["subject"], JSON.stringify(subject))
    }
    for (const address of ["a\r\n@example.com", "a@example.com\nb@example.com", "a@example.com\u0000"]) {
      assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, to: [address] }), ["to.0"], address)
    }
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, text: "a\u0000b" }), ["text"])
    const localPart = fresh("crlf")
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, { localPart, displayName: "a\r\nb" }), ["displayName"])
    assert.deepStrictEqual(await flawsOf("POST", MAILBOXES, { localPart, outboundSignature: "\u0000" }), [
      "outboundSignature"
    ])
    assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/list", { service: "a\u0000b", types: ["\u0000"] }), [
      "types.0",
      "service"
    ])
  })

  it("must respect the limits of mail", async () => {
    const message = { mailboxId: tenant.mailboxId, to: ["a@example.com"], subject: "s", text: "t" }
    const many = Array.from({ length: 51 }, (_, index) => `a${index}@example.com`)
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, to: many }), ["to"])
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, cc: many.slice(0, 30), bcc: many.slice(21) }), [
      "to"
    ])
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, to: [] }), ["to"])
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, subject: "s".repeat(999) }), ["subject"])
    assert.deepStrictEqual(await flawsOf("POST", SEND, { ...message, text: "é".repeat(600_000) }), ["text"])
  })

  it("must have moments with an offset", async () => {
    for (const before of ["yesterday", "2026-11-21", 1_763_712_000_000]) {
      assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/ack-all", { before }), ["before"])
    }
    assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/ack-all", {}), ["before"])
  })

  it("must have cursors of the same list", async () => {
    assert.deepStrictEqual(await flawsOf("POST", "/api/v1/events/list", { cursor: "nonsense" }), ["cursor"])
    assert.deepStrictEqual(await flawsOf("GET", "/api/v1/email/messages/query?cursor=nonsense"), ["cursor"])
  })
})
