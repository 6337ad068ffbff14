import { StoreUnavailable, Transactor } from "@agentos/core"
import { Database, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { startProgram } from "./support/Program.ts"
import { mountSmallDisk, NO_SMALL_DISK } from "./support/SmallDisk.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

const smallDisk = (mebibytes: number) =>
  Effect.acquireRelease(
    Effect.sync(() => mountSmallDisk(mebibytes)),
    (disk) => Effect.sync(() => disk?.remove())
  )

const recovers = (name: string, mebibytes: number, reserve: string) =>
  it.live(name, ({ skip }) =>
    Effect.gen(function* () {
      const disk = yield* smallDisk(mebibytes)
      if (disk === undefined) return skip(NO_SMALL_DISK)
      const program = yield* startProgram("fillDiskMain", disk.directory, reserve)
      const [full = ""] = yield* program.lines(1)
      const [written, isUnavailable, isReady] = full.split(" ")
      assert.isAbove(Number(written), 100)
      assert.deepStrictEqual([isUnavailable, isReady], ["true", "false"])
      disk.resize(2 * mebibytes)
      yield* program.go
      const [, rows] = yield* program.lines(2)
      assert.strictEqual(Number(rows), Number(written) + 1)
    }).pipe(Effect.scoped)
  )

recovers("a disk without room for a statement makes the embedded database unavailable until it has room", 200, "")

// A quota that the disk does not report, for example.
recovers("an embedded database that panics on a full disk recovers the committed data, once there is room", 90, "0")

it.live("a PostgreSQL server whose disk is full is not ready, although a small commit succeeds", ({ skip }) =>
  Effect.gen(function* () {
    const disk = yield* smallDisk(200)
    if (disk === undefined) return skip(NO_SMALL_DISK)
    const database = Layer.unwrap(Effect.map(TestPostgres, ({ url }) => layerPostgres({ url }))).pipe(
      Layer.provide(TestPostgres.layer({ parent: disk.directory }))
    )
    yield* Effect.gen(function* () {
      const { sql } = yield* Database
      const { ready, transact } = yield* Transactor
      yield* sql`create table pages (content text)`
      const write = transact(Effect.orDie(sql`insert into pages select repeat('x', 5000) from generate_series(1, 10)`))
      assert.isTrue(yield* ready)
      disk.fill()
      assert.isFalse(yield* ready)
      yield* sql`select pg_logical_emit_message(true, 'test', 'x')::text`
      const exit = yield* Effect.exit(write)
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StoreUnavailable)
      disk.clear()
      assert.isTrue(yield* ready)
      yield* write
    }).pipe(Effect.provide(Layer.provideMerge(Postgres.layer, database)))
  }).pipe(Effect.scoped)
)
