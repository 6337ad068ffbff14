// Writes rows to the embedded database in the given directory until its disk is full, and prints their number. Once told
// to go, waits until the database is ready, writes another row and prints the number of rows that it has.
import { StoreUnavailable, Transactor } from "@agentos/core"
import { Database, layerPGlite, Postgres } from "@agentos/postgres"
import { Cause, Effect, Exit, Layer, Logger, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"

const [directory = "", reserve = ""] = process.argv.slice(2)
const database = layerPGlite({ directory, ...(reserve !== "" && { diskReserveBytes: Number(reserve) }) })
const print = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))

const program = Effect.gen(function* () {
  const { sql } = yield* Database
  const { ready, transact } = yield* Transactor
  yield* transact(Effect.orDie(sql`create table pages (content bytea)`))
  const write = Effect.suspend(() => transact(Effect.orDie(sql`insert into pages values (${randomBytes(20_000)})`)))
  let written = 0
  while (true) {
    const exit = yield* Effect.exit(write)
    if (Exit.isFailure(exit)) {
      const reason = Cause.squash(exit.cause)
      yield* print(`${written} ${String(reason instanceof StoreUnavailable)} ${String(yield* ready)}`)
      break
    }
    written++
  }
  yield* Effect.promise(() => once(process.stdin, "data"))
  const isReady = Effect.flatMap(ready, (now) => (now ? Effect.void : Effect.fail("unready")))
  yield* Effect.retry(isReady, Schedule.spaced("50 millis"))
  yield* write
  const rows = yield* sql<{ readonly count: number }>`select count(*)::int as count from pages`
  yield* print(String(rows[0]?.count))
  process.stdin.destroy()
})

// The default log writes to standard output, too.
const services = Layer.provideMerge(Postgres.layer, Layer.provideMerge(database, Logger.layer([])))
await Effect.runPromise(Effect.provide(program, services))
