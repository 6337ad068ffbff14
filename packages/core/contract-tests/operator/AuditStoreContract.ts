import { type AuditRecord, AuditStore, Timestamp, Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

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

  it.effect("deletes records of that age, oldest first, and none that is younger than a year", () =>
    Effect.gen(function* () {
      const { append, list, remove } = yield* AuditStore
      const target = yield* Fresh.id
      const now = yield* (yield* StoreClock).now
      const aged = (at: Timestamp.Timestamp) => {
        const auditId = `${at
          .toString(16)
          .padStart(12, "0")
          .replace(/(.{8})/, "$1-")}-7000-8000-${target.slice(-12)}`
        return recordOf({ target, at, auditId })
      }
      const [first, second] = [
        yield* aged(Timestamp.fromMillis(1)),
        yield* aged(Timestamp.fromMillis(2 * Timestamp.DAY))
      ]
      const young = yield* aged(now)
      yield* Effect.forEach([young, first, second], append)
      assert.strictEqual(yield* remove({ age: now - Timestamp.DAY, limit: 9 }), 1)
      assert.deepStrictEqual(yield* list({ target, limit: 9 }), [young, second])
      yield* append(first)
      assert.strictEqual(yield* remove({ age: 0, limit: 1 }), 1)
      assert.strictEqual(yield* remove({ age: 0, limit: 9 }), 1)
      assert.strictEqual(yield* remove({ age: 0, limit: 9 }), 0)
      assert.deepStrictEqual(yield* list({ target, limit: 9 }), [young])
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
