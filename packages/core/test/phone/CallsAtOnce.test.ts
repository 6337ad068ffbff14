import {
  CallAdmission,
  CallReports,
  CallStore,
  CallWatch,
  Numbers,
  OperationSteps,
  PhoneNumberStore,
  TelephonyProvider,
  Timestamp
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import { failureOf, scenario } from "../support/Purchase.ts"
import * as TestHost from "../support/TestHost.ts"

/** The watch over calls, whose word takes a second to reach the carrier. */
const slowWatch = Effect.gen(function* () {
  const provider = yield* TelephonyProvider
  const changeLimit: typeof provider.changeLimit = (id, seconds) =>
    Effect.andThen(Effect.sleep("1 second"), provider.changeLimit(id, seconds))
  yield* Effect.forkScoped(
    Effect.provideService(CallWatch.run, TelephonyProvider, TelephonyProvider.of({ ...provider, changeLimit }))
  )
})

describe("a limit that changes while the carrier is told of an older one", () => {
  scenario("stands in the end, where an extension was told first", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const data = yield* bought({ serviceId: "phone.call.outbound.5m", tenant, input })
      const { callId } = data["call"] as { readonly callId: string }
      yield* (yield* CallAdmission).answered(callId)
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.extend.1m", tenant, input: { callId } })
      const extend = yield* signed
      yield* slowWatch
      yield* TestClock.adjust("60 seconds")
      yield* extend
      yield* TestClock.adjust("3 seconds")
      const limits = host.carrier.limits.map(([, seconds]) => seconds)
      assert.deepStrictEqual(limits.slice(0, 2), [360, 300])
      assert.strictEqual(limits.at(-1), 360)
    })
  )

  scenario("is told at once, where another call has come in", (host) =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })
      const admission = yield* CallAdmission
      const arrive = (providerCallId: string) => admission.arrive({ providerCallId, from: PERSON, to: number })
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

describe("two calls that use up an allowance", () => {
  scenario("end for the same reason, whichever the carrier tells of first, and use no more than there was", () =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })
      const [admission, calls, reports] = [yield* CallAdmission, yield* CallStore, yield* CallReports]
      const found = (id: string) => Effect.map(calls.findByProvider(id), Option.getOrThrow)
      yield* admission.arrive({ providerCallId: "CA1", from: PERSON, to: number })
      yield* TestClock.adjust("100 seconds")
      yield* admission.arrive({ providerCallId: "CA2", from: PERSON, to: number })
      // The carrier ends both at their limits, and takes a moment to say so.
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

describe("a call from a number that is given back as it is to be dialled", () => {
  it.effect("is not made, and paid back", () => {
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
      // The number is out of use, and the carrier has not taken it back yet.
      host.carrier.script.release = ["Temporary"]
      release = Effect.flip(numbers.release(tenant, phoneNumberId)).pipe(Effect.orDie)
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      assert.lengthOf(host.carrier.calls, 0)
      assert.lengthOf(yield* (yield* CallStore).live(phoneNumberId), 0)
    }).pipe(Effect.provide(host.layer.pipe(Layer.provide(steps))))
  })
})
