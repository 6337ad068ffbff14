import { Transactor } from "@agentos/core"
import { Database, DatabaseUnsuitable, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Array, Deferred, Effect, Layer, Redacted } from "effect"
import { hasPgBouncer, startPgBouncer } from "./support/startPgBouncer.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

const POOL = 2
/** Connections of a server with that pool. */
const CONNECTIONS = 6

/** Opens a database through PgBouncer with these settings. */
const through = Effect.fnUntraced(function* (settings: Readonly<Record<string, string | number>>) {
  const { url } = yield* TestPostgres
  const at = new URL(Redacted.value(url))
  at.port = String(yield* startPgBouncer(Number(at.port), settings))
  return layerPostgres({ url: Redacted.make(at.href), maxConnections: POOL })
})

const refused = (settings: Readonly<Record<string, string | number>>) =>
  Effect.scoped(
    Effect.map(Effect.flip(Effect.flatMap(through(settings), Layer.build)), (error) => {
      assert.instanceOf(error, DatabaseUnsuitable)
      return error.message
    })
  )

const ALL_SETTINGS =
  "enable_seqscan,enable_bitmapscan,jit,default_transaction_isolation,statement_timeout,idle_in_transaction_session_timeout,lock_timeout,idle_session_timeout,plan_cache_mode"

layer(TestPostgres.layer(), { excludeTestServices: true })(
  "a database behind PgBouncer (skipped without Debian's package pgbouncer)",
  (it) => {
    const test = hasPgBouncer ? it.effect : it.effect.skip

    test("is refused in transaction mode, whichever connection it hands out first", () =>
      Effect.gen(function* () {
        for (const server_round_robin of [0, 1])
          for (const ignore_startup_parameters of ["", ALL_SETTINGS]) {
            const settings = { pool_mode: "transaction", default_pool_size: 20, server_round_robin }
            assert.match(
              yield* refused({ ...settings, ...(ignore_startup_parameters && { ignore_startup_parameters }) }),
              /gives each transaction another session \(transaction mode\)\. Use its session mode/
            )
          }
      }))

    test("is refused if it has fewer connections than the server opens", () =>
      Effect.gen(function* () {
        assert.match(
          yield* refused({ pool_mode: "session", default_pool_size: CONNECTIONS - 1 }),
          /the server needs 6 connections, and not all could be opened: one had no answer in time/
        )
      }))

    for (const ignore_startup_parameters of ["", ALL_SETTINGS])
      test(`serves in session mode that ${ignore_startup_parameters === "" ? "refuses" : "drops"} the settings of a session`, () =>
        Effect.gen(function* () {
          const ignored = ignore_startup_parameters && { ignore_startup_parameters }
          const database = yield* through({ pool_mode: "session", default_pool_size: CONNECTIONS, ...ignored })
          yield* Effect.gen(function* () {
            const { announcements, delivery, sql } = yield* Database
            const { ready } = yield* Transactor
            assert.isTrue(yield* ready)
            const rows = yield* Effect.forEach(
              [sql, delivery],
              (client) => client`
            select current_setting('statement_timeout') as timeout, current_setting('plan_cache_mode') as plans`
            )
            assert.deepStrictEqual(rows, [
              [{ timeout: "10s", plans: "auto" }],
              [{ timeout: "10s", plans: "force_generic_plan" }]
            ])
            const woken = yield* Deferred.make<void>()
            yield* announcements.listenMessages("a", () => Deferred.doneUnsafe(woken, Effect.void))
            yield* sql`select pg_notify('agentos_messages', 'a')`
            yield* Deferred.await(woken)
            // As many at a time as the pool allows.
            yield* Effect.forEach(Array.range(1, 8), () => ready, { concurrency: "unbounded" })
          }).pipe(Effect.provide(Layer.provideMerge(Postgres.layer, database)))
        }).pipe(Effect.scoped))
  }
)

layer(TestPostgres.layer(), { excludeTestServices: true })("a URL with several hosts", (it) => {
  it.effect("leads to the first that accepts writes", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const standby = yield* Effect.provide(
        Effect.map(TestPostgres, ({ url }) => url),
        yield* Layer.build(TestPostgres.layer({ settings: { default_transaction_read_only: "on" } }))
      )
      const hostOf = (at: Redacted.Redacted) => new URL(Redacted.value(at)).host
      const hosts = `127.0.0.1:9,${hostOf(standby)},${hostOf(url)}`
      const rows = yield* Effect.provide(
        Effect.flatMap(Database, ({ sql }) => sql`select inet_server_port() as port`),
        layerPostgres({ url: Redacted.make(`postgres://postgres@${hosts}/postgres`) })
      )
      assert.deepStrictEqual(rows, [{ port: Number(hostOf(url).split(":")[1]) }])

      const only = Redacted.make(`postgres://postgres@127.0.0.1:9,${hostOf(standby)}/postgres`)
      const error = yield* Effect.flip(Layer.build(layerPostgres({ url: only })))
      assert.match(error.message, /ECONNREFUSED/)
    }).pipe(Effect.scoped)
  )
})
