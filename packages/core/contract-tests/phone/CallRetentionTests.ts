import { type Call, CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./CallSample.ts"

/** Longer than other tests advance the clock, so that none of their calls is this old. */
const AGE = 10_000 * Timestamp.DAY

/** Calls of a new tenant with a turn and an extension each, which ended `ages` milliseconds ago; null: it goes on. */
const aged = Effect.fnUntraced(function* (...ages: ReadonlyArray<number | null>) {
  const store = yield* CallStore
  const now = yield* (yield* StoreClock).now
  const { answered } = yield* Sample.caller
  return yield* Effect.forEach(ages, (age) =>
    Effect.gen(function* () {
      const call = yield* answered()
      const operationId = yield* Fresh.id
      yield* store.extend(call.callId, operationId, 60)
      yield* store.addTurn(call.callId, Sample.said("Hi"))
      if (age !== null) yield* store.update({ ...Sample.ended(call), endedAt: Timestamp.add(now, -age) })
      return { call, operationId }
    })
  )
})

/** Returns which parts of a call are stored. */
const partsOf = Effect.fnUntraced(function* ({ call, operationId }: { call: Call; operationId: string }) {
  const store = yield* CallStore
  return {
    call: Option.isSome(yield* store.get(call.callId)),
    turns: (yield* store.turns(call.callId)).length,
    extension: Option.isSome(yield* store.extended(operationId))
  }
})

const WHOLE = { call: true, turns: 1, extension: true }
const GONE = { call: false, turns: 0, extension: false }

/** Tests of `remove` and `removeTurns`. */
export const callRetentionTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("remove", () => {
    it.effect("deletes ended calls of that age with their turns and extensions, those that ended first", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const made = yield* aged(AGE + 1_000, AGE + 3_000, AGE + 2_000, AGE - 60_000, null)
        assert.strictEqual(yield* store.remove({ age: AGE, limit: 2 }), 2)
        assert.deepStrictEqual(yield* Effect.forEach(made, partsOf), [WHOLE, GONE, GONE, WHOLE, WHOLE])
        assert.strictEqual(yield* store.remove({ age: AGE, limit: 2 }), 1)
        assert.strictEqual(yield* store.remove({ age: AGE, limit: 2 }), 0)
        assert.deepStrictEqual(yield* Effect.forEach(made, partsOf), [GONE, GONE, GONE, WHOLE, WHOLE])
      })
    )
  })

  it.effect("take the calls of one tenant, or of all but some", () =>
    Effect.gen(function* () {
      const store = yield* CallStore
      const [one, two] = [yield* aged(AGE + 1_000), yield* aged(AGE + 1_000)]
      const [{ tenantId }, other] = [one[0]!.call, two[0]!.call]
      for (const remove of [store.removeTurns, store.remove]) {
        assert.strictEqual(yield* remove({ age: AGE, limit: 9, except: [tenantId, other.tenantId] }), 0)
        assert.strictEqual(yield* remove({ age: AGE, limit: 9, tenantId }), 1)
        assert.strictEqual(yield* remove({ age: AGE, limit: 9, except: [tenantId] }), 1)
      }
    })
  )

  describe("removeTurns", () => {
    it.effect("deletes the turns of ended calls of that age, each call once, and nothing else of them", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const made = yield* aged(AGE + 1_000, AGE + 3_000, AGE + 2_000, AGE - 60_000, null)
        const before = yield* store.get(made[0]!.call.callId)
        assert.strictEqual(yield* store.removeTurns({ age: AGE, limit: 2 }), 2)
        assert.deepStrictEqual(
          (yield* Effect.forEach(made, partsOf)).map(({ turns }) => turns),
          [1, 0, 0, 1, 1]
        )
        assert.strictEqual(yield* store.removeTurns({ age: AGE, limit: 2 }), 1)
        assert.strictEqual(yield* store.removeTurns({ age: AGE, limit: 2 }), 0)
        const silent = { ...WHOLE, turns: 0 }
        assert.deepStrictEqual(yield* Effect.forEach(made, partsOf), [silent, silent, silent, WHOLE, WHOLE])
        assert.deepStrictEqual(yield* store.get(made[0]!.call.callId), before)
        assert.strictEqual(yield* store.remove({ age: AGE, limit: 10 }), 3)
      })
    )
  })
}
