import { Duration, Effect, Record, Schedule, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { buildIndexes, type ConcurrentIndex, indexStatement } from "./ConcurrentIndexes.ts"
import { type DatabaseUnsuitable, fromSqlError, unsuitable } from "./DatabaseFailure.ts"
import { locksOf, statementsOf, type TableLocks } from "./MigrationSql.ts"
import { createBaseline } from "./migration/0001_baseline.ts"
import { createThreads } from "./migration/0002_threads.ts"
import { addAnsweredBy } from "./migration/0003_answered_by.ts"
import { createScheduledMessages } from "./migration/0004_scheduled_messages.ts"
import { addRefusedMails } from "./migration/0005_refused_mails.ts"
import { createSalesStops } from "./migration/0006_sales_stops.ts"
import { createClaimedTransfers } from "./migration/0007_claimed_transfers.ts"
import { addTraces } from "./migration/0008_traces.ts"
import { createOperators } from "./migration/0009_operators.ts"
import { addRemovedTurns } from "./migration/0010_removed_turns.ts"
import { addMailAttempts } from "./migration/0011_mail_attempts.ts"
import { createIncidents } from "./migration/0012_incidents.ts"
import { createRetention } from "./migration/0013_retention.ts"
import { addFailedAttempts } from "./migration/0014_failed_attempts.ts"

/** How a program creates its schema, from nothing or from that of an older program. */
export interface SchemaDefinition {
  /** By number and name, in the order in which they run. Each runs once, and never changes after its release. */
  readonly migrations: Readonly<Record<string, Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>>>
  /** Indexes that are added to existing tables, built after the migrations. */
  readonly indexes: ReadonlyArray<ConcurrentIndex>
}

/** The schema of this program. */
export const SCHEMA: SchemaDefinition = {
  migrations: {
    "0001_baseline": createBaseline,
    "0002_threads": createThreads,
    "0003_answered_by": addAnsweredBy,
    "0004_scheduled_messages": createScheduledMessages,
    "0005_refused_mails": addRefusedMails,
    "0006_sales_stops": createSalesStops,
    "0007_claimed_transfers": createClaimedTransfers,
    "0008_traces": addTraces,
    "0009_operators": createOperators,
    "0010_removed_turns": addRemovedTurns,
    "0011_mail_attempts": addMailAttempts,
    "0012_incidents": createIncidents,
    "0013_retention": createRetention,
    "0014_failed_attempts": addFailedAttempts
  },
  indexes: [
    {
      // Serves the job that adds messages to their threads: it contains only those that are in none.
      name: "messages_unthreaded",
      definition: "on messages (message_id) where threaded is null"
    },
    {
      // Serves the messages of a thread, oldest first.
      name: "messages_thread_order",
      definition: "on messages (thread_id, created_at, message_id)"
    },
    {
      // Serves the scheduled messages of a tenant.
      name: "message_retries_scheduled",
      definition: "on message_retries (tenant_id, send_at, message_id) where send_at is not null"
    },
    {
      // Serves the deletion of messages. Every message is in it: the condition is written as in no other statement, so that
      // no other statement uses it.
      name: "messages_oldest",
      definition: "on messages (created_at, message_id) where message_id <> mailbox_id"
    },
    {
      // Serves the deletion of calls.
      name: "calls_ended",
      definition: "on calls (ended_at, call_id) where ended_at is not null"
    },
    {
      // Serves the deletion of turns: a call leaves it once its turns are deleted.
      name: "calls_transcribed",
      definition: "on calls (ended_at, call_id) where ended_at is not null and turns_removed is null"
    },
    {
      // Serves the deletion of answers: an operation leaves it once its answer is deleted. Its key is written as in no other
      // index, so that a planner does not choose `operations_totals`, which every operation is in.
      name: "operations_answered",
      definition: "on operations ((created_at + 0), operation_id) where due_at is null and input <> 'null'"
    },
    {
      // Serves the deletion of calls, which their extensions refer to.
      name: "call_grants_call",
      definition: "on call_grants (call_id)"
    },
    {
      // Serves the list of tenants whose sending is paused.
      name: "mail_sending_paused",
      definition: "on mail_sending (paused_until) where paused_until is not null"
    }
  ]
}

/** The table that records which migrations ran. */
const TABLE = "agentos_migrations"
const createTable = `create table ${TABLE} (
  migration_id integer primary key,
  created_at timestamptz not null default now(),
  name text not null
)`

/** Every table that a server reads and changes, apart from the migrator's. */
export const TABLES: ReadonlyArray<string> = [
  "agent_sessions",
  "audit_records",
  "call_grants",
  "call_turns",
  "calls",
  "claimed_transfers",
  "declined_calls",
  "deleted_agents",
  "event_webhook_attempts",
  "event_webhooks",
  "events",
  "gas_transactions",
  "gas_wallets",
  "held_numbers",
  "inbound_mail_pieces",
  "inbound_mails",
  "incidents",
  "jobs",
  "ledger_entries",
  "local_parts",
  "mail_feedback",
  "mail_reports",
  "mail_sending",
  "mailboxes",
  "manual_refunds",
  "message_labels",
  "message_retries",
  "messages",
  "operations",
  "operators",
  "phone_numbers",
  "rate_limits",
  "sales_stops",
  "sent_attachment_pieces",
  "sent_attachments",
  "server_messages",
  "sign_ins",
  "suppressions",
  "tenant_retentions",
  "tenants",
  "thread_labels",
  "threads"
]

/** The number spells "agen" in ASCII, to be recognized in pg_locks. */
const ADVISORY_LOCK = 0x6167656e
/** Interval between checks whether another server has finished its migrations. */
const LOOK_EVERY = "250 millis"

/** Time limit of a migration for locking a table: sessions that request the table after it wait as long. */
const LOCK_TIMEOUT = "1s"
/** Number of retries after a lock timeout, and the delay between them, in which waiting sessions proceed. */
const LOCK_RETRIES = 100
const RETRY_AFTER = "2 seconds"

/** A table could not be locked in time (55P03), or the migration deadlocked with its holder (40P01). */
const isHeldUp = (error: Migrator.MigrationError | SqlError.SqlError | DatabaseUnsuitable): boolean => {
  const cause = error._tag === "MigrationError" ? error.cause : error
  const code = SqlError.isSqlError(cause) ? fromSqlError(cause).code : undefined
  return code === "55P03" || code === "40P01"
}

const indexName = ({ name }: ConcurrentIndex): string => `index ${name}`

/** A migration that ran, or an index that was built. */
export interface AppliedStep {
  readonly name: string
  readonly millis: number
  /** The tables that existed before it, with the strongest lock that it took on each. */
  readonly locks: TableLocks
}

type Loader = ReturnType<typeof Migrator.fromRecord>

const nameOf = ([id, name]: readonly [id: number, name: string, ...rest: ReadonlyArray<unknown>]): string =>
  `${String(id).padStart(4, "0")}_${name}`

/** Reads the migrations that ran, oldest first. */
const readRun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql<{ readonly exists: boolean }>`select to_regclass(${TABLE}) is not null as exists`
  if (table?.exists !== true) return undefined
  return yield* sql<{ readonly id: number; readonly name: string }>`
    select migration_id as id, name from ${sql(TABLE)} order by migration_id`
})

/** Refuses a database in which a migration of the same number had another name: it has tables of its own. */
const requireHistory = (
  run: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  known: ReadonlyArray<Migrator.ResolvedMigration>
): Effect.Effect<void, DatabaseUnsuitable> => {
  const names = new Map(known.map(([id, name]) => [id, name]))
  const other = run.find(({ id, name }) => (names.get(id) ?? name) !== name)
  if (other === undefined) return Effect.void
  return Effect.fail(
    unsuitable(
      `it was created by another program or by a version before the first release (its migration ${other.id} is ` +
        `${other.name}, not ${names.get(other.id)}), and cannot be upgraded`,
      "Use an empty database or data directory, or run the version that created this one."
    )
  )
}

/** Runs all migrations or none. Returns those that ran; undefined if another server is running them. */
const runMigrations = Effect.fnUntraced(function* (migrations: SchemaDefinition["migrations"]) {
  const sql = yield* SqlClient.SqlClient
  const durations = new Map<string, number>()
  const loader = Migrator.fromRecord(
    Record.map(migrations, (migration, name) =>
      Effect.tap(Effect.timed(migration), ([duration]) =>
        Effect.sync(() => durations.set(name, Duration.toMillis(duration)))
      )
    )
  )
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      const [lock] = yield* sql<{ readonly taken: boolean }>`
        select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as taken`
      if (lock?.taken !== true) return undefined
      // A migration may run longer than any other statement, but must not wait long for a lock.
      yield* sql`set local statement_timeout = 0`
      yield* sql`set local lock_timeout = ${sql.literal(`'${LOCK_TIMEOUT}'`)}`
      // If the migrator can't create its table, it asks the failed transaction whether the table exists, and reports that.
      const recorded = yield* readRun
      if (recorded === undefined) yield* sql.unsafe(createTable)
      else yield* requireHistory(recorded, yield* loader)
      const run = yield* Migrator.make({})({ loader, table: TABLE })
      return yield* Effect.forEach(run.map(nameOf), (name) =>
        Effect.map(statementsOf(migrations[name] ?? Effect.void), (statements): AppliedStep => ({
          name,
          millis: durations.get(name) ?? 0,
          locks: locksOf(statements)
        }))
      )
    })
  )
})

/**
 * Migrates the database to a schema while older servers use it. Servers that start at the same time wait for the
 * first of them, and then have nothing left to do.
 *
 * The numbered migrations run in one transaction: all of them or none. They lock a table only for as long as
 * they run, and wait at most 1 second for a lock before they retry. Indexes on tables that are in use are built
 * afterwards. Returns the migrations that ran and the indexes that were built. Fails with
 * `DatabaseUnsuitable`, and changes nothing, if the database has migrations that are not those of the schema.
 */
export const migrateTo = ({
  indexes,
  migrations
}: SchemaDefinition): Effect.Effect<
  ReadonlyArray<AppliedStep>,
  Migrator.MigrationError | SqlError.SqlError | DatabaseUnsuitable,
  SqlClient.SqlClient
> =>
  runMigrations(migrations).pipe(
    Effect.tapError((error) =>
      isHeldUp(error)
        ? Effect.logWarning(`a migration waits for a table that is in use; retrying: ${error.message}`)
        : Effect.void
    ),
    Effect.retry({ while: isHeldUp, times: LOCK_RETRIES, schedule: Schedule.spaced(RETRY_AFTER) }),
    Effect.repeat({ until: (run) => run !== undefined, schedule: Schedule.spaced(LOOK_EVERY) }),
    Effect.zipWith(buildIndexes(indexes), (run = [], built) => [
      ...run,
      ...built.map(({ index, millis }) => ({ name: indexName(index), millis, locks: locksOf([indexStatement(index)]) }))
    ])
  )

/** Migrates the database to the schema of this program. */
export const migrate = migrateTo(SCHEMA)

/** The migrations of a database, compared with those of this program. */
export interface SchemaState {
  /** The migrations and indexes that `migrate` would run and build. */
  readonly pending: ReadonlyArray<string>
  /** The migrations of a newer program. */
  readonly newer: ReadonlyArray<string>
}

const known: Loader = Migrator.fromRecord(SCHEMA.migrations)

/** The state of a database that does not exist yet. */
export const emptyState: Effect.Effect<SchemaState> = Effect.map(Effect.orDie(known), (migrations) => ({
  pending: [...migrations.map(nameOf), ...SCHEMA.indexes.map(indexName)],
  newer: []
}))

/** The database has migrations that did not run. Commands other than `start` and `migrate` do not migrate it. */
export class SchemaOutdated extends Schema.TaggedError<SchemaOutdated>()("SchemaOutdated", {
  pending: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The database has ${this.pending.length} pending migrations. Run agentos-server migrate, or start a server.`
  }
}

/**
 * Compares the migrations of the database with those of this program. Changes nothing. Fails with `DatabaseUnsuitable`
 * if they are not the same ones.
 */
export const schemaState: Effect.Effect<
  SchemaState,
  Migrator.MigrationError | SqlError.SqlError | DatabaseUnsuitable,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const run = (yield* readRun) ?? []
  const migrations = yield* known
  yield* requireHistory(run, migrations)
  const [lastRun, lastKnown] = [run.at(-1)?.id ?? 0, migrations.at(-1)?.[0] ?? 0]
  const missing = yield* Effect.filter(SCHEMA.indexes, ({ name }) => Effect.map(isBuilt(name), (built) => !built))
  return {
    pending: [...migrations.filter(([id]) => id > lastRun).map(nameOf), ...missing.map(indexName)],
    newer: run.filter(({ id }) => id > lastKnown).map(({ id, name }) => nameOf([id, name]))
  }
})

/**
 * Returns the SQL that `migrate` would run, for a person to read or to run in its place, with the locks that it takes. Ends each
 * statement as psql expects it. Changes nothing.
 */
export const sqlOf = ({ pending }: Pick<SchemaState, "pending">): Effect.Effect<string> =>
  Effect.gen(function* () {
    const names = new Set(pending)
    const migrations = Object.entries(SCHEMA.migrations).filter(([name]) => names.has(name))
    const sections = yield* Effect.forEach(migrations, ([name, migration]) =>
      Effect.map(statementsOf(migration), (statements) => [
        `-- ${name}${shownLocks(locksOf(statements))}`,
        ...statements.map(ended),
        `insert into ${TABLE} (migration_id, name) values (${Number(name.slice(0, 4))}, '${name.slice(5)}');`
      ])
    )
    const indexes = SCHEMA.indexes.filter((index) => names.has(indexName(index))).map(indexStatement)
    return [
      ...(sections.length === 0 ? [] : ["begin;", `set local lock_timeout = '${LOCK_TIMEOUT}';`]),
      ...(pending.includes(FIRST) ? [ended(createTable)] : []),
      ...sections.flat(),
      ...(sections.length === 0 ? [] : ["commit;"]),
      ...indexes.map((index) => `-- Outside a transaction${shownLocks(locksOf([index]))}\n${ended(index)}`)
    ]
      .map((part) => `${part}\n`)
      .join("\n")
  })

const [FIRST = ""] = Object.keys(SCHEMA.migrations)
const ended = (statement: string): string => `${statement};`
const shownLocks = (locks: TableLocks): string =>
  Object.entries(locks)
    .map(([table, lock]) => `, ${lock} on ${table}`)
    .join("")

const isBuilt = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select 1 from pg_index where indexrelid = to_regclass(${name}) and indisvalid`
  return rows.length > 0
})
