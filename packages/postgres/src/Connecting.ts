import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { SqlError } from "effect/sql"
import type { ConnectionTarget, DatabaseHost } from "./ConnectionUrl.ts"

/** The configuration of a pool or connection, with the function that opens one. */
export type Connecting = PgConnection.Config & {
  /** Opens a connection with this configuration, to which a pool adds its own. */
  readonly open: (config: PgConnection.Config) => Opened
}

type Opened = Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>

/** How settings reach a session. */
export type SettingsIn =
  /** In the packet that opens the connection. */
  | "startup"
  /** In a statement after that, since a connection pooler refuses or drops them. */
  | "statement"

/** A kind of connection. Its name follows the application's. */
interface ConnectionKind {
  readonly name?: string
  readonly settings?: Readonly<Record<string, string>>
  readonly answerTimeout?: number
}

export type ConnectionOf = (kind: ConnectionKind) => Connecting

/** How a session is opened. */
export interface SessionOptions {
  readonly target: ConnectionTarget
  readonly config: PgConnection.Config
  readonly settings: Readonly<Record<string, string>>
  readonly settingsIn: SettingsIn
}

/** For optional TLS (`prefer`): a checked certificate would protect against no attacker, and libpq checks none. */
const UNCHECKED_TLS = { rejectUnauthorized: false }
const REFUSED_TLS = "PgConnection: Server refused TLS"

/** Opens a connection with TLS if the server offers it. */
const openPreferring = (config: PgConnection.Config): Opened =>
  Effect.catchIf(
    PgConnection.make({ ...config, ssl: UNCHECKED_TLS }),
    ({ reason }) => reason.message === REFUSED_TLS,
    () => PgConnection.make({ ...config, ssl: false })
  )

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const cannotWrite = ({ host, port }: DatabaseHost): SqlError.SqlError => {
  const message = `${host}:${port} accepts no writes`
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ message, cause: new Error(message) }) })
}

/** Closes at once what an effect opened before it failed; otherwise the caller's scope does. */
const closedIfFailed = <A, E>(open: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    return yield* Effect.onError(Scope.provide(open, scope), (cause) => Scope.close(scope, Exit.failCause(cause)))
  })

/** Adds to a configuration how its connections are opened: to the first host that answers, with the settings of the session. */
export const connecting = ({ config, settings, settingsIn, target }: SessionOptions): Connecting => {
  const { ssl, ...driver } = target.driver
  const base: PgConnection.Config = {
    ...driver,
    ssl,
    ...config,
    ...(settingsIn === "startup" && { startupParameters: settings })
  }
  const openOne = target.prefersTls ? openPreferring : PgConnection.make
  const values = Object.entries(settings).map(([name, value]) => `(${quoted(name)}, ${quoted(value)})`)
  // A server that is too old lacks some. It is refused by its version.
  const set = `select set_config(name, value, false) from (values ${values.join(", ")}) as wanted (name, value)
    where name in (select name from pg_settings)`
  const openAt = (config: PgConnection.Config, at: DatabaseHost): Opened =>
    closedIfFailed(
      Effect.tap(openOne({ ...config, ...at }), (connection) =>
        Effect.gen(function* () {
          if (settingsIn === "statement") yield* connection.query(set, [], false)
          if (target.hosts.length === 1 || !target.needsWrites) return
          const { rows } = yield* connection.query("show transaction_read_only", [], false)
          if (rows[0]?.transaction_read_only !== "off") return yield* Effect.fail(cannotWrite(at))
        })
      )
    )
  return {
    ...base,
    ...target.hosts[0],
    // The reason of the first host is the one to report, unless it is a standby and another one is the problem.
    open: (config) =>
      target.hosts
        .map((host) => openAt(config, host))
        .reduce((before, open) =>
          Effect.catch(before, (error) => Effect.catch(open, (last) => Effect.fail(prefer(error, last))))
        )
  }
}

export const connect = (connecting: Connecting): Opened => connecting.open(connecting)

/** Chooses the error that says more: a host that can't be reached may be the one that accepts writes. */
const prefer = (first: SqlError.SqlError, last: SqlError.SqlError): SqlError.SqlError =>
  first.reason.message.endsWith("accepts no writes") ? last : first
