import { EventStore, InboundMailStore, TenantStore, Timestamp, Transactor, Uuid, walletAddress } from "@agentos/core"
import { Database, layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, describe, it, layer } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fromSqlError } from "../src/DatabaseFailure.ts"
import { copyDatabase } from "./support/copyDatabase.ts"
import { startProgram, temporaryDirectory } from "./support/Program.ts"
import { layerTestPostgres, TestPostgres } from "./support/TestPostgres.ts"

const SECONDS = 1_000
/** The names of all migrations, in the order in which they run. */
const MIGRATIONS = readdirSync(new URL("../src/migration/", import.meta.url))
  .toSorted()
  .flatMap((file) => /^\d{4}_(\w+)\.ts$/.exec(file)?.slice(1) ?? [])

const migrationsRun = Effect.gen(function* () {
  const { sql } = yield* Database
  const rows = yield* sql<{ readonly name: string }>`select name from agentos_migrations order by migration_id`
  return rows.map(({ name }) => name)
})

const candidate = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  return { tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now }
})

layer(TestPostgres.layer(), { excludeTestServices: true })("a database on PostgreSQL", (it) => {
  const open = Effect.map(TestPostgres, ({ url }) => layerPostgres({ url, maxConnections: 2 }))

  it.effect("is migrated once, even if several servers start together, and again on a later start", () =>
    Effect.gen(function* () {
      const database = yield* open
      const seen = yield* Effect.forEach(
        Array.range(1, 6),
        () => Effect.provide(migrationsRun, database, { local: true }),
        { concurrency: "unbounded" }
      )
      for (const names of seen) assert.deepStrictEqual(names, MIGRATIONS)
      assert.deepStrictEqual(yield* Effect.provide(migrationsRun, database, { local: true }), MIGRATIONS)
    })
  )

  it.effect("fails with a clear error if it can't be opened", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const closed = Redacted.make(Redacted.value(url).replace(/:\d+\//, ":9/"))
      const missing = Redacted.make(Redacted.value(url).replace(/postgres$/, "nowhere"))
      const failure = (at: Redacted.Redacted) => Effect.flip(Effect.scoped(Layer.build(layerPostgres({ url: at }))))
      const [unreachable, refused] = [yield* failure(closed), yield* failure(missing)]
      assert.match(unreachable.message, /^the database can't be reached: .*ECONNREFUSED/)
      assert.match(refused.message, /^the database refused: .*"nowhere" does not exist \(3D000\)$/)
    })
  )

  it.effect("cancels a statement that takes too long, keeps working, and names the function that refuses", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const slow = layerPostgres({ url, statementTimeout: 1_000 })
      yield* Effect.gen(function* () {
        const { sql } = yield* Database
        const error = yield* Effect.flip(sql`select pg_sleep(10)`)
        assert.strictEqual(error.reason._tag, "StatementTimeoutError")
        assert.deepStrictEqual(yield* sql`select 1 as one`, [{ one: 1 }])
        const raising = sql`do $$ begin raise exception 'no' using errcode = '42501'; end $$`
        const { message } = fromSqlError(yield* Effect.flip(raising))
        assert.match(message, /^the database refused: .*: no: PL\/pgSQL function \w+ line 1 at RAISE \(42501\)$/)
      }).pipe(Effect.provide(slow))
    })
  )
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres()), { excludeTestServices: true })(
  "a store whose connections are lost",
  (it) => {
    it.effect("reports the failed statement, is not ready, and recovers", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const tenants = yield* TenantStore
        const transactor = yield* Transactor
        assert.isTrue(yield* transactor.ready)

        const [begun, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const lost = yield* candidate
        const working = yield* Effect.forkChild(
          transactor.transact(
            Effect.andThen(
              tenants.ensure(lost),
              Effect.andThen(
                Deferred.succeed(begun, undefined),
                Effect.andThen(Deferred.await(proceed), tenants.find(lost.tenantId))
              )
            )
          )
        )
        yield* Deferred.await(begun)
        const others = layerPostgres({ url, applicationName: "another", maxConnections: 1 })
        yield* Effect.provide(
          Effect.flatMap(
            Database,
            (other) =>
              other.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'agentos'`
          ),
          others
        )
        yield* Deferred.succeed(proceed, undefined)
        const exit = yield* Fiber.await(working)
        assert.match(String(exit), /the database can't be reached/)

        const found = yield* Effect.eventually(
          Effect.catchDefect(tenants.find(lost.tenantId), () => Effect.fail("not yet"))
        )
        assert.deepStrictEqual(found, Option.none(), "what was not committed is gone")
        assert.isTrue(yield* transactor.ready)
        const next = yield* candidate
        assert.deepStrictEqual(yield* transactor.transact(tenants.ensure(next)), next)
      })
    )
  }
)

describe("a store with a single connection", () => {
  it.live("needs no second connection, inside a transaction or outside", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const stores = Layer.provide(Postgres.layer, layerPostgres({ url, maxConnections: 1 }))
      yield* Effect.gen(function* () {
        const events = yield* EventStore
        const mails = yield* InboundMailStore
        const tenants = yield* TenantStore
        const transactor = yield* Transactor
        const work = Effect.gen(function* () {
          const tenant = yield* tenants.ensure(yield* candidate)
          const draft = { type: "email.received", source: "smtp", service: "email", payload: {} } as const
          const id = yield* Uuid.next
          yield* events.append([{ ...draft, tenantId: tenant.tenantId, resourceId: id, agentId: id, dedupeKey: id }])
          yield* events.lease(tenant.tenantId, id, 1)
          yield* events.release([id], "withdrawn")
          yield* mails.complete([{ inboundMailId: id, attempts: 0 }])
        })
        yield* Effect.forEach(Array.range(1, 20), () => transactor.transact(work), { concurrency: "unbounded" })
      }).pipe(Effect.provide(stores))
    }).pipe(Effect.provide(TestPostgres.layer()))
  )
})

describe("a store on a server that has become read-only", () => {
  it.live("is not ready", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      yield* Effect.gen(function* () {
        const { sql } = yield* Database
        const { ready } = yield* Transactor
        assert.isTrue(yield* ready)
        yield* sql`set default_transaction_read_only = on`
        assert.isFalse(yield* ready)
      }).pipe(Effect.provide(Layer.provideMerge(Postgres.layer, layerPostgres({ url, maxConnections: 1 }))))
    }).pipe(Effect.provide(TestPostgres.layer()))
  )
})

describe("an embedded database", () => {
  it.live(
    "keeps committed data when its process is killed, and can then be opened by another",
    () =>
      Effect.gen(function* () {
        const directory = join(yield* temporaryDirectory, "database")
        yield* Effect.promise(() => copyDatabase(directory))
        const program = yield* startProgram("appendMain", directory)
        yield* program.lines(50)
        const refused = yield* Effect.flip(Layer.build(layerPGlite({ directory })))
        assert.strictEqual(refused._tag, "DirectoryInUse")
        yield* program.kill
        const committed = yield* program.lines(Infinity)
        assert.isAtLeast(committed.length, 50)

        const stored = yield* Effect.gen(function* () {
          const { sql } = yield* Database
          assert.deepStrictEqual(yield* migrationsRun, MIGRATIONS)
          return yield* sql<{ readonly event_id: string }>`select event_id from events order by created_at, event_id`
        }).pipe(Effect.provide(layerPGlite({ directory })))
        const ids = stored.map((row) => row.event_id)
        assert.deepStrictEqual(ids.slice(0, committed.length), committed)
        assert.isAtMost(ids.length, committed.length + 1, "one more may have been committed and not yet told")
      }),
    120 * SECONDS
  )

  it.live("fails with a clear error if its directory can't be created", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "file")
      writeFileSync(directory, "")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layerPGlite({ directory }))))
      assert.strictEqual(error._tag, "DatabaseFailure")
      assert.match(error.message, /^the embedded database can't be opened: .*EEXIST/)
    })
  )

  layer(Layer.provideMerge(Postgres.layer, layerPGlite()), { excludeTestServices: true })("in memory", (it) => {
    it.effect("stores and returns a mail of 25 MiB", () =>
      Effect.gen(function* () {
        const mails = yield* InboundMailStore
        const raw = new Uint8Array(25 * 1024 * 1024).map((_, index) => (index * 31) % 256)
        const envelope = { mailFrom: "a@b.c", rcptTo: ["d@e.f"], remoteAddress: "::1", helo: "x", secure: true }
        const inboundMailId = yield* Uuid.next
        const mail = { inboundMailId, envelope, raw, receivedAt: yield* Timestamp.now, attempts: 0 }
        yield* mails.add([{ mail, mailboxIds: [] }])
        assert.lengthOf(yield* mails.lease(1, 1_000), 1)
        const pieces = yield* Stream.runCollect(mails.readPieces(inboundMailId))
        assert.strictEqual(Buffer.compare(Buffer.concat(pieces), raw), 0)
      })
    )

    it.effect("yields to the event loop between the pieces of a large mail", () =>
      Effect.gen(function* () {
        const mails = yield* InboundMailStore
        const raw = new Uint8Array(8 * 1024 * 1024)
        const envelope = { mailFrom: "a@b.c", rcptTo: ["d@e.f"], remoteAddress: "::1", helo: "x", secure: true }
        const mail = { inboundMailId: yield* Uuid.next, envelope, raw, receivedAt: yield* Timestamp.now, attempts: 0 }
        let turns = 0
        const timer = setInterval(() => turns++, 1)
        yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
        yield* mails.stage(mail)
        // 32 pieces, each of which takes several milliseconds.
        assert.isAtLeast(turns, 16)
      })
    )

    it.effect("keeps working after a statement was interrupted, even inside a transaction", () =>
      Effect.gen(function* () {
        const { sql, transact } = yield* Database
        const one = sql<{ readonly one: number }>`select 1 as one`
        for (const statement of [one, transact(one)]) {
          const running = yield* Effect.forEach(Array.range(1, 20), () => Effect.forkChild(statement))
          yield* Effect.yieldNow
          yield* Fiber.interruptAll(running)
          assert.deepStrictEqual(yield* one, [{ one: 1 }])
        }
      })
    )
  })
})
