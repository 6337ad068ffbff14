import { CallAdmission, CallReports, Calls, CallWatch, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON } from "../support/PhonePurchase.ts"
import { scenario } from "../support/Purchase.ts"

/** The number of calls that are polled in the same second. */
const CALLS = 20
/** The maximum number of concurrent writers: each needs its own connection, and conversations need some too. */
const WRITERS = 3

describe("a call whose end the carrier never reported", () => {
  scenario("ends within 21 s of its last poll, with its own end reason and length", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const data = yield* bought({ serviceId: "phone.call.outbound.1m", tenant, input })
      const { callId } = data["call"] as { readonly callId: string }
      yield* (yield* CallAdmission).answered(callId)
      yield* Effect.forkScoped(CallWatch.run)
      yield* TestClock.adjust("7 seconds")
      const at = yield* Timestamp.now
      host.carrier.calls[0]!.report = { _tag: "Ended", at, ending: "completed", seconds: 7 }
      yield* TestClock.adjust("14 seconds")
      const call = yield* (yield* Calls).get(tenant, callId)
      assert.deepInclude(call, { state: "ended", endReason: "completed", connectedSeconds: 7 })
    })
  )
})

describe("the call watch with many calls", () => {
  scenario("sends every limit to the carrier, and leaves database connections for the conversations", (host) =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })
      const { admit } = yield* CallAdmission
      const ids = Array.from({ length: CALLS }, (_, index) => `CA${index}`)
      for (const providerCallId of ids) {
        const call = { callId: "", from: PERSON, to: number, limitSeconds: 0, providerCallId, placedAt: 0 }
        host.carrier.calls.push({ ...call, report: { _tag: "Ringing" } } as (typeof host.carrier.calls)[number])
        yield* admit({ providerCallId, from: PERSON, to: number })
      }

      const reports = yield* CallReports
      let [writing, most] = [0, 0]
      const change: typeof reports.change = (callId, decide) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            writing += 1
            most = Math.max(most, writing)
          }),
          () => Effect.andThen(Effect.sleep("10 millis"), reports.change(callId, decide)),
          () =>
            Effect.sync(() => {
              writing -= 1
            })
        )
      const slow = CallReports.of({ ...reports, change })
      yield* Effect.forkScoped(Effect.provideService(CallWatch.run, CallReports, slow))
      yield* TestClock.adjust("1500 millis")
      assert.sameMembers([...new Set(host.carrier.limits.map(([id]) => id))], ids)
      assert.strictEqual(most, WRITERS)
    })
  )
})
