import { CallAdmission, CallReports, CallStore, CallWatch, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import { failureOf, scenario } from "../support/Purchase.ts"

type Number_ = Effect.Success<typeof adasNumber>
type PhoneHost = Parameters<Parameters<typeof scenario>[1]>[0]

const minutes = ({ phoneNumberId, tenant }: Number_) =>
  ({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } }) as const

const arrive = (number: Number_, id: string) =>
  Effect.flatMap(CallAdmission, ({ admit }) => admit({ providerCallId: id, from: PERSON, to: number.number }))

/** An incoming call from the carrier. */
const incoming = (host: PhoneHost, number: Number_, id: string) => {
  host.carrier.calls.push({
    callId: id,
    from: PERSON,
    to: number.number,
    limitSeconds: 0,
    providerCallId: id,
    placedAt: Timestamp.Timestamp.make(0),
    report: { _tag: "Answered", at: Timestamp.Timestamp.make(0) }
  })
  return arrive(number, id)
}

describe("an inbound call", () => {
  scenario("is declined unanswered while the number has no minutes", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      assert.strictEqual((yield* arrive(number, "CA1"))._tag, "Decline")
      assert.lengthOf(yield* (yield* CallStore).live(number.phoneNumberId), 0)
    })
  )

  scenario("ends when the minutes are used up, and uses all of them", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.forkScoped(CallWatch.run)
      const admission = yield* incoming(host, number, "CA1")
      assert.strictEqual(admission._tag === "Connect" && admission.call.authorizedSeconds, 600)
      yield* TestClock.adjust("604 seconds")
      const [stored] = yield* (yield* PhoneNumberStore).list(number.tenant.tenantId)
      assert.deepStrictEqual(stored?.allowance, { purchasedSeconds: 600, usedSeconds: 600 })
      assert.deepInclude(Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA1")), {
        endReason: "allowance_exhausted"
      })
      assert.strictEqual((yield* arrive(number, "CA2"))._tag, "Decline")
    })
  )

  scenario("shares the minutes with another call, and gets the rest when that one ends", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.forkScoped(CallWatch.run)
      yield* incoming(host, number, "CA1")
      yield* TestClock.adjust("100 seconds")
      yield* incoming(host, number, "CA2")
      yield* TestClock.adjust("2 seconds")
      // 500 seconds were left for both.
      assert.deepStrictEqual(
        new Map(host.carrier.limits.slice(-2)),
        new Map([
          ["CA1", 350],
          ["CA2", 250]
        ])
      )
      yield* TestClock.adjust("98 seconds")
      const second = Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA2"))
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(second.callId, { _tag: "Ended", at, ending: "completed", seconds: 100 })
      yield* TestClock.adjust("2 seconds")
      // 600 were bought, the second has used 100.
      assert.deepStrictEqual(host.carrier.limits.at(-1), ["CA1", 500])
    })
  )

  scenario("is one call, however often the carrier announces it", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.all([incoming(host, number, "CA1"), arrive(number, "CA1")], { concurrency: 2 })
      assert.lengthOf(yield* (yield* CallStore).live(number.phoneNumberId), 1)
    })
  )

  scenario("is extended by 60 s, which the other calls of its number do not share", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      const admission = yield* incoming(host, number, "CA1")
      const callId = admission._tag === "Connect" ? admission.call.callId : ""
      const extension = { serviceId: "phone.call.extend.1m", tenant: number.tenant, input: { callId } } as const
      yield* Effect.forkScoped(CallWatch.run)
      yield* TestClock.adjust("100 seconds")
      yield* bought(extension)
      assert.deepStrictEqual(host.carrier.limits.at(-1), ["CA1", 660])
      yield* incoming(host, number, "CA2")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(
        new Map(host.carrier.limits.slice(-2)),
        new Map([
          ["CA1", 410],
          ["CA2", 250]
        ])
      )
      const at = yield* Timestamp.now
      const reports = yield* CallReports
      const other = Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA2"))
      yield* reports.apply(other.callId, { _tag: "Ended", at, ending: "completed", seconds: 2 })
      yield* reports.apply(callId, { _tag: "Ended", at, ending: "completed", seconds: 658 })
      const [stored] = yield* (yield* PhoneNumberStore).list(number.tenant.tenantId)
      assert.deepStrictEqual(stored?.allowance, { purchasedSeconds: 600, usedSeconds: 600 })
    })
  )

  scenario("is extended by exactly a minute by each of two extensions, while another call joins", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      const admission = yield* incoming(host, number, "CA1")
      const callId = admission._tag === "Connect" ? admission.call.callId : ""
      const extension = { serviceId: "phone.call.extend.1m", tenant: number.tenant, input: { callId } } as const
      const one = yield* phoneRequest(extension)
      const other = yield* phoneRequest(extension)
      yield* Effect.all([yield* one.signed, incoming(host, number, "CA2"), yield* other.signed], { concurrency: 3 })
      const live = yield* (yield* CallStore).live(number.phoneNumberId)
      const limits = new Map(live.map((call) => [call.providerCallId, call.authorizedSeconds]))
      assert.deepStrictEqual([limits.get("CA1"), limits.get("CA2")], [420, 300])
    })
  )

  scenario("can't be extended after the allowance has ended it, and the error names the purchase of minutes", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.forkScoped(CallWatch.run)
      const admission = yield* incoming(host, number, "CA1")
      const callId = admission._tag === "Connect" ? admission.call.callId : ""
      yield* TestClock.adjust("604 seconds")
      const { unpaid } = yield* phoneRequest({
        serviceId: "phone.call.extend.1m",
        tenant: number.tenant,
        input: { callId }
      })
      assert.deepInclude(yield* failureOf(unpaid), {
        _tag: "AllowanceExhausted",
        phoneNumberId: number.phoneNumberId
      })
    })
  )
})
