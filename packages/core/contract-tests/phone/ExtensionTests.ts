import { type Call, CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./CallSample.ts"

const { LIMIT } = Sample
const withLimit = (call: Call, authorizedSeconds: number) =>
  Option.some({ ...call, authorizedSeconds, extendedSeconds: authorizedSeconds - LIMIT })

/** Tests of `extend`, `extended` and `revokeExtension`. */
export const extensionTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("extend", () => {
    it.effect("extends a call once for each operation", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const [one, two] = yield* Effect.all([Fresh.id, Fresh.id])
        assert.deepStrictEqual(yield* store.extend(call.callId, one, 60), withLimit(call, LIMIT + 60))
        assert.deepStrictEqual(yield* store.extend(call.callId, one, 60), withLimit(call, LIMIT + 60))
        assert.deepStrictEqual(yield* store.extend(call.callId, two, 60), withLimit(call, LIMIT + 120))
        assert.deepStrictEqual(yield* store.extend(call.callId, one, 60), withLimit(call, LIMIT + 120))
        assert.deepStrictEqual(yield* store.get(call.callId), withLimit(call, LIMIT + 120))
        assert.deepStrictEqual(yield* store.extended(one), withLimit(call, LIMIT + 120))
        yield* store.revokeExtension(one)
        assert.deepStrictEqual(yield* store.extended(one), Option.none())
        assert.deepStrictEqual(yield* store.extended(two), withLimit(call, LIMIT + 60))
      })
    )

    it.effect("does not extend a call that is not in progress", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered, begun } = yield* Sample.caller
        const over = yield* answered()
        yield* store.update(Sample.ended(over))
        const calls = [
          yield* begun(),
          yield* begun({ state: "ringing" }),
          yield* answered({ hangUpReason: "time_limit" }),
          Sample.ended(over)
        ]
        for (const call of calls) {
          const operation = yield* Fresh.id
          assert.deepStrictEqual(yield* store.extend(call.callId, operation, 60), Option.none(), call.state)
          assert.deepStrictEqual(yield* store.get(call.callId), Option.some(call))
          yield* store.revokeExtension(operation)
          assert.deepStrictEqual(yield* store.get(call.callId), Option.some(call), "there is nothing to take back")
        }
        assert.deepStrictEqual(yield* store.extend(yield* Fresh.id, yield* Fresh.id, 60), Option.none())
      })
    )

    it.effect("confirms an earlier extension even after the call has ended", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const operation = yield* Fresh.id
        const extended = Option.getOrThrow(yield* store.extend(call.callId, operation, 60))
        const over = Sample.ended(extended)
        yield* store.update(over)
        assert.deepStrictEqual(yield* store.extend(call.callId, operation, 60), Option.some(over))
        yield* store.revokeExtension(operation)
        assert.deepStrictEqual(yield* store.get(call.callId), Option.some(over), "an ended call does not change")
      })
    )

    it.effect("loses no extension of concurrent operations, and counts each once", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const operations = yield* Effect.forEach(Array.range(1, 6), () => Fresh.id)
        yield* Effect.forEach([...operations, ...operations], (id) => store.extend(call.callId, id, 60), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(yield* store.get(call.callId), withLimit(call, LIMIT + 360))
      })
    )
  })

  describe("revokeExtension", () => {
    it.effect("subtracts the operation's seconds once, and only those", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const [one, two] = yield* Effect.all([Fresh.id, Fresh.id])
        yield* store.extend(call.callId, one, 60)
        yield* store.extend(call.callId, two, 30)
        yield* store.revokeExtension(one)
        assert.deepStrictEqual(yield* store.get(call.callId), withLimit(call, LIMIT + 30))
        yield* store.revokeExtension(one)
        yield* store.revokeExtension(yield* Fresh.id)
        assert.deepStrictEqual(yield* store.get(call.callId), withLimit(call, LIMIT + 30))
        assert.deepStrictEqual(yield* store.extend(call.callId, one, 60), withLimit(call, LIMIT + 90))
      })
    )

    it.effect("subtracts them once in concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const operation = yield* Fresh.id
        yield* store.extend(call.callId, operation, 60)
        yield* Effect.replicateEffect(store.revokeExtension(operation), 6, { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* store.get(call.callId), withLimit(call, LIMIT))
      })
    )

    it.effect("has the call polled when it must now end, and never later than before", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered({ authorizedSeconds: 60 })
        const operation = yield* Fresh.id
        for (const [watched, expected] of [
          [90_000, 60_000],
          [20_000, 20_000]
        ] as const) {
          const extended = Option.getOrThrow(yield* store.extend(call.callId, operation, 60))
          assert.strictEqual(extended.authorizedSeconds, 120)
          yield* store.update({ ...extended, watchAt: Timestamp.add(call.answeredAt!, watched) })
          yield* store.revokeExtension(operation)
          assert.deepStrictEqual(yield* Sample.found(call), {
            ...call,
            watchAt: Timestamp.add(call.answeredAt!, expected)
          })
        }
      })
    )
  })
}
