import { type AuditRecord, AuditStore, Timestamp, Uuid } from "@agentos/core"
import { Database, layerPGlite, Postgres } from "@agentos/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { fromSqlError } from "../src/DatabaseFailure.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

const record = Effect.map(Effect.all([Uuid.next, Timestamp.now]), ([auditId, at]): AuditRecord => ({
  auditId,
  at,
  actor: "ada",
  action: "tenant.suspend",
  target: auditId,
  reason: null,
  before: null,
  after: null,
  outcome: "succeeded",
  failure: null
}))

/** INSUFFICIENT_PRIVILEGE. */
const REFUSED = "42501"

for (const [name, database] of [
  ["PostgreSQL", layerTestPostgres()],
  ["PGlite", layerPGlite()]
] as const) {
  describe(`the audit on ${name}`, () => {
    layer(Layer.provideMerge(Postgres.layer, database), { excludeTestServices: true })((it) => {
      it.effect("refuses the owner of the table an update, a truncation and a deletion within a year", () =>
        Effect.gen(function* () {
          const { append, list } = yield* AuditStore
          const { sql } = yield* Database
          const kept = yield* record
          yield* append(kept)
          const changes = [
            sql`update audit_records set actor = 'eve'`,
            sql`update audit_records set actor = 'eve' where false`,
            sql`delete from audit_records`,
            sql`truncate audit_records`
          ]
          for (const change of changes) {
            const error = yield* Effect.flip(change)
            assert.isTrue(SqlError.isSqlError(error))
            assert.strictEqual(fromSqlError(error).code, REFUSED)
          }
          assert.deepStrictEqual(yield* list({ target: kept.auditId, limit: 9 }), [kept])
        })
      )

      it.effect("lets only the job delete an older record, whoever owns the table", () =>
        Effect.gen(function* () {
          const { append, list, remove } = yield* AuditStore
          const { sql } = yield* Database
          const recent = yield* record
          const at = Timestamp.add(recent.at, -366 * Timestamp.DAY)
          const auditId = `${at
            .toString(16)
            .padStart(12, "0")
            .replace(/(.{8})/, "$1-")}-7000-8000-000000000000`
          yield* append({ ...recent, at, auditId })
          yield* sql`
            create function remove_audit_records() returns void language plpgsql as $$
            begin delete from audit_records where true; end $$`
          for (const change of [
            sql`delete from audit_records where audit_id = ${auditId}::uuid`,
            sql`select remove_audit_records()`
          ]) {
            const error = yield* Effect.flip(change)
            assert.isTrue(SqlError.isSqlError(error))
            assert.strictEqual(fromSqlError(error).code, REFUSED)
          }
          assert.strictEqual(yield* remove({ age: 0, limit: 1_000 }), 1)
          assert.deepStrictEqual(yield* list({ target: recent.auditId, limit: 9 }), [])
        })
      )
    })
  })
}
