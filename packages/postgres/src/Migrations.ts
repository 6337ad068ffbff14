import { Effect, Schedule } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { buildIndexes, type ConcurrentIndex } from "./ConcurrentIndexes.ts"
import { fromSqlError } from "./DatabaseFailure.ts"
import { createTenants } from "./migration/0001_tenants.ts"
import { createEvents } from "./migration/0002_events.ts"
import { createPayments } from "./migration/0003_payments.ts"
import { createEmail } from "./migration/0004_email.ts"
import { createCompletion } from "./migration/0005_completion.ts"
import { createGas } from "./migration/0006_gas.ts"
import { createJobs } from "./migration/0007_jobs.ts"
import { createPhone } from "./migration/0008_phone.ts"
import { createRateLimits } from "./migration/0009_rate_limits.ts"
import { createQuotas } from "./migration/0010_quotas.ts"
import { createMailPieces } from "./migration/0011_mail_pieces.ts"
import { addCallExtensions } from "./migration/0012_call_extensions.ts"
import { createDeletedAgents } from "./migration/0013_deleted_agents.ts"
import { createSignIns } from "./migration/0014_sign_ins.ts"
import { createSentAttachments } from "./migration/0015_sent_attachments.ts"
import { createDeclinedCalls } from "./migration/0016_declined_calls.ts"
import { createMailReports } from "./migration/0017_mail_reports.ts"
import { createEventWebhooks } from "./migration/0018_event_webhooks.ts"
import { createAgentSessions } from "./migration/0019_agent_sessions.ts"
import { createMailSearch } from "./migration/0020_mail_search.ts"
import { addSenderPolicies } from "./migration/0021_sender_policies.ts"
import { createMessageRetries } from "./migration/0022_message_retries.ts"
import { addReceipts } from "./migration/0023_receipts.ts"
import { addTokenTrust } from "./migration/0024_token_trust.ts"
import { createMailFeedback } from "./migration/0025_mail_feedback.ts"
import { addWebhookStanding } from "./migration/0026_webhook_standing.ts"
import { addRelayOwners } from "./migration/0027_relay_owners.ts"
import { createFreeSpaceCheck } from "./migration/0030_free_space.ts"
import { callsListed } from "./migration/CallsListed.ts"
import { callsOutbound } from "./migration/CallsOutbound.ts"
import { eventsExpiring } from "./migration/EventsExpiring.ts"
import { inboundMailsCompleted } from "./migration/InboundMailsCompleted.ts"
import { messagesSearch, messagesUnsearchable } from "./migration/MessagesSearch.ts"
import { suppressionsListed } from "./migration/SuppressionsListed.ts"

/** In the order in which they run. Each runs once, and never changes after its release. */
const migrations = Migrator.fromRecord({
  "0001_tenants": createTenants,
  "0002_events": createEvents,
  "0003_payments": createPayments,
  "0004_email": createEmail,
  "0005_completion": createCompletion,
  "0006_gas": createGas,
  "0007_jobs": createJobs,
  "0008_phone": createPhone,
  "0009_rate_limits": createRateLimits,
  "0010_quotas": createQuotas,
  "0011_mail_pieces": createMailPieces,
  "0012_call_extensions": addCallExtensions,
  "0013_deleted_agents": createDeletedAgents,
  "0014_sign_ins": createSignIns,
  "0015_sent_attachments": createSentAttachments,
  "0016_declined_calls": createDeclinedCalls,
  "0017_mail_reports": createMailReports,
  "0018_event_webhooks": createEventWebhooks,
  "0019_agent_sessions": createAgentSessions,
  "0020_mail_search": createMailSearch,
  "0021_sender_policies": addSenderPolicies,
  "0022_message_retries": createMessageRetries,
  "0023_receipts": addReceipts,
  "0024_token_trust": addTokenTrust,
  "0025_mail_feedback": createMailFeedback,
  "0026_webhook_standing": addWebhookStanding,
  "0027_relay_owners": addRelayOwners,
  "0030_free_space": createFreeSpaceCheck
})

/** Indexes that are added to existing tables, built after the migrations. */
const indexes: ReadonlyArray<ConcurrentIndex> = [
  eventsExpiring,
  inboundMailsCompleted,
  callsOutbound,
  ...callsListed,
  messagesUnsearchable,
  messagesSearch,
  suppressionsListed
]

/** The table that records which migrations ran. */
const TABLE = "agentos_migrations"

/** Every table that a server reads and changes, apart from the migrator's. */
export const TABLES: ReadonlyArray<string> = [
  "agent_sessions",
  "call_grants",
  "call_turns",
  "calls",
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
  "jobs",
  "ledger_entries",
  "local_parts",
  "mail_feedback",
  "mail_reports",
  "mail_sending",
  "mailboxes",
  "message_retries",
  "messages",
  "operations",
  "phone_numbers",
  "rate_limits",
  "sent_attachment_pieces",
  "sent_attachments",
  "server_messages",
  "sign_ins",
  "suppressions",
  "tenants"
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
const isHeldUp = (error: Migrator.MigrationError | SqlError.SqlError): boolean => {
  const cause = error._tag === "MigrationError" ? error.cause : error
  const code = SqlError.isSqlError(cause) ? fromSqlError(cause).code : undefined
  return code === "55P03" || code === "40P01"
}

const nameOf = ([id, name]: readonly [id: number, name: string, ...rest: ReadonlyArray<unknown>]): string =>
  `${String(id).padStart(4, "0")}_${name}`

/** Runs all migrations or none. Returns the names of those that ran; undefined if another server is running them. */
const runMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      const [lock] = yield* sql<{ readonly taken: boolean }>`
        select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as taken`
      if (lock?.taken !== true) return undefined
      // A migration may run longer than any other statement, but must not wait long for a lock.
      yield* sql`set local statement_timeout = 0`
      yield* sql`set local lock_timeout = ${sql.literal(`'${LOCK_TIMEOUT}'`)}`
      // If the migrator can't create its table, it asks the failed transaction whether the table exists, and reports that.
      const [table] = yield* sql<{ readonly exists: boolean }>`select to_regclass(${TABLE}) is not null as exists`
      if (table?.exists !== true)
        yield* sql`create table ${sql(TABLE)} (
          migration_id integer primary key,
          created_at timestamptz not null default now(),
          name text not null
        )`
      const run = yield* Migrator.make({})({ loader: migrations, table: TABLE })
      return run.map(nameOf)
    })
  )
})

/**
 * Migrates the database to the current schema while older servers use it. Servers that start at the same time
 * wait for the first of them, and then have nothing left to do.
 *
 * The numbered migrations run in one transaction: all of them or none. They lock a table only for as long as
 * they run, and wait at most 1 second for a lock before they retry. Indexes on tables that are in use are built
 * afterwards. Returns the names of the migrations that ran and of the indexes that were built.
 */
export const migrate: Effect.Effect<
  ReadonlyArray<string>,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = runMigrations.pipe(
  Effect.tapError((error) =>
    isHeldUp(error)
      ? Effect.logWarning(`a migration waits for a table that is in use; retrying: ${error.message}`)
      : Effect.void
  ),
  Effect.retry({ while: isHeldUp, times: LOCK_RETRIES, schedule: Schedule.spaced(RETRY_AFTER) }),
  Effect.repeat({ until: (run) => run !== undefined, schedule: Schedule.spaced(LOOK_EVERY) }),
  Effect.zipWith(buildIndexes(indexes), (run = [], built) => [...run, ...built])
)

/** The migrations of a database, compared with those of this program. */
export interface SchemaState {
  /** The migrations and indexes that `migrate` would run and build. */
  readonly pending: ReadonlyArray<string>
  /** The migrations of a newer program. */
  readonly newer: ReadonlyArray<string>
}

/** The state of a database that does not exist yet. */
export const emptyState: Effect.Effect<SchemaState> = Effect.map(Effect.orDie(migrations), (known) => ({
  pending: [...known.map(nameOf), ...indexes.map(indexName)],
  newer: []
}))

/** Compares the migrations of the database with those of this program. Changes nothing. */
export const schemaState: Effect.Effect<SchemaState, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [table] = yield* sql<{ readonly exists: boolean }>`select to_regclass(${TABLE}) is not null as exists`
    const run =
      table?.exists === true
        ? yield* sql<{ readonly id: number; readonly name: string }>`
          select migration_id as id, name from ${sql(TABLE)} order by migration_id`
        : []
    const known = yield* migrations
    const [lastRun, lastKnown] = [run.at(-1)?.id ?? 0, known.at(-1)?.[0] ?? 0]
    const missing = yield* Effect.filter(indexes, ({ name }) => Effect.map(isBuilt(name), (built) => !built))
    return {
      pending: [...known.filter(([id]) => id > lastRun).map(nameOf), ...missing.map(indexName)],
      newer: run.filter(({ id }) => id > lastKnown).map(({ id, name }) => nameOf([id, name]))
    }
  })

const indexName = ({ name }: ConcurrentIndex): string => `index ${name}`

const isBuilt = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select 1 from pg_index where indexrelid = to_regclass(${name}) and indisvalid`
  return rows.length > 0
})
