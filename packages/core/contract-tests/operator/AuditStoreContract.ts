import { type AuditRecord, AuditStore, Timestamp, Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"

const AT = Timestamp.fromMillis(1_800_000_000_000)

const recordOf = (changes: Partial<AuditRecord> = {}) =>
  Effect.map(Fresh.id, (auditId): AuditRecord => ({
    auditId,
    at: AT,
    actor: "ada",
    action: "tenant.suspend",
    target: null,
    reason: null,
    before: null,
    after: null,
    outcome: "succeeded",
    failure: null,
    ...changes
  }))

const recordsOf = (target: string, query: { readonly before?: string; readonly limit?: number } = {}) =>
  Effect.flatMap(AuditStore, ({ list }) => list({ target, limit: 99, ...query }))

/** The contract tests of `AuditStore`. */
export const AuditStoreContract = defineContract<AuditStore>("AuditStore", (it) => {
  it.effect("returns records as stored, newest first, in pages", () =>
    Effect.gen(function* () {
      const { append } = yield* AuditStore
      const target = yield* Fresh.id
      const full = { target, reason: "Spam", before: '{"a":1}', after: "[]", outcome: "failed", failure: "no" } as const
      const [first, second, third] = [yield* recordOf({ target }), yield* recordOf(full), yield* recordOf({ target })]
      yield* Effect.forEach([second, third, first], append)
      assert.deepStrictEqual(yield* recordsOf(target), [third, second, first])
      assert.deepStrictEqual(yield* recordsOf(target, { limit: 1 }), [third])
      assert.deepStrictEqual(yield* recordsOf(target, { before: third.auditId }), [second, first])
    })
  )

  it.effect("stores any text", () =>
    Effect.gen(function* () {
      const { append } = yield* AuditStore
      const target = yield* Fresh.id
      for (const text of AWKWARD_TEXTS) yield* append(yield* recordOf({ target, reason: text }))
      const reasons = (yield* recordsOf(target)).map(({ reason }) => reason)
      assert.deepStrictEqual(reasons, AWKWARD_TEXTS.toReversed())
    })
  )

  it.effect("filters by actor and target", () =>
    Effect.gen(function* () {
      const { append, list } = yield* AuditStore
      const [actor, target] = [yield* Fresh.id, yield* Fresh.id]
      const [one, other, neither] = [
        yield* recordOf({ actor, target }),
        yield* recordOf({ actor }),
        yield* recordOf({ target })
      ]
      yield* Effect.forEach([one, other, neither], append)
      assert.deepStrictEqual(yield* list({ actor, limit: 9 }), [other, one])
      assert.deepStrictEqual(yield* list({ actor, target, limit: 9 }), [one])
    })
  )

  it.effect("keeps the first record of an id", () =>
    Effect.gen(function* () {
      const { append } = yield* AuditStore
      const target = yield* Fresh.id
      const record = yield* recordOf({ target })
      yield* append(record)
      yield* append({ ...record, outcome: "failed", reason: "Another reason" })
      assert.deepStrictEqual(yield* recordsOf(target), [record])
    })
  )

  it.effect("undoes a record with its transaction", () =>
    Effect.gen(function* () {
      const { append } = yield* AuditStore
      const { transact } = yield* Transactor
      const target = yield* Fresh.id
      const record = yield* recordOf({ target })
      yield* Effect.flip(transact(Effect.andThen(append(record), Effect.fail("rolled back"))))
      assert.deepStrictEqual(yield* recordsOf(target), [])
    })
  )
})
