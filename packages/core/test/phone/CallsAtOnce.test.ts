import {
  CallAdmission,
  CallProgress,
  CallReports,
  CallStore,
  CallWatch,
  Numbers,
  OperationCompletion,
  OperationSteps,
  PhoneNumberStore,
  TelephonyProvider,
  Timestamp
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario } from "../support/Purchase.ts"
import type { SimulatedCall } from "../support/SimulatedCarrier.ts"
import * as TestHost from "../support/TestHost.ts"

/** The call watch, whose limits take a second to reach the carrier. */
const slowWatch = Effect.gen(function* () {
  const provider = yield* TelephonyProvider
  const changeLimit: typeof provider.changeLimit = (id, seconds) =>
    Effect.andThen(Effect.sleep("1 second"), provider.changeLimit(id, seconds))
  yield* Effect.forkScoped(
    Effect.provideService(CallWatch.run, TelephonyProvider, TelephonyProvider.of({ ...provider, changeLimit }))
  )
})

describe("a limit that changes while an older one is sent to the carrier", () => {
  scenario("is the last one sent, if the limit of an extension was sent before the older one", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const data = yield* bought({ serviceId: "phone.call.outbound.5m", tenant, input })
      const { callId } = data["call"] as { readonly callId: string }
      yield* (yield* CallAdmission).answered(callId)
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.extend.1m", tenant, input: { callId } })
      const extend = yield* signed
      yield* slowWatch
      yield* TestClock.adjust("20 seconds")
      yield* extend
      yield* TestClock.adjust("3 seconds")
      const limits = host.carrier.limits.map(([, seconds]) => seconds)
      assert.deepStrictEqual(limits.slice(0, 2), [360, 300])
      assert.strictEqual(limits.at(-1), 360)
    })
  )

  scenario("is sent immediately after another call has arrived", (host) =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })
      const admission = yield* CallAdmission
      const arrive = (providerCallId: string) => admission.admit({ providerCallId, from: PERSON, to: number })
      for (const providerCallId of ["CA1", "CA2"]) {
        const call = { callId: "", from: PERSON, to: number, limitSeconds: 0, providerCallId, placedAt: 0 }
        host.carrier.calls.push({ ...call, report: { _tag: "Ringing" } } as (typeof host.carrier.calls)[number])
      }
      yield* arrive("CA1")
      yield* slowWatch
      yield* TestClock.adjust("500 millis")
      yield* arrive("CA2")
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(
        host.carrier.limits.findLast(([id]) => id === "CA1"),
        ["CA1", 300]
      )
    })
  )
})

describe("an agent that hangs up while the limit of its call is sent to the carrier", () => {
  scenario("finishes speaking before the call ends", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const data = yield* bought({ serviceId: "phone.call.outbound.5m", tenant, input })
      const { callId } = data["call"] as { readonly callId: string }
      yield* (yield* CallAdmission).answered(callId)
      yield* slowWatch
      yield* TestClock.adjust("60500 millis")
      const { change } = yield* CallReports
      // The last words of the agent take 20 s.
      yield* change(callId, (call, now) =>
        CallProgress.requestHangUp(call, "hangup_agent", now, Timestamp.add(now, 20 * Timestamp.SECOND))
      )
      const hangsUp = Effect.sync(() => host.carrier.log.some((line) => line.startsWith("hangUp")))
      yield* TestClock.adjust("20 seconds")
      assert.isFalse(yield* hangsUp)
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(yield* hangsUp)
    })
  )
})

describe("two calls that use up an allowance", () => {
  scenario("end for the same reason, in whatever order they are reported, and use no more than the allowance", () =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })
      const [admission, calls, reports] = [yield* CallAdmission, yield* CallStore, yield* CallReports]
      const found = (id: string) => Effect.map(calls.findByProvider(id), Option.getOrThrow)
      yield* admission.admit({ providerCallId: "CA1", from: PERSON, to: number })
      yield* TestClock.adjust("100 seconds")
      yield* admission.admit({ providerCallId: "CA2", from: PERSON, to: number })
      // The carrier ends both calls at their limits, and reports that a moment later.
      yield* TestClock.adjust("250050 millis")
      for (const [id, seconds] of [
        ["CA1", 350],
        ["CA2", 250]
      ] as const) {
        const { authorizedSeconds, callId } = yield* found(id)
        assert.strictEqual(authorizedSeconds, seconds)
        const at = yield* Timestamp.now
        yield* reports.apply(callId, { _tag: "Ended", at, ending: "completed", seconds })
      }
      for (const id of ["CA1", "CA2"]) assert.strictEqual((yield* found(id)).endReason, "allowance_exhausted")
      const [stored] = yield* (yield* PhoneNumberStore).list(tenant.tenantId)
      assert.deepStrictEqual(stored?.allowance, { purchasedSeconds: 600, usedSeconds: 600 })
    })
  )
})

describe("two concurrent calls between the same numbers, one of them not made and its answer lost", () => {
  const both = Effect.gen(function* () {
    const { phoneNumberId, tenant } = yield* adasNumber
    const input = { phoneNumberId, toNumber: PERSON }
    const call = Effect.flatMap(
      phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input }),
      (one) => one.signed
    )
    const [unmade, made] = [yield* call, yield* call]
    const first = yield* Effect.forkChild(Effect.result(unmade))
    const second = yield* Effect.forkChild(Effect.result(made))
    yield* Effect.forkScoped(OperationCompletion.run)
    return { first, made, phoneNumberId, second, unmade }
  })

  /**
   * Asserts that one operation got the carrier's only call, that the other was refunded, and that each was dialed once.
   */
  const assertApart = Effect.fnUntraced(function* (
    { made, unmade }: Effect.Success<typeof both>,
    { calls, log }: { readonly calls: ReadonlyArray<SimulatedCall>; readonly log: ReadonlyArray<string> }
  ) {
    assert.deepInclude(yield* failureOf(unmade), { _tag: "OperationRejected" })
    const answer = yield* made
    assert.lengthOf(calls, 1)
    for (const { callId } of calls) assert.include(Redacted.value(answer.body), callId)
    assert.lengthOf(
      log.filter((line) => line.startsWith("place")),
      2
    )
  })

  scenario("are told apart when the carrier answers the other one late", ({ carrier }) =>
    Effect.gen(function* () {
      carrier.script.place = ["Unknown", "done, answered late"]
      const calls = yield* both
      yield* TestClock.adjust("2 minutes")
      yield* assertApart(calls, carrier)
    })
  )

  scenario("are told apart by the carrier's reports when the answer to the other one is lost too", ({ carrier }) =>
    Effect.gen(function* () {
      carrier.script.place = ["Unknown", "done, answer lost"]
      const calls = yield* both
      yield* TestClock.adjust("3 seconds")
      const [call] = carrier.calls
      assert.isDefined(call)
      const reports = yield* CallReports
      const known = yield* reports.identify(call.callId, call.providerCallId)
      assert.deepInclude(Option.getOrThrow(known), { callId: call.callId, providerCallId: call.providerCallId })
      yield* TestClock.adjust("2 minutes")
      yield* assertApart(calls, carrier)
    })
  )

  scenario("are told apart when both are matched with the carrier's only call at once", ({ carrier, database }) =>
    Effect.gen(function* () {
      carrier.script.place = ["Unknown", "Unknown"]
      const { phoneNumberId } = yield* both
      yield* TestClock.adjust("1 second")
      const [calls, reports] = [yield* CallStore, yield* CallReports]
      const live = yield* calls.live(phoneNumberId)
      assert.lengthOf(live, 2)
      yield* database.close
      const identified = yield* Effect.forkChild(
        Effect.forEach(live, ({ callId }) => reports.identify(callId, "CA1"), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 second")
      yield* database.open
      yield* Fiber.join(identified)
      const named = (yield* calls.live(phoneNumberId)).map(({ providerCallId }) => providerCallId)
      assert.sameMembers(named, ["CA1", null])
    })
  )

  scenario("result in one call and one refund when both find the carrier's only call", ({ carrier, database }) =>
    Effect.gen(function* () {
      carrier.script.place = ["Unknown", "done, answer lost"]
      const { made, unmade } = yield* both
      yield* TestClock.adjust("20 seconds")
      yield* database.close
      yield* TestClock.adjust("1 minute")
      yield* database.open
      yield* TestClock.adjust("3 minutes")
      const ends = yield* Effect.forEach([unmade, made], Effect.result)
      assert.sameMembers(
        ends.map(({ _tag }) => _tag),
        ["Success", "Failure"]
      )
    })
  )

  scenario("do not wait for each other forever when the carrier reports nothing", ({ carrier }) =>
    Effect.gen(function* () {
      carrier.script.place = ["Unknown", "done, answer lost"]
      const { first, second } = yield* both
      yield* TestClock.adjust("3 minutes")
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      const stored = yield* (yield* CallStore).findByProvider(carrier.calls[0]?.providerCallId ?? "")
      assert.isTrue(Option.isSome(stored))
      assert.lengthOf(carrier.calls, 1)
    })
  )
})

describe("a call that ends before the carrier has answered the request to dial it", () => {
  scenario("has exactly one event of its end", ({ carrier }) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
      const attempt = yield* signed
      carrier.script.place = ["done, answered late"]
      const dialling = yield* Effect.forkChild(attempt)
      yield* TestClock.adjust("1 second")
      const callId = carrier.calls[0]?.callId ?? ""
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(callId, { _tag: "Ended", at, ending: "busy", seconds: 0 })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(dialling)
      const events = yield* eventsOf(tenant)
      assert.lengthOf(
        events.filter(({ type }) => type === "phone.call.ended"),
        1
      )
    })
  )
})

describe("a call from a number that is released just before the call is dialed", () => {
  it.effect("is not made, and refunded", () => {
    const host = TestHost.make()
    let release: Effect.Effect<unknown> = Effect.void
    const steps = Layer.succeed(OperationSteps, (step) =>
      step === "before_perform" ? Effect.asVoid(Effect.suspend(() => release)) : Effect.void
    )
    return Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const numbers = yield* Numbers
      const input = { phoneNumberId, toNumber: PERSON }
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
      const attempt = yield* signed
      // The number is suspended, and the carrier has not released it yet.
      host.carrier.script.release = ["Temporary"]
      release = Effect.flip(numbers.release(tenant, phoneNumberId)).pipe(Effect.orDie)
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      assert.lengthOf(host.carrier.calls, 0)
      assert.lengthOf(yield* (yield* CallStore).live(phoneNumberId), 0)
    }).pipe(Effect.provide(host.layer.pipe(Layer.provide(steps))))
  })
})
