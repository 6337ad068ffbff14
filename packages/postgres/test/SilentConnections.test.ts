import { StoreUnavailable, Transactor } from "@agentos/core"
import { Database, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Array, Cause, Effect, Exit, Layer, Redacted, Schedule } from "effect"
import { silentForwarder } from "./support/SilentForwarder.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

/** The answer to a statement is missed two seconds after this. */
const STATEMENT_TIMEOUT = 500

/** Each waits for seconds. */
const CONCURRENT = { concurrent: true }

/** Both ends of one connection. */
const LISTENING_SOCKETS = 2

/** A forwarder to the server, which can silence connections, and the options to open the database through it. */
const forwarded = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  const at = new URL(Redacted.value(url))
  const forwarder = yield* silentForwarder(Number(at.port))
  at.host = `127.0.0.1:${forwarder.port}`
  return { forwarder, options: { url: Redacted.make(at.href), statementTimeout: STATEMENT_TIMEOUT } }
})

const isUnavailable = <A, E>(exit: Exit.Exit<A, E>): boolean =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StoreUnavailable

layer(TestPostgres.layer(), { excludeTestServices: true })("connections that fall silent", (it) => {
  it.effect(
    "are closed when an answer is missing, and replaced: transactions and readiness come back",
    () =>
      Effect.gen(function* () {
        const { forwarder, options } = yield* forwarded
        const database = layerPostgres({ ...options, maxConnections: 3 })
        yield* Effect.gen(function* () {
          const { sql } = yield* Database
          const { ready, transact } = yield* Transactor
          const write = Effect.orDie(sql`select pg_logical_emit_message(true, 'test', 'x')::text`)
          assert.isTrue(yield* ready)
          // Opens every connection of the pool.
          yield* Effect.forEach(Array.range(1, 8), () => transact(write), { concurrency: "unbounded" })

          forwarder.silence()
          const exits = yield* Effect.forEach(Array.range(1, 8), () => Effect.exit(transact(write)), {
            concurrency: "unbounded"
          })
          assert.isTrue(exits.some(isUnavailable))
          // Every connection of the pool is found out, and the pool works again.
          yield* Effect.retry(
            Effect.flatMap(ready, (isReady) => (isReady ? Effect.void : Effect.fail("unready"))),
            Schedule.spaced("50 millis")
          )
          yield* Effect.forEach(Array.range(1, 8), () => transact(write), { concurrency: "unbounded" })
        }).pipe(Effect.provide(Layer.provideMerge(Postgres.layer, database)))
      }).pipe(Effect.scoped),
    CONCURRENT
  )

  it.effect(
    "are closed while nothing uses them, so that no request finds out first",
    () =>
      Effect.gen(function* () {
        const { forwarder, options } = yield* forwarded
        const database = layerPostgres(options)
        yield* Effect.gen(function* () {
          const { sql } = yield* Database
          yield* Effect.forEach(Array.range(1, 8), () => sql.withTransaction(sql`select 1`), {
            concurrency: "unbounded"
          })
          forwarder.silence()
          assert.isAbove(forwarder.silenced.size, LISTENING_SOCKETS)
          const isClosed = Effect.suspend(() =>
            // The connection that listens is found out by its own check.
            forwarder.silenced.size <= LISTENING_SOCKETS ? Effect.void : Effect.fail("open")
          )
          yield* Effect.retry(isClosed, Schedule.spaced("50 millis"))
        }).pipe(Effect.provide(database))
      }).pipe(Effect.scoped),
    CONCURRENT
  )
})
