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

      it.effect("lets an older record be deleted", () =>
        Effect.gen(function* () {
          const { append, list } = yield* AuditStore
          const { sql } = yield* Database
          const recent = yield* record
          const old = { ...recent, at: Timestamp.add(recent.at, -366 * Timestamp.DAY) }
          yield* append(old)
          yield* sql`delete from audit_records where target = ${recent.auditId}`
          assert.deepStrictEqual(yield* list({ target: recent.auditId, limit: 9 }), [])
        })
      )
    })
  })
}
