import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { CARRIER_TOKEN, newNumber, placeCall, PUBLIC_URL } from "../ingress/CarrierClient.ts"
import { call, dataOf, errorOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL })
})
afterAll(() => server.stop())

const CALLS_AT_ONCE = 5
const DAY_MILLIS = 86_400_000

const midnightAfter = (millis: number): string =>
  new Date((Math.floor(millis / DAY_MILLIS) + 1) * DAY_MILLIS).toISOString()

describe("limits", () => {
  it("are listed with their use, for the tenant of the token", async () => {
    const number = await newNumber(server)
    await placeCall(server, number)
    const asked = Date.now()
    const data = dataOf(await call(server, "GET", "/api/v1/limits", { token: number.token }))
    assert.deepInclude(data, { sendingPause: null, callableCountries: ["CA", "US"] })
    const { items } = data as { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>> }
    const rows = items.map(({ limit, name, scope, used }) => [name, scope, limit, used].join(" "))
    assert.deepStrictEqual(rows, [
      "mailbox_messages mailbox 50000 ",
      "mailbox_bytes mailbox 1073741824 ",
      "mail_messages wallet 200000 0",
      "mail_bytes wallet 5368709120 0",
      "mail_inbound_per_hour mailbox 2000 ",
      "mail_recipients_per_day wallet 200 0",
      "calls_at_once wallet 20 1",
      "calls_at_once_per_number number 5 ",
      "calls_per_hour wallet 60 1",
      "calls_to_one_number recipient 10 ",
      "calls_short wallet 20 0"
    ])
    const resetsAt = String(items.find(({ name }) => name === "mail_recipients_per_day")?.["resetsAt"])
    // The day may have ended since the request.
    assert.include([midnightAfter(asked), midnightAfter(Date.now())], resetsAt)
  })

  it("are answered with 429, Retry-After and the list of limits when one is reached, and charge nothing", async () => {
    const number = await newNumber(server)
    for (let placed = 0; placed < CALLS_AT_ONCE; placed++) await placeCall(server, number)
    const body = { phoneNumberId: number.phoneNumberId, toNumber: "+12025550150" }
    const request = { body, token: number.token }
    const answer = await call(server, "POST", "/api/v1/phone/call-1-minute", request)
    assert.strictEqual(answer.status, 429)
    assert.strictEqual(answer.headers.get("retry-after"), "10")
    assert.deepInclude(errorOf(answer), {
      code: "QUOTA_EXCEEDED",
      quota: "calls_at_once",
      retryable: true,
      paymentState: "none",
      next: { method: "GET", path: "/api/v1/limits" }
    })
  })
})
