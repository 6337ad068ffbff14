import { Database } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fromSqlError } from "../src/DatabaseFailure.ts"
import { layerRestrictedPostgres } from "./support/TestPostgres.ts"

layer(layerRestrictedPostgres, { excludeTestServices: true })("a role that owns no table", (it) => {
  it.effect.each([
    "create table others (id int)",
    "alter table operations add column more int",
    "drop table operations",
    "truncate operations",
    "create index more on operations (operation_id)",
    "create function one() returns int language sql return 1",
    "create schema others",
    "create role other",
    "alter role agentos superuser"
  ])("may not: %s", (statement) =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const error = yield* Effect.flip(sql.unsafe(statement))
      assert.strictEqual(fromSqlError(error).code, "42501")
    })
  )
})
