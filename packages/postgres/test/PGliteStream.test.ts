import { PgConnection } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { PGliteEngine } from "../src/PGliteEngine.ts"
import { openPGliteStream } from "../src/PGliteStream.ts"

class Embedded extends Context.Service<Embedded, PGliteEngine>()("@agentos/postgres/test/Embedded") {
  static readonly layer = Layer.effect(
    Embedded,
    Effect.acquireRelease(
      Effect.sync(() => new PGliteEngine({ directory: undefined, start: () => PGlite.create() })),
      (engine) => Effect.promise(() => engine.close())
    )
  )
}

const connect = Effect.flatMap(Embedded, (engine) =>
  PgConnection.make({
    stream: () => openPGliteStream(engine),
    ssl: false,
    username: "postgres",
    connectTimeout: "1 minute"
  })
)

const rowsOf = (connection: PgConnection.PgConnection, text: string, parameters?: ReadonlyArray<unknown>) =>
  Effect.map(connection.query(text, parameters), ({ rows }) => rows)

layer(Embedded.layer, { excludeTestServices: true })("a connection to an embedded database", (it) => {
  it.effect("starts without the session state that an earlier one left", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* connect
          yield* connection.query("create table left_behind (n integer)")
          yield* connection.query("set statement_timeout = 12345")
          yield* connection.query("begin")
          yield* connection.query("insert into left_behind values ($1)", [1])
        })
      )
      const connection = yield* connect
      assert.deepStrictEqual(yield* rowsOf(connection, "select n from left_behind"), [])
      assert.deepStrictEqual(yield* rowsOf(connection, "show statement_timeout"), [{ statement_timeout: "0" }])
      const statements = yield* rowsOf(connection, "select statement from pg_prepared_statements")
      assert.isFalse(statements.some(({ statement }) => String(statement).includes("insert")))
    })
  )

  it.effect("keeps working after an error, even in the middle of a transaction", () =>
    Effect.gen(function* () {
      const connection = yield* connect
      const error = yield* Effect.flip(connection.query("select 1 / $1::integer", [0]))
      assert.strictEqual(error.message, "PgConnection: Query failed")
      yield* connection.query("begin")
      yield* Effect.flip(connection.query("select * from nothing"))
      const { command } = yield* connection.query("commit")
      assert.strictEqual(command, "ROLLBACK")
      assert.deepStrictEqual(yield* rowsOf(connection, "select $1::integer as n", [7]), [{ n: 7 }])
    })
  )

  it.effect("accepts a request to cancel, which comes too late", () =>
    Effect.gen(function* () {
      const connection = yield* connect
      yield* connection.interrupt
      assert.deepStrictEqual(yield* rowsOf(connection, "select 1 as n"), [{ n: 1 }])
      const query = connection.query("select count(*) as n from generate_series(1, 100000)")
      yield* Effect.repeat(Effect.timeoutOption(query, 0), Schedule.recurs(5))
      assert.deepStrictEqual(yield* rowsOf(connection, "select 2 as n"), [{ n: 2 }])
    })
  )
})
