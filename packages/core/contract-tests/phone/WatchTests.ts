import { type Call, type CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./CallSample.ts"

const PUT_OFF = 30_000
const ids = (calls: ReadonlyArray<Call>) => calls.map(({ callId }) => callId)

/** Tests of `takeWatched` and `postponeWatch`. */
export const watchTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("takeWatched", () => {
    it.effect("returns due calls, the longest due first, and at most `limit`", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const now = yield* clock.now
        const due = (seconds: number) => begun({ watchAt: Timestamp.add(now, seconds * Timestamp.SECOND) })
        const [later, third, first, second] = [yield* due(60), yield* due(-1), yield* due(-3), yield* due(-2)]
        assert.deepStrictEqual(yield* store.takeWatched(0, PUT_OFF), [])
        assert.deepStrictEqual(ids(yield* store.takeWatched(2, PUT_OFF)), ids([first, second]))
        assert.deepStrictEqual(ids(yield* store.takeWatched(2, PUT_OFF)), ids([third]))
        assert.deepStrictEqual(yield* store.takeWatched(2, PUT_OFF), [])
        yield* clock.advance(60_000 + PUT_OFF)
        assert.deepStrictEqual(ids(yield* store.takeWatched(9, PUT_OFF)).at(-1), later.callId)
      })
    )

    it.effect("postpones the next poll by the given time on the store's clock, and changes nothing else", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { answered } = yield* Sample.caller
        const before = yield* clock.now
        const call = yield* answered({ watchAt: before })
        const [taken, ...others] = yield* store.takeWatched(10, PUT_OFF)
        assert.deepStrictEqual(others, [])
        assert.deepStrictEqual({ ...taken, watchAt: null }, { ...call, watchAt: null })
        assert.isAtLeast(taken!.watchAt!, before + PUT_OFF)
        assert.isAtMost(taken!.watchAt!, (yield* clock.now) + PUT_OFF)
        assert.deepStrictEqual(yield* Sample.found(call), taken)
        yield* clock.advance(PUT_OFF)
        assert.deepStrictEqual(ids(yield* store.takeWatched(10, PUT_OFF)), [call.callId])
      })
    )

    it.effect("returns no call that has ended, or whose next poll was postponed", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const now = yield* clock.now
        const [over, off] = [yield* begun({ watchAt: now }), yield* begun({ watchAt: now })]
        yield* store.update(Sample.ended(over))
        yield* store.update({ ...off, watchAt: Timestamp.add(now, 60_000) })
        assert.deepStrictEqual(yield* store.takeWatched(10, PUT_OFF), [])
      })
    )

    it.effect("returns each call to one of many concurrent callers", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const now = yield* clock.now
        const calls = yield* Effect.forEach(Array.range(1, 20), () => begun({ watchAt: now }))
        const taken = yield* Effect.replicateEffect(store.takeWatched(4, PUT_OFF), 10, { concurrency: "unbounded" })
        const rest = yield* store.takeWatched(100, PUT_OFF)
        const all = ids([...taken.flat(), ...rest])
        assert.sameMembers(all, ids(calls))
        assert.strictEqual(new Set(all).size, all.length, "each once")
      })
    )
  })

  describe("postponeWatch", () => {
    it.effect("postpones a call from now, each time by the watchAt of the time before", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const call = yield* begun({ watchAt: yield* clock.now })
        let [{ watchAt }] = [(yield* store.takeWatched(1, PUT_OFF))[0]!]
        for (let renewals = 0; renewals < 2; renewals++) {
          yield* clock.advance(PUT_OFF - 10_000)
          const before = yield* clock.now
          watchAt = yield* store.postponeWatch(call.callId, watchAt, PUT_OFF)
          assert.isAtLeast(watchAt!, before + PUT_OFF)
          assert.isAtMost(watchAt!, (yield* clock.now) + PUT_OFF)
          assert.deepStrictEqual(yield* Sample.found(call), { ...call, watchAt })
        }
        yield* clock.advance(PUT_OFF - 10_000)
        assert.deepStrictEqual(yield* store.takeWatched(10, PUT_OFF), [])
        yield* clock.advance(10_000)
        assert.deepStrictEqual(ids(yield* store.takeWatched(10, PUT_OFF)), [call.callId])
      })
    )

    it.effect("changes nothing once the call was changed, taken again or ended, or for an unknown call", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const call = yield* begun({ watchAt: yield* clock.now })
        const [first] = yield* store.takeWatched(1, PUT_OFF)
        yield* clock.advance(PUT_OFF)
        const [second] = yield* store.takeWatched(1, PUT_OFF)
        assert.isNull(yield* store.postponeWatch(call.callId, first!.watchAt, 2 * PUT_OFF))
        assert.deepStrictEqual(yield* Sample.found(call), second)
        const changed = { ...second!, watchAt: yield* clock.now }
        yield* store.update(changed)
        assert.isNull(yield* store.postponeWatch(call.callId, second!.watchAt, PUT_OFF))
        assert.deepStrictEqual(yield* Sample.found(call), changed)
        yield* store.update(Sample.ended(changed))
        assert.isNull(yield* store.postponeWatch(call.callId, changed.watchAt, PUT_OFF))
        assert.isNull(yield* store.postponeWatch(call.callId, null, PUT_OFF))
        assert.isNull(yield* store.postponeWatch(yield* Fresh.id, changed.watchAt, PUT_OFF))
      })
    )
  })
}
