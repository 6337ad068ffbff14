import { CallReports, CallStore, OperationCompletion, OperationSteps, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario, underClock } from "../support/Purchase.ts"
import * as TestHost from "../support/TestHost.ts"

type PhoneHost = ReturnType<typeof TestHost.make>

/** A call with an unknown outcome whose request has ended. */
const unknownCall = Effect.fnUntraced(function* ({ carrier }: PhoneHost) {
  const { number, phoneNumberId, tenant } = yield* adasNumber
  const input = { phoneNumberId, toNumber: PERSON }
  const { signed } = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
  const attempt = yield* signed
  carrier.script.place = ["Unknown"]
  yield* failureOf(underClock(attempt))
  const store = yield* CallStore
  const [call] = yield* store.live(phoneNumberId)
  assert.isDefined(call)
  return { attempt, call, number, stored: Effect.map(store.get(call.callId), Option.getOrThrow), tenant }
})

describe("a call about which the carrier never reports anything", () => {
  scenario("has ended once it is refunded, and is no longer polled", (host) =>
    Effect.gen(function* () {
      host.carrier.script.findCalls = Array.from({ length: 10_000 }, () => "Misconfigured" as const)
      const { attempt, stored, tenant } = yield* unknownCall(host)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("62 minutes")
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      assert.deepInclude(yield* stored, { state: "ended", endReason: "failed", connectedSeconds: 0, watchAt: null })
      const ends = (yield* eventsOf(tenant)).filter(({ type }) => type === "phone.call.ended")
      assert.lengthOf(ends, 1)
    })
  )
})

describe("a call that was not made, while another one to the same number is dialed", () => {
  scenario("is refunded, and is not identified with the other call", (host) =>
    Effect.gen(function* () {
      const { attempt, call, tenant } = yield* unknownCall(host)
      // No server searches for it for a minute, as if the only server was down.
      yield* TestClock.adjust("1 minute")
      host.carrier.script.place = ["done, answered late"]
      const input = { phoneNumberId: call.phoneNumberId, toNumber: PERSON }
      const other = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
      const dialling = yield* Effect.forkChild(yield* other.signed)
      yield* TestClock.adjust("500 millis")
      assert.lengthOf(host.carrier.calls, 1)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      yield* Fiber.join(dialling)
      const [made] = host.carrier.calls
      const known = yield* (yield* CallStore).findByProvider(made!.providerCallId)
      assert.strictEqual(Option.getOrThrow(known).callId, made!.callId)
    })
  )
})

describe("a call that the carrier first reports while it is being given up", () => {
  scenario("continues, and its payment is kept", (host) =>
    Effect.gen(function* () {
      const { attempt, call, stored } = yield* unknownCall(host)
      host.carrier.script.findCalls = Array.from({ length: 100 }, () => "done, answered late" as const)
      yield* Effect.forkScoped(OperationCompletion.run)
      const asks = () => host.carrier.log.filter((line) => line.startsWith("findCalls")).length
      yield* TestClock.adjust("10 seconds")
      const before = asks()
      while (asks() === before) yield* TestClock.adjust("500 millis")
      const reports = yield* CallReports
      yield* reports.identify(call.callId, "CA9")
      yield* reports.apply(call.callId, { _tag: "Answered", at: yield* Timestamp.now })
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* stored, { state: "in_progress", providerCallId: "CA9" })
      yield* attempt
    })
  )
})

describe("a call that was given up as not made, and that the carrier lists afterwards", () => {
  it.effect("is refunded nevertheless", () => {
    const host = TestHost.make()
    let crash: Effect.Effect<void> = Effect.void
    const steps = Layer.succeed(OperationSteps, (step) =>
      step === "after_perform" ? Effect.suspend(() => crash) : Effect.void
    )
    return Effect.gen(function* () {
      const { attempt, call, number, stored } = yield* unknownCall(host)
      // The server dies after it has ended the call and before it has stored that the payment is due for a refund.
      crash = Effect.flatMap(stored, ({ state }) =>
        state === "ended" ? Effect.die(new Error("the server dies here")) : Effect.void
      )
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual((yield* stored).state, "ended")
      host.carrier.calls.push({
        callId: call.callId,
        from: number,
        to: PERSON,
        limitSeconds: 60,
        providerCallId: "CA9",
        placedAt: call.createdAt,
        report: { _tag: "Ringing" }
      })
      crash = Effect.void
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
    }).pipe(Effect.provide(host.layer.pipe(Layer.provide(steps))))
  })
})
