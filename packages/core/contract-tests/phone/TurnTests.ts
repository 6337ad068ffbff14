import { CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./CallSample.ts"

/** Tests of `addTurn`, `setTurnText` and `turns`. */
export const turnTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("addTurn", () => {
    it.effect("adds each turn at the end of its own call, whatever its time", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const [call, other] = [yield* answered(), yield* answered()]
        assert.deepStrictEqual(yield* store.turns(call.callId), [])
        const hello = Sample.said("Hello", "agent")
        const earlier = { ...Sample.said("Hi"), at: Timestamp.add(hello.at, -1) }
        const notReached = Sample.said("The agent could not be reached.", "system")
        const first = yield* store.addTurn(call.callId, hello)
        const second = yield* store.addTurn(call.callId, earlier)
        const foreign = yield* store.addTurn(other.callId, notReached)
        assert.deepStrictEqual(
          [first, second, foreign],
          [
            { index: 0, ...hello },
            { index: 1, ...earlier },
            { index: 0, ...notReached }
          ]
        )
        assert.deepStrictEqual(yield* store.turns(call.callId), [first, second])
        assert.deepStrictEqual(yield* store.turns(other.callId), [foreign])
        assert.deepStrictEqual(yield* store.get(call.callId), Option.some(call), "and leaves the call as it is")
      })
    )

    it.effect("returns every text exactly", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const { callId } = yield* answered()
        for (const text of AWKWARD_TEXTS) yield* store.addTurn(callId, Sample.said(text))
        assert.deepStrictEqual(
          (yield* store.turns(callId)).map(({ text }) => text),
          AWKWARD_TEXTS
        )
        for (const [index, text] of AWKWARD_TEXTS.toReversed().entries()) yield* store.setTurnText(callId, index, text)
        assert.deepStrictEqual(
          (yield* store.turns(callId)).map(({ text }) => text),
          AWKWARD_TEXTS.toReversed()
        )
      })
    )

    it.effect("gives concurrent turns consecutive indexes without a gap", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const { callId } = yield* answered()
        const added = yield* Effect.forEach(Array.range(1, 30), (n) => store.addTurn(callId, Sample.said(`${n}`)), {
          concurrency: "unbounded"
        })
        const turns = yield* store.turns(callId)
        assert.deepStrictEqual(
          turns.map(({ index }) => index),
          Array.range(0, 29)
        )
        assert.sameDeepMembers([...turns], added)
      })
    )

    it.effect("adds nothing to a missing call", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const callId = yield* Fresh.id
        yield* refused(store.addTurn(callId, Sample.said("Hi")))
        assert.deepStrictEqual(yield* store.turns(callId), [])
      })
    )
  })

  describe("setTurnText", () => {
    it.effect("are read in pages by their index", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const [call, other] = [yield* answered(), yield* answered()]
        const turns = yield* Effect.forEach(["a", "b", "c"], (text) => store.addTurn(call.callId, Sample.said(text)))
        yield* store.addTurn(other.callId, Sample.said("a"))
        assert.deepStrictEqual(yield* store.turnsAfter(call.callId, -1, 2), turns.slice(0, 2))
        assert.deepStrictEqual(yield* store.turnsAfter(call.callId, 1, 2), turns.slice(2))
        assert.deepStrictEqual(yield* store.turnsAfter(call.callId, 2, 2), [])
        assert.deepStrictEqual(yield* store.turnsAfter(yield* Fresh.id, -1, 2), [])
      })
    )

    it.effect("replaces the text of that turn alone", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const [call, other] = [yield* answered(), yield* answered()]
        const turns = yield* Effect.forEach(["a", "b", "c"], (text) => store.addTurn(call.callId, Sample.said(text)))
        const foreign = yield* store.addTurn(other.callId, Sample.said("a"))
        yield* store.setTurnText(call.callId, 1, "")
        yield* store.setTurnText(call.callId, 1, "b and more")
        assert.deepStrictEqual(yield* store.turns(call.callId), [
          turns[0]!,
          { ...turns[1]!, text: "b and more" },
          turns[2]!
        ])
        assert.deepStrictEqual(yield* store.turns(other.callId), [foreign])
        yield* refused(store.setTurnText(call.callId, 3, "d"))
        yield* refused(store.setTurnText(yield* Fresh.id, 0, "d"))
      })
    )
  })

  describe("turns", () => {
    it.effect("returns the last ones in order on request", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        const { callId } = yield* answered()
        const turns = yield* Effect.forEach(Array.range(1, 12), (n) => store.addTurn(callId, Sample.said(`${n}`)))
        assert.deepStrictEqual(yield* store.turns(callId), turns)
        for (const limit of [1, 5, 12]) assert.deepStrictEqual(yield* store.turns(callId, limit), turns.slice(-limit))
        assert.deepStrictEqual(yield* store.turns(callId, 100), turns)
        assert.deepStrictEqual(yield* store.turns(callId, 0), [])
      })
    )
  })
}
