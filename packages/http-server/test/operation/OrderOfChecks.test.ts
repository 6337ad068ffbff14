import { CATALOG, type CatalogEntry } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { call, callPaid, errorOf, fresh, freshWallet, newTenant, payFor } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const UPDATE = "/api/v1/email/mailboxes/update"
const UNKNOWN_ID = "019aa000-0000-7000-8000-000000000001"

const entries: ReadonlyArray<CatalogEntry> = CATALOG
const pathOf = (entry: CatalogEntry): string => entry.path.replaceAll(/\{\w+\}/g, UNKNOWN_ID)

let server: TestServer
let withoutEmail: TestServer
beforeAll(async () => {
  server = await startServer()
  withoutEmail = await startServer({ capabilities: { email: false, phone: false } })
})
afterAll(async () => {
  await server.stop()
  await withoutEmail.stop()
})

describe("order of checks", () => {
  it("answers 503 without a challenge for every unavailable service, whatever the request contains", async () => {
    for (const entry of entries.filter(({ capability }) => capability !== "always")) {
      const requests = [{}, { token: "nonsense" }, ...(entry.method === "POST" ? [{ body: "not json" }] : [])]
      for (const request of requests) {
        const answer = await call(withoutEmail, entry.method, pathOf(entry), request)
        assert.strictEqual(answer.status, 503, `${entry.operationId} ${JSON.stringify(request)}`)
        assert.strictEqual(errorOf(answer).code, "SERVICE_UNAVAILABLE")
        assert.isNull(answer.headers.get("payment-required"))
      }
    }
  })

  it("answers 503 for every bearer operation without a token if no start-here service is offered", async () => {
    for (const entry of entries.filter(({ authentication }) => authentication === "bearer")) {
      const answer = await call(withoutEmail, entry.method, pathOf(entry))
      assert.deepEqual([answer.status, errorOf(answer).code], [503, "SERVICE_UNAVAILABLE"], entry.operationId)
    }
  })

  it("refers a client without a token to a number if the server offers telephony only, and one with a wrong token to its wallet", async () => {
    const onlyPhone = await startServer({ capabilities: { email: false, phone: true } })
    const number = { method: "POST", path: "/api/v1/phone/purchase-us-number-30-days" }
    for (const path of ["/api/v1/phone/numbers", "/api/v1/events"]) {
      const error = errorOf(await call(onlyPhone, "GET", path))
      assert.deepEqual([error.code, error.onboarding?.serviceId], ["ONBOARDING_REQUIRED", "phone.number.us.30d"])
      assert.deepEqual(error.next, number)
      const refused = errorOf(await call(onlyPhone, "GET", path, { token: "at_v1_nonsense" }))
      assert.deepEqual([refused.code, refused.next], ["AUTH_REQUIRED", { method: "POST", path: "/api/v1/auth/token" }])
    }
    const { data } = JSON.parse((await call(onlyPhone, "GET", "/api/v1/services")).text) as {
      readonly data: {
        readonly items: ReadonlyArray<{
          readonly serviceId: string
          readonly available: boolean
          readonly nextActions: ReadonlyArray<{ readonly serviceId: string }>
        }>
      }
    }
    const offered = new Set(data.items.filter(({ available }) => available).map(({ serviceId }) => serviceId))
    const next = data.items.flatMap(({ nextActions }) => nextActions.map(({ serviceId }) => serviceId))
    assert.isAtLeast(next.length, 10)
    assert.isEmpty(next.filter((serviceId) => !offered.has(serviceId)))
    await onlyPhone.stop()
  })

  it("answers 428 for every bearer operation without a token, free or paid, before its input is checked", async () => {
    const there = entries.filter(
      ({ authentication, capability }) => authentication === "bearer" && capability !== "phone"
    )
    assert.isAtLeast(there.length, 12)
    for (const entry of there) {
      const answer = await call(
        server,
        entry.method,
        pathOf(entry),
        entry.method === "POST" ? { body: "not json" } : {}
      )
      assert.strictEqual(answer.status, 428, entry.operationId)
      const error = errorOf(answer)
      assert.strictEqual(error.code, "ONBOARDING_REQUIRED")
      assert.deepInclude(error.onboarding, {
        serviceId: "email.mailbox.create",
        method: "POST",
        endpoint: MAILBOXES,
        price: { amount: "0.25", asset: "USDT" }
      })
      assert.deepStrictEqual(
        error.onboarding?.requiredInput.map(({ name }) => name),
        ["localPart"]
      )
      assert.deepStrictEqual(error.next, { method: "POST", path: MAILBOXES })
      assert.include(answer.text, '"guides":{"llms":"/llms.txt","serviceCatalog":"/api/v1/services"')
      assert.isNull(answer.headers.get("payment-required"))
    }
  })

  it("answers 401 for a token that is malformed, unknown or of the other kind, before it checks the input", async () => {
    const { token } = await newTenant(server)
    const realtime = await call(server, "GET", "/api/v1/events/realtime-token", { token })
    const [, jwt = ""] = /"token":"([^"]+)"/.exec(realtime.text) ?? []
    const rows = [
      [{ authorization: "Bearer" }, "AUTH_REQUIRED"],
      [{ authorization: "Basic abc" }, "AUTH_REQUIRED"],
      [{ authorization: "Bearer at_v1_nonsense" }, "AUTH_REQUIRED"],
      [{ authorization: `Bearer ${token.slice(0, -1)}` }, "AUTH_REQUIRED"],
      [{ authorization: `Bearer ${token} ${token}` }, "AUTH_REQUIRED"],
      [{ authorization: `Bearer ${jwt}` }, "INVALID_TOKEN"]
    ] as const
    for (const [headers, code] of rows) {
      for (const path of [UPDATE, "/api/v1/events/list", MAILBOXES]) {
        const answer = await call(server, "POST", path, { body: "not json", headers })
        assert.strictEqual(answer.status, 401, `${path} ${headers.authorization}`)
        assert.strictEqual(errorOf(answer).code, code)
        assert.strictEqual(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
      }
    }
    const lower = await call(server, "GET", "/api/v1/events", { headers: { authorization: `bearer ${token}` } })
    assert.strictEqual(lower.status, 200)
  })

  it("checks input, then ownership, then state, and only then asks for payment", async () => {
    const { mailboxId, token } = await newTenant(server)
    const other = await newTenant(server)
    const update = (body: unknown) => call(server, "POST", UPDATE, { body, token })
    assert.strictEqual((await update({ mailboxId: 1 })).status, 400)
    const missing = await update({ mailboxId: UNKNOWN_ID, active: true })
    assert.strictEqual(missing.status, 404)
    assert.deepStrictEqual(errorOf(missing).next, { method: "GET", path: "/api/v1/email/mailboxes/query" })
    const foreign = await update({ mailboxId: other.mailboxId, active: true })
    assert.strictEqual(foreign.status, 403)
    assert.strictEqual(errorOf(foreign).code, "RESOURCE_NOT_OWNED")
    assert.strictEqual((await update({ mailboxId })).status, 400)
    const taken = await call(server, "POST", MAILBOXES, { body: { localPart: other.address.split("@")[0] } })
    assert.strictEqual(taken.status, 409)
    assert.strictEqual(errorOf(taken).code, "CONFLICT")
    for (const answer of [missing, foreign, taken]) {
      assert.isNull(answer.headers.get("payment-required"))
      assert.strictEqual(errorOf(answer).paymentState, "none")
      assert.include(errorOf(answer).message, "Nothing was charged")
    }
    assert.strictEqual((await update({ mailboxId, active: false })).status, 402)
  })

  it("returns a challenge that is bound to the request", async () => {
    const answer = await call(server, "POST", MAILBOXES, { body: { localPart: fresh("ask") } })
    assert.strictEqual(answer.status, 402)
    const error = errorOf(answer)
    assert.strictEqual(error.code, "PAYMENT_REQUIRED")
    assert.deepStrictEqual(error.next, { method: "POST", path: MAILBOXES })
    assert.include(error.message, "0.25 USDT")
    const { accepts, resource } = ScriptedRail.readChallenge(answer.headers.get("payment-required") ?? "")
    assert.strictEqual(resource, `http://agentos.test${MAILBOXES}`)
    assert.strictEqual(accepts[0]?.amount, "250000")
    assert.property(accepts[0]?.extra, "binding")
  })

  it("answers a start-here request without payment and body with its challenge, and others without body with 400", async () => {
    const probe = await call(server, "POST", MAILBOXES)
    assert.strictEqual(probe.status, 402)
    assert.isNotNull(probe.headers.get("payment-required"))
    assert.strictEqual((await call(server, "POST", MAILBOXES, { body: {} })).status, 400)
    const headers = await payFor(server, MAILBOXES, {}, freshWallet())
    const paid = await call(server, "POST", MAILBOXES, { headers })
    assert.strictEqual(paid.status, 400)
    const { token } = await newTenant(server)
    assert.strictEqual((await call(server, "POST", UPDATE, { token })).status, 400)
    assert.strictEqual((await call(server, "POST", MAILBOXES, { token })).status, 402)
  })

  it("answers a paid request from its operation, even if the resource is deleted and the service is down", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const path = "/api/v1/email/mailboxes/delete"
    const request = { body: { mailboxId }, token }
    const headers = await payFor(server, path, request, wallet)
    const first = await call(server, "POST", path, { ...request, headers })
    assert.strictEqual(first.status, 200)
    server.payments.outage.chain = true
    server.payments.outage.verify = true
    const again = await call(server, "POST", path, { ...request, headers })
    server.payments.outage.chain = false
    server.payments.outage.verify = false
    assert.strictEqual(again.status, 200)
    assert.strictEqual(again.text, first.text)
    assert.strictEqual((await call(server, "POST", path, request)).status, 404)
    const { token: _, ...anonymous } = request
    for (const [refused, status] of [
      [await call(server, "POST", path, { ...anonymous, headers }), 428],
      [await call(server, "POST", path, { ...anonymous, headers, token: "at_v1_wrong" }), 401]
    ] as const) {
      assert.strictEqual(refused.status, status)
      assert.strictEqual(errorOf(refused).paymentState, "settled")
      assert.notInclude(errorOf(refused).message, "Nothing was charged")
    }
  })

  it("requires an Idempotency-Key with a payment (400), and none with a request for the challenge", async () => {
    const body = { localPart: fresh("key") }
    const { "payment-signature": signature } = await payFor(server, MAILBOXES, { body }, freshWallet())
    for (const headers of [
      { "payment-signature": signature },
      { "payment-signature": signature, "idempotency-key": "" },
      { "payment-signature": signature, "idempotency-key": "x".repeat(256) }
    ]) {
      const answer = await call(server, "POST", MAILBOXES, { body, headers })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(
        errorOf(answer).issues?.map(({ path }) => path),
        ["Idempotency-Key"]
      )
    }
    const headers = { "payment-signature": signature, "idempotency-key": "x".repeat(255) }
    assert.strictEqual((await call(server, "POST", MAILBOXES, { body, headers })).status, 201)
  })

  it("accepts a token on a start-here request, and requires payment from the token's wallet", async () => {
    const { token, wallet } = await newTenant(server)
    const own = await callPaid(server, MAILBOXES, { body: { localPart: fresh("own") }, token }, wallet)
    assert.strictEqual(own.status, 201)
    assert.include(own.text, token)
    const stranger = await callPaid(server, MAILBOXES, { body: { localPart: fresh("own") }, token }, freshWallet())
    assert.strictEqual(stranger.status, 403)
    assert.strictEqual(errorOf(stranger).code, "FORBIDDEN")
    assert.strictEqual(errorOf(stranger).paymentState, "none")
  })
})
