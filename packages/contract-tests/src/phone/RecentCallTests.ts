import { CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Calls from "./CallSample.ts"
import * as Numbers from "./PhoneNumberSample.ts"

/** Tests of `recent`. */
export const recentCallTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("recent", () => {
    it.effect("returns a tenant's outbound calls of all its numbers since a moment, newest first, up to a limit", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number: one, tenant } = yield* Numbers.owner
        const two = yield* Numbers.stored(tenant)
        const { number: foreign } = yield* Numbers.owner
        const at = (n: number) => ({ createdAt: Timestamp.Timestamp.make(1_700_000_000_000 + n) })
        const placed = yield* Effect.forEach(Array.range(1, 5), (n) => Calls.stored(n % 2 === 0 ? one : two, at(n)))
        yield* Calls.stored(one, { ...at(9), direction: "inbound" })
        yield* Calls.stored(foreign, at(9))
        const ids = placed.map(({ callId }) => callId).toReversed()
        const recent = (since: number, limit: number) =>
          Effect.map(store.recent(tenant.tenantId, at(since).createdAt, limit), (found) =>
            found.map(({ callId }) => callId)
          )
        assert.deepStrictEqual(yield* recent(0, 10), ids)
        assert.deepStrictEqual(yield* recent(3, 10), ids.slice(0, 3))
        assert.deepStrictEqual(yield* recent(0, 2), ids.slice(0, 2))
        assert.deepStrictEqual(yield* recent(6, 10), [])
        assert.deepStrictEqual(yield* store.recent(yield* Fresh.id, at(0).createdAt, 10), [])
      })
    )
  })
}
