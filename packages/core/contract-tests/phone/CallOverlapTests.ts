import { CallStore, type PhoneNumberStore, Transactor } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { type ContractTests, needing } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./CallSample.ts"

const { LIMIT } = Sample
const ENDS = ["committed", "rolled back"] as const

const extensionOverlapTests: ContractTests<CallStore | PhoneNumberStore> = (it, capabilities) => {
  describe("two transactions on the limit of one call", () => {
    it.effect("extend it once for one operation", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const { callId } = yield* answered()
          const extend = store.extend(callId, yield* Fresh.id, 60)
          const answers = yield* overlapping(capabilities, { first: extend, second: extend, firstEnds })
          assert.deepStrictEqual(
            answers.map((answer) => Option.getOrThrow(answer).authorizedSeconds),
            [LIMIT + 60, LIMIT + 60]
          )
        }
      })
    )

    it.effect("extend it for two operations", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const { callId } = yield* answered()
          const [, second] = yield* overlapping(capabilities, {
            first: store.extend(callId, yield* Fresh.id, 60),
            second: store.extend(callId, yield* Fresh.id, 60),
            firstEnds
          })
          const expected = firstEnds === "committed" ? LIMIT + 120 : LIMIT + 60
          assert.strictEqual(Option.getOrThrow(second).authorizedSeconds, expected)
        }
      })
    )

    it.effect("do not extend it if it has ended", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const [, second] = yield* overlapping(capabilities, {
            first: store.update(Sample.ended(call)),
            second: store.extend(call.callId, yield* Fresh.id, 60),
            firstEnds
          })
          assert.strictEqual(Option.isSome(second), firstEnds === "rolled back")
        }
      })
    )

    it.effect("revoke the extension of one operation once", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const operation = yield* Fresh.id
          yield* store.extend(call.callId, operation, 60)
          const revoke = store.revokeExtension(operation)
          yield* overlapping(capabilities, { first: revoke, second: revoke, firstEnds })
          assert.strictEqual((yield* Sample.found(call)).authorizedSeconds, LIMIT)
        }
      })
    )

    it.effect("extend it again after the other revoked the extension, and not twice if that is rolled back", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const operation = yield* Fresh.id
          yield* store.extend(call.callId, operation, 60)
          yield* overlapping(capabilities, {
            first: store.revokeExtension(operation),
            second: store.extend(call.callId, operation, 60),
            firstEnds
          })
          assert.strictEqual((yield* Sample.found(call)).authorizedSeconds, LIMIT + 60)
        }
      })
    )
  })
}

/** Tests of overlapping transactions on one call. */
export const callOverlapTests: ContractTests<CallStore | PhoneNumberStore> = (it, capabilities) => {
  extensionOverlapTests(it, capabilities)

  describe("two transactions on one call", () => {
    it.effect("store an inbound one once: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const inbound = { direction: "inbound", providerCallId: yield* Fresh.word } as const
          const [one, two] = [yield* Sample.call(number, inbound), yield* Sample.call(number, inbound)]
          const creates = { first: store.create(one), second: store.create(two), firstEnds }
          assert.deepStrictEqual(yield* overlapping(capabilities, creates), [true, firstEnds === "rolled back"])
        }
      })
    )

    it.effect("end it once, and change nothing of it after that", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const [, second] = yield* overlapping(capabilities, {
            first: store.update(Sample.ended(call)),
            second: store.update({ ...call, authorizedSeconds: 1 }),
            firstEnds
          })
          assert.strictEqual(second, firstEnds === "rolled back")
        }
      })
    )

    it.effect("redeem its token once: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const token = yield* Fresh.word
          yield* store.issueRelay(call.callId, token)
          const redeem = store.redeemRelay(token)
          const [first, second] = yield* overlapping(capabilities, { first: redeem, second: redeem, firstEnds })
          assert.deepStrictEqual(first, Option.some(call))
          assert.deepStrictEqual(second, firstEnds === "committed" ? Option.none() : Option.some(call))
        }
      })
    )

    it.effect("do not accept a token that another has replaced", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const call = yield* answered()
          const token = yield* Fresh.word
          yield* store.issueRelay(call.callId, token)
          const [, second] = yield* overlapping(capabilities, {
            first: store.issueRelay(call.callId, yield* Fresh.word),
            second: store.redeemRelay(token),
            firstEnds
          })
          assert.strictEqual(Option.isSome(second), firstEnds === "rolled back")
        }
      })
    )

    it.effect("poll it once", () =>
      Effect.gen(function* () {
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const { callId } = yield* begun({ watchAt: yield* clock.now })
        const take = Effect.map(store.takeWatched(10, 60_000), (calls) => calls.map((call) => call.callId))
        const answers = yield* overlapping(capabilities, { first: take, second: take, firstEnds: "committed" })
        assert.deepStrictEqual(answers, [[callId], []])
      })
    )

    const passing = needing(capabilities.concurrentTransactions, "skip calls that another one has locked")
    it.effect.skipIf(passing.missing)(passing.name, () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const store = yield* Sample.unwatched
        const clock = yield* StoreClock
        const { begun } = yield* Sample.caller
        const watchAt = yield* clock.now
        const [held, other] = [yield* begun({ watchAt }), yield* begun({ watchAt })]
        const [changed, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const holder = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* store.update({ ...held, state: "ringing" })
              yield* Deferred.succeed(changed, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(changed)
        const taken = yield* store.takeWatched(10, 60_000)
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(holder)
        assert.deepStrictEqual(
          taken.map(({ callId }) => callId),
          [other.callId]
        )
      })
    )

    it.effect("add turns to it in order, without a gap for one that was rolled back", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered } = yield* Sample.caller
        for (const firstEnds of ENDS) {
          const { callId } = yield* answered()
          const [, second] = yield* overlapping(capabilities, {
            first: store.addTurn(callId, Sample.said("Hi")),
            second: store.addTurn(callId, Sample.said("Hello", "agent")),
            firstEnds
          })
          assert.strictEqual(second.index, firstEnds === "committed" ? 1 : 0)
          const texts = (yield* store.turns(callId)).map(({ text }) => text)
          assert.deepStrictEqual(texts, firstEnds === "committed" ? ["Hi", "Hello"] : ["Hello"])
        }
      })
    )
  })
}
