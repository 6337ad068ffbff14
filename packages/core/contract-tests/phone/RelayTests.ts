import { CallStore, type PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./CallSample.ts"

/** Tests of `issueRelay` and `redeemRelay`. */
export const relayTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("a token of the relay", () => {
    it.effect("admits one socket, once", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered, begun } = yield* Sample.caller
        const [call, other] = [yield* begun(), yield* answered()]
        const [token, another] = yield* Effect.all([Fresh.word, Fresh.word])
        assert.deepStrictEqual(yield* store.redeemRelay(token), Option.none())
        yield* store.issueRelay(call.callId, token)
        yield* store.issueRelay(other.callId, another)
        assert.deepStrictEqual(yield* store.redeemRelay(yield* Fresh.word), Option.none())
        assert.deepStrictEqual(yield* store.redeemRelay(token), Option.some(call))
        assert.deepStrictEqual(yield* store.redeemRelay(token), Option.none())
        assert.deepStrictEqual(yield* store.redeemRelay(another), Option.some(other))
      })
    )

    it.effect("replaces the previous one", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const [first, second, third] = yield* Effect.all([Fresh.word, Fresh.word, Fresh.word])
        assert.isNull(yield* store.redeemedRelay(call.callId))
        yield* store.issueRelay(call.callId, first)
        yield* store.issueRelay(call.callId, second)
        assert.deepStrictEqual(yield* store.redeemRelay(first), Option.none())
        assert.deepStrictEqual(yield* store.redeemRelay(second), Option.some(call))
        assert.strictEqual(yield* store.redeemedRelay(call.callId), second)
        yield* store.issueRelay(call.callId, third)
        assert.strictEqual(yield* store.redeemedRelay(call.callId), second, "the next token is not redeemed yet")
        assert.deepStrictEqual(yield* store.redeemRelay(third), Option.some(call))
        assert.strictEqual(yield* store.redeemedRelay(call.callId), third)
      })
    )

    it.effect("stays valid while the call changes, but not after it has ended", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun } = yield* Sample.caller
        const [one, two] = [yield* begun(), yield* begun()]
        const [token, another] = yield* Effect.all([Fresh.word, Fresh.word])
        yield* store.issueRelay(one.callId, token)
        yield* store.issueRelay(two.callId, another)
        const ringing = { ...one, state: "ringing" } as const
        yield* store.update(ringing)
        yield* store.update(Sample.ended(two))
        assert.deepStrictEqual(yield* store.redeemRelay(token), Option.some(ringing))
        assert.deepStrictEqual(yield* store.redeemRelay(another), Option.none())
        yield* store.issueRelay(two.callId, another)
        assert.deepStrictEqual(yield* store.redeemRelay(another), Option.none())
      })
    )

    it.effect("admits one of many concurrent sockets", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const call = yield* answered()
        const token = yield* Fresh.word
        yield* store.issueRelay(call.callId, token)
        const answers = yield* Effect.replicateEffect(store.redeemRelay(token), 12, { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.filter(Option.isSome), [Option.some(call)])
      })
    )
  })
}
