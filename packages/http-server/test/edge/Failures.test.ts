import { assert, describe, it } from "@effect/vitest"
import { StoreUnavailable } from "@agentos/core"
import { Effect } from "effect"
import { call, errorOf, fresh, freshWallet, newTenant, payFor } from "../support/TestClient.ts"
import { startServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"

/** The message of a broken store, which clients must not see. */
const SECRET = "password=hunter2"

describe("failures", () => {
  it("are answered in the envelope, and their cause appears only in the log", async () => {
    let isBroken = false
    const server = await startServer({
      transactor: {
        transact: () => Effect.die(new Error(SECRET)),
        ready: Effect.suspend(() => (isBroken ? Effect.die(new Error(SECRET)) : Effect.succeed(true)))
      }
    })
    const request = { body: { localPart: fresh("fail") } }
    const headers = await payFor(server, MAILBOXES, request, freshWallet())
    isBroken = true
    const answer = await call(server, "POST", MAILBOXES, { ...request, headers })
    const unready = await call(server, "GET", "/health/ready")
    await server.stop()

    assert.strictEqual(answer.status, 500)
    const error = errorOf(answer)
    assert.deepInclude(error, { code: "INTERNAL_ERROR", paymentState: "unknown", retryable: true })
    assert.deepStrictEqual(error.next, { method: "POST", path: MAILBOXES })
    assert.notInclude(answer.text, SECRET)
    assert.notMatch(answer.text, /\bat .*:\d+/)
    const causes = server.logs.filter((line) => line.includes(SECRET) && line.includes(error.requestId))
    assert.lengthOf(causes, 1)
    assert.strictEqual(unready.status, 503)
    assert.strictEqual(unready.text, '{"status":"unready"}')
  })
})

describe("a store that is not available", () => {
  const unavailable = Effect.die(new StoreUnavailable({ message: SECRET, isUndone: false, cause: new Error(SECRET) }))

  it("is answered with 503 and when to retry, and asks for no payment until it can commit again", async () => {
    let isReady = true
    const server = await startServer({
      transactor: { transact: () => unavailable, ready: Effect.sync(() => isReady) }
    })
    const request = { body: { localPart: fresh("fail") } }
    const headers = await payFor(server, MAILBOXES, request, freshWallet())
    const paid = await call(server, "POST", MAILBOXES, { ...request, headers })
    // The failed request has told that the store is not available, before it is asked again.
    const challenge = await call(server, "POST", MAILBOXES, request)
    isReady = false
    const unready = await call(server, "GET", "/health/ready")
    const probe = await call(server, "POST", MAILBOXES)
    isReady = true
    const ready = await call(server, "GET", "/health/ready")
    const again = await call(server, "POST", MAILBOXES, request)
    await server.stop()

    assert.deepEqual([paid.status, paid.headers.get("retry-after")], [503, "5"])
    assert.deepInclude(errorOf(paid), { code: "SERVICE_UNAVAILABLE", paymentState: "unknown", retryable: true })
    assert.include(errorOf(paid).message, "same Idempotency-Key and PAYMENT-SIGNATURE")
    for (const answer of [challenge, probe]) {
      assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "5"])
      assert.deepInclude(errorOf(answer), { code: "SERVICE_UNAVAILABLE", retryable: true })
      assert.isNull(answer.headers.get("payment-required"))
      assert.notInclude(answer.text, SECRET)
    }
    assert.deepEqual([unready.status, ready.status, again.status], [503, 200, 402])
  })
})

describe("a store that refuses to write", () => {
  it("is answered with the state none: the payment was not claimed, and the store says so", async () => {
    const full = Effect.die(new StoreUnavailable({ message: SECRET, isUndone: true, cause: new Error(SECRET) }))
    const server = await startServer({ transactor: { transact: () => full, ready: Effect.succeed(true) } })
    const request = { body: { localPart: fresh("full") } }
    const headers = await payFor(server, MAILBOXES, request, freshWallet())
    const paid = await call(server, "POST", MAILBOXES, { ...request, headers })
    await server.stop()

    assert.deepEqual([paid.status, paid.headers.get("retry-after")], [503, "5"])
    assert.deepInclude(errorOf(paid), { code: "SERVICE_UNAVAILABLE", paymentState: "none", retryable: true })
    assert.match(errorOf(paid).message, /Nothing was charged\.$/)
  })
})

describe("the access log", () => {
  it("has one line per request, with its known facts and no secret", async () => {
    const server = await startServer()
    const { token } = await newTenant(server)
    const before = server.logs.length
    const answer = await call(server, "GET", "/api/v1/events?limit=3", { token })
    const refused = await call(server, "GET", `/api/v1/events?cursor=${SECRET}`, { token })
    await server.stop()

    const lines = server.logs.slice(before)
    assert.lengthOf(lines, 2)
    for (const part of [
      '"status":200',
      '"method":"GET"',
      '"path":"/api/v1/events"',
      '"operation":"replayEvents"',
      '"tenantId":'
    ]) {
      assert.include(lines[0], part)
    }
    assert.include(lines[0], `"requestId":"${answer.headers.get("x-request-id")}"`)
    assert.include(lines[1], '"code":"INVALID_REQUEST"')
    assert.notMatch(lines[0]!, /"(code|repeats)"|undefined/)
    assert.notInclude(lines[0], '"limits"', "the counters of rate limits are for the headers")
    assert.include(lines[1], `"requestId":"${refused.headers.get("x-request-id")}"`)
    for (const line of server.logs) {
      assert.notInclude(line, token)
      assert.notInclude(line, SECRET)
    }
  })
})
