import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startPostgres } from "./Postgres.ts"

/**
 * Runs the sandbox's PostgreSQL under a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_POSTGRES: see `PostgresOptions`. Once it accepts connections, one line of
 * JSON on stdout says so; `pid` is the postmaster's. What it logs goes to stderr.
 *
 * Ends, and the database with it, on SIGTERM, on SIGINT, or when stdin closes; with exit code 1 when the database dies.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({
    root: Schema.NonEmptyString,
    home: Schema.NonEmptyString,
    port: Schema.Int,
    user: Schema.NonEmptyString,
    password: Schema.NonEmptyString
  })
)

const stopping = new AbortController()
const stop = stopRequested().then(() => stopping.abort())
const configuration = Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_POSTGRES"])
const log = (text: string) => void process.stderr.write(text)
const postgres = await startPostgres(configuration, log, stopping.signal).catch((error: unknown) => {
  if (!stopping.signal.aborted) console.error(error)
  process.exit(stopping.signal.aborted ? 0 : 1)
})
console.log(JSON.stringify({ ready: "postgres", pid: postgres.pid, port: configuration.port }))

const ended = await Promise.race([stop.then(() => undefined), postgres.exited])
if (ended === undefined) await postgres.stop()
else console.error(`PostgreSQL has died (exit code ${ended.code}, signal ${ended.signal})`)
process.exit(ended === undefined ? 0 : 1)
