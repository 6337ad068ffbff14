import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The newest version with which the tests ran. */
const MAJOR_TRIED = 18

/** A setting of a database that serves, but may lose committed data or was not tried. */
export interface DatabaseRisk {
  readonly problem: string
  readonly fix: string
}

interface Row {
  readonly off: ReadonlyArray<string>
  readonly version: string
  readonly major: number
  readonly loses_commits: boolean
}

/**
 * Reads what an operator should know of a server that can serve: settings of the write-ahead log with which it may lose
 * committed data when its machine loses power (PostgreSQL manual, "Write Ahead Log"), a standby that commits do not wait for,
 * and a version that is newer than those of the tests.
 */
export const readRisks: Effect.Effect<ReadonlyArray<DatabaseRisk>, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<Row>`
      select array(
          select name::text from pg_settings
          where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
          order by name
        ) as off,
        current_setting('server_version') as version,
        current_setting('server_version_num')::int / 10000 as major,
        (current_setting('synchronous_standby_names') = '' or current_setting('synchronous_commit') in ('off', 'local'))
          and exists (select from pg_stat_replication) as loses_commits`
    return row === undefined ? [] : risksOf(row)
  }
)

const risksOf = ({ loses_commits, major, off, version }: Row): ReadonlyArray<DatabaseRisk> => [
  ...(off.length === 0
    ? []
    : [
        {
          problem:
            `the database runs with ${off.map((name) => `${name} off`).join(", ")}: committed data, payments included, can be ` +
            "lost when its machine loses power",
          fix: "Turn these settings on in postgresql.conf, or for the role and database of this server."
        }
      ]),
  ...(loses_commits
    ? [
        {
          problem:
            "a standby follows the database, and commits do not wait for it (synchronous_standby_names, synchronous_commit): " +
            "a fail-over loses the last of them, payments included",
          fix: "Name the standbys in synchronous_standby_names, or run agentos-server ledger after each fail-over."
        }
      ]
    : []),
  ...(major <= MAJOR_TRIED
    ? []
    : [
        {
          problem: `PostgreSQL ${version} is newer than ${MAJOR_TRIED}, the newest version that was tried`,
          fix: `Use PostgreSQL 14 to ${MAJOR_TRIED}.`
        }
      ])
]
