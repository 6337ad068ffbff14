import { Effect } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"

interface SettingRow {
  readonly name: string
}

/**
 * Which settings of the database let it lose what it has confirmed when its machine loses power: each as `name off`.
 * Those of the write-ahead log that may do so (PostgreSQL manual, "Write Ahead Log").
 */
export const durabilityRisks: Effect.Effect<ReadonlyArray<string>, never, Database> = Effect.gen(function* () {
  const { sql } = yield* Database
  const rows = yield* orDie(sql<SettingRow>`
    select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`)
  return rows.map(({ name }) => `${name} off`)
})
