import { Effect } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"

interface SettingRow {
  readonly name: string
}

/**
 * Lists the settings, each as `name off`, with which the database may lose committed data when its machine
 * loses power. It checks those of the write-ahead log that can cause this (PostgreSQL manual, "Write Ahead
 * Log").
 */
export const durabilityRisks: Effect.Effect<ReadonlyArray<string>, never, Database> = Effect.gen(function* () {
  const { sql } = yield* Database
  const rows = yield* orDie(sql<SettingRow>`
    select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`)
  return rows.map(({ name }) => `${name} off`)
})
