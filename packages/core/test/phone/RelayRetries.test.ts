import { CallAdmission, CallReports, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { answeredCall, linesOf } from "../support/Conversation.ts"
import { scenario } from "../support/Purchase.ts"

/** The seconds that the carrier must wait before the next relay of a call, or undefined if the call must end. */
const waits = (callId: string) =>
  Effect.gen(function* () {
    const admission = yield* (yield* CallAdmission).resume(callId)
    return admission._tag === "Connect" ? admission.waitSeconds : undefined
  })

describe("a relay that broke off", () => {
  scenario("is followed by another one immediately, then after longer and longer waits, and finally by none", () =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const waited: Array<number | undefined> = []
      for (let last: number | undefined = 0; last !== undefined; waited.push(last)) {
        last = yield* waits(call.callId)
        yield* TestClock.adjust(`${last ?? 0} seconds`)
      }
      assert.deepStrictEqual(waited, [0, 1, 2, 4, 8, 8, 8, undefined])
      assert.deepStrictEqual(yield* linesOf(call), ["system: The call was ended because its relay failed repeatedly."])
    })
  )

  scenario("counts as the first again if it had lasted, and for another call", () =>
    Effect.gen(function* () {
      const [{ call }, { call: other }] = [yield* answeredCall(), yield* answeredCall()]
      assert.deepStrictEqual([yield* waits(call.callId), yield* waits(call.callId)], [0, 1])
      assert.strictEqual(yield* waits(other.callId), 0)
      // A line that breaks off occasionally does not count as failing at once.
      for (let time = 1; time <= 20; time += 1) {
        yield* TestClock.adjust("12 seconds")
        assert.strictEqual(yield* waits(call.callId), 0)
      }
      assert.strictEqual(yield* waits(call.callId), 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* waits(call.callId), 2)
    })
  )

  scenario("is not followed by another one in a call that has ended, and adds nothing to its transcript", () =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(call.callId, { _tag: "Ended", at, ending: "completed", seconds: 1 })
      for (let time = 1; time <= 10; time += 1) assert.isUndefined(yield* waits(call.callId))
      assert.deepStrictEqual(yield* linesOf(call), [])
    })
  )
})
