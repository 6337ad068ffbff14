import { CallStore, type DeclinedCalls, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./CallSample.ts"

/** Long before the windows of other tests end. */
const PAST = Timestamp.Timestamp.make(1_000_000)

const record = Effect.gen(function* () {
  const { number } = yield* Sample.caller
  const declined: DeclinedCalls = {
    tenantId: number.tenantId,
    phoneNumberId: number.phoneNumberId,
    caller: "+14155550150",
    count: 3,
    providerCallId: yield* Fresh.word,
    declinedAt: Timestamp.Timestamp.make(1_775_000_000_123),
    dueAt: Timestamp.Timestamp.make(1_775_000_060_000)
  }
  return declined
})

/** Tests of the records of declined calls. */
export const declinedTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("declined calls", () => {
    it.effect("are stored once for each caller of a number, and forgotten one by one", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const first = yield* record
        const other = yield* record
        const { phoneNumberId } = first
        assert.deepStrictEqual(yield* store.declinedOf(phoneNumberId), [])
        yield* store.putDeclined({ ...first, count: 1, providerCallId: yield* Fresh.word })
        yield* store.putDeclined(first)
        yield* store.putDeclined(other)
        const second = { ...first, caller: "+14155550151" }
        yield* store.putDeclined(second)
        assert.sameDeepMembers([...(yield* store.declinedOf(phoneNumberId))], [first, second])
        yield* store.forgetDeclined(first)
        yield* store.forgetDeclined(first)
        assert.deepStrictEqual(yield* store.declinedOf(phoneNumberId), [second])
        assert.deepStrictEqual(yield* store.declinedOf(other.phoneNumberId), [other])
      })
    )

    it.effect("keep every text exactly", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const first = yield* record
        for (const text of AWKWARD_TEXTS) {
          yield* store.putDeclined({ ...first, caller: text, providerCallId: text })
          const known = yield* store.declinedOf(first.phoneNumberId)
          assert.deepInclude(
            known.find(({ caller }) => caller === text),
            { providerCallId: text }
          )
        }
      })
    )

    it.effect("are due at the end of their window, the earliest first, and at most `limit` at once", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const due = Effect.fnUntraced(function* (millis: number) {
          const one = { ...(yield* record), dueAt: Timestamp.add(PAST, millis) }
          yield* store.putDeclined(one)
          return one
        })
        const [third, first, second] = [yield* due(30), yield* due(10), yield* due(20)]
        const keys = (...records: ReadonlyArray<DeclinedCalls>) =>
          records.map(({ caller, phoneNumberId, tenantId }) => ({ tenantId, phoneNumberId, caller }))
        assert.deepStrictEqual(yield* store.dueDeclined(Timestamp.add(PAST, 9), 10), [])
        assert.deepStrictEqual(yield* store.dueDeclined(Timestamp.add(PAST, 20), 10), keys(first, second))
        assert.deepStrictEqual(yield* store.dueDeclined(Timestamp.add(PAST, 90), 2), keys(first, second))
        yield* store.forgetDeclined(first)
        yield* store.putDeclined({ ...second, dueAt: Timestamp.add(PAST, 40) })
        assert.deepStrictEqual(yield* store.dueDeclined(Timestamp.add(PAST, 90), 10), keys(third, second))
        yield* Effect.forEach([second, third], store.forgetDeclined)
      })
    )

    it.effect("stay as they were if the transaction fails", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const first = yield* record
        yield* store.putDeclined(first)
        yield* rolledBack(store.putDeclined({ ...first, count: 9 }))
        yield* rolledBack(store.forgetDeclined(first))
        assert.deepStrictEqual(yield* store.declinedOf(first.phoneNumberId), [first])
      })
    )
  })
}
