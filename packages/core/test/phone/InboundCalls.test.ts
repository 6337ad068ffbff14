import {
  CallAdmission,
  CallReports,
  Calls,
  CallStore,
  CallWatch,
  EventStore,
  Numbers,
  PhoneNumberStore,
  Timestamp,
  toCallRecord,
  toPhoneNumberRecord,
  VoiceConversations
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option, Redacted } from "effect"
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

  scenario("that is declined is reported at once, and those of the following minute together at its end", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const { tenantId } = number.tenant
      yield* Effect.forkScoped(CallWatch.run)
      // A caller that redials 100 times a second, and the carrier announces one call twice.
      const flood = (calls: number, name: string) =>
        Effect.forEach(Array.range(1, calls), (n) => arrive(number, `${name}${n}`), { discard: true })
      yield* flood(1, "CA")
      yield* flood(1, "CA")
      const reports = Effect.map(
        (yield* EventStore).list(tenantId, { types: ["phone.call.ended"] }, undefined, 100),
        (all) => all.map(({ payload }) => [payload["declinedCalls"], payload["endReason"], payload["connectedSeconds"]])
      )
      const first = [1, "allowance_exhausted", 0]
      assert.deepStrictEqual(yield* reports, [first])
      yield* flood(300, "CB")
      yield* flood(1, "CC")
      yield* flood(1, "CC")
      assert.deepStrictEqual(yield* reports, [first])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* reports, [first])
      yield* TestClock.adjust("2 seconds")
      const second = [301, "allowance_exhausted", 0]
      assert.deepStrictEqual(yield* reports, [first, second])
      yield* flood(7, "CD")
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(yield* reports, [first, second, [7, "allowance_exhausted", 0]])
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(yield* (yield* CallStore).declinedOf(number.phoneNumberId), [])
      yield* flood(1, "CE")
      assert.deepStrictEqual((yield* reports).at(-1), first)
      const { items } = yield* (yield* Calls).list(number.tenant, {}, {})
      assert.lengthOf(items, 4)
      for (const call of items) {
        assert.deepInclude(call, {
          direction: "inbound",
          fromNumber: PERSON,
          toNumber: number.number,
          state: "ended",
          endReason: "allowance_exhausted",
          connectedSeconds: 0,
          authorizedSeconds: 0
        })
      }
    })
  )

  scenario("that is declined is reported with a bounded number of records, however many callers there are", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* Effect.forkScoped(CallWatch.run)
      const { admit } = yield* CallAdmission
      yield* Effect.forEach(
        Array.range(1, 200),
        (n) => admit({ providerCallId: `CA${n}`, from: `+1415555${1_000 + n}`, to: number.number }),
        { discard: true }
      )
      const calls = yield* Calls
      const listed = Effect.map(calls.list(number.tenant, {}, { limit: 100 }), ({ items }) => items)
      assert.lengthOf(yield* listed, 21)
      assert.lengthOf(yield* (yield* CallStore).declinedOf(number.phoneNumberId), 21)
      yield* TestClock.adjust("61 seconds")
      const all = yield* listed
      assert.lengthOf(all, 22)
      assert.lengthOf(
        all.filter(({ fromNumber }) => fromNumber === "multiple"),
        2
      )
      const events = yield* (yield* EventStore).list(
        number.tenant.tenantId,
        { types: ["phone.call.ended"] },
        undefined,
        100
      )
      const counts = events.map(({ payload }) => Number(payload["declinedCalls"]))
      assert.strictEqual(
        counts.reduce((sum, each) => sum + each, 0),
        200
      )
    })
  )

  scenario("keeps the relay token of a call whose form is repeated, until a relay has used it", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      const conversations = yield* VoiceConversations
      const tokenOf = Effect.map(incoming(host, number, "CA1"), (admission) =>
        admission._tag === "Connect" ? admission.token : assert.fail("declined")
      )
      const first = yield* tokenOf
      assert.strictEqual(Redacted.value(yield* tokenOf), Redacted.value(first))
      assert.isTrue(Option.isSome(yield* conversations.admit(first)))
      const next = yield* tokenOf
      assert.notStrictEqual(Redacted.value(next), Redacted.value(first))
      assert.isTrue(Option.isNone(yield* conversations.admit(first)))
      assert.isTrue(Option.isSome(yield* conversations.admit(next)))
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

  scenario("joins another call only with 3 seconds or more, and is answered alone while one is left", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.forkScoped(CallWatch.run)
      yield* incoming(host, number, "CA1")
      yield* TestClock.adjust("595 seconds")
      assert.strictEqual((yield* arrive(number, "CA2"))._tag, "Decline", "5 seconds for two calls")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(host.carrier.limits.at(-1), ["CA1", 600], "and the other call keeps them")
      const first = Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA1"))
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(first.callId, { _tag: "Ended", at, ending: "completed", seconds: 599 })
      assert.strictEqual((yield* incoming(host, number, "CA3"))._tag, "Connect")
    })
  )

  scenario("joins another call in the last 6 seconds, which both share", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* Effect.forkScoped(CallWatch.run)
      yield* incoming(host, number, "CA1")
      yield* TestClock.adjust("594 seconds")
      assert.strictEqual((yield* incoming(host, number, "CA2"))._tag, "Connect")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        new Map(host.carrier.limits.slice(-2)),
        new Map([
          ["CA1", 597],
          ["CA2", 3]
        ])
      )
    })
  )

  scenario("joins no call that another server, whose clock is ahead, answered for the last seconds", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      yield* TestClock.adjust("1 minute")
      yield* incoming(host, number, "CA1")
      const first = Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA1"))
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(first.callId, { _tag: "Ended", at, ending: "completed", seconds: 594 })
      yield* incoming(host, number, "CA2")
      yield* TestClock.setTime(at - 3_000)
      assert.strictEqual((yield* arrive(number, "CA3"))._tag, "Decline")
      const second = Option.getOrThrow(yield* (yield* CallStore).findByProvider("CA2"))
      assert.strictEqual(second.authorizedSeconds, 6)
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
      // No minutes can be bought for a number that is gone.
      yield* (yield* Numbers).release(number.tenant, number.phoneNumberId)
      assert.deepInclude(yield* failureOf(unpaid), { _tag: "NumberReleased", phoneNumberId: number.phoneNumberId })
    })
  )

  scenario("has its seconds so far in the records of the call and the number while it lasts", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* bought(minutes(number))
      const admission = yield* incoming(host, number, "CA1")
      const callId = admission._tag === "Connect" ? admission.call.callId : ""
      const numbers = yield* Numbers
      const recorded = Effect.gen(function* () {
        const now = yield* Timestamp.now
        const { connectedSeconds } = toCallRecord(yield* (yield* Calls).get(number.tenant, callId), now)
        const [one] = yield* numbers.list(number.tenant)
        const { inboundAllowance } = toPhoneNumberRecord(one!, now, yield* numbers.liveCalls([one!]))
        return [connectedSeconds, inboundAllowance] as const
      })
      const used = (seconds: number) =>
        [seconds, { purchasedSeconds: 600, usedSeconds: seconds, remainingSeconds: 600 - seconds }] as const
      assert.deepStrictEqual(yield* recorded, used(0))
      yield* TestClock.adjust("42 seconds")
      assert.deepStrictEqual(yield* recorded, used(42))
      yield* TestClock.adjust("700 seconds")
      assert.deepStrictEqual(yield* recorded, used(600))
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(callId, { _tag: "Ended", at, ending: "completed", seconds: 599 })
      assert.deepStrictEqual(yield* recorded, used(599))
    })
  )
})
