import { CallAdmission, CallReports, CallWatch } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON } from "../support/PhonePurchase.ts"
import { scenario } from "../support/Purchase.ts"

/** The number of calls that are polled in the same second. */
const CALLS = 20
/** The maximum number of concurrent writers: each needs its own connection, and conversations need some too. */
const WRITERS = 3

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
