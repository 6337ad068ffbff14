import { Effect } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import { createTenants } from "./migration/0001_tenants.ts"
import { createEvents } from "./migration/0002_events.ts"
import { createPayments } from "./migration/0003_payments.ts"
import { createEmail } from "./migration/0004_email.ts"
import { createCompletion } from "./migration/0005_completion.ts"
import { createGas } from "./migration/0006_gas.ts"
import { createJobs } from "./migration/0007_jobs.ts"

/** In the order in which they are run, each once and never changed after it was released. */
const migrations = Migrator.fromRecord({
  "0001_tenants": createTenants,
  "0002_events": createEvents,
  "0003_payments": createPayments,
  "0004_email": createEmail,
  "0005_completion": createCompletion,
  "0006_gas": createGas,
  "0007_jobs": createJobs
})

/** The table that remembers what was run. */
const TABLE = "agentos_migrations"

/** Says "agentos" to whoever looks into pg_locks. */
const ADVISORY_LOCK = 0x6167656e

/**
 * Brings the database to the present schema, in one transaction: wholly or not
 * at all. Servers that start at one time wait for the first of them, and find
 * nothing left to do.
 */
export const migrate: Effect.Effect<void, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.withTransaction(
      Effect.gen(function* () {
        // The wait for another server's migrations, and they themselves, may take longer than any other statement.
        yield* sql`set local statement_timeout = 0`
        yield* sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`
        yield* Migrator.make({})({ loader: migrations, table: TABLE })
      })
    )
  })
