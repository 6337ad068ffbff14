import { TenantStore, Timestamp, walletAddress } from "@agentos/core"
import {
  Database,
  DatabaseUnsuitable,
  layerPGlite,
  layerPostgres,
  maintainPGlite,
  maintainPostgres,
  Postgres,
  SchemaOutdated
} from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { locksOf, statementsOf } from "../src/MigrationSql.ts"
import { SCHEMA } from "../src/Migrations.ts"
import { temporaryDirectory } from "./support/Program.ts"
import { copyEmptyDatabase } from "./support/copyDatabase.ts"
import { fileOf, RECORDED, recordMigrations, statementsUpTo } from "./support/RecordedSchema.ts"
import { describeSchema } from "./support/SchemaDescription.ts"
import { type RunningPostgres, startPostgres } from "./support/startPostgres.ts"

let postgres: RunningPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.stop())

const runOn = (url: Redacted.Redacted, statements: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.flatMap(Effect.provide(PgClient.make({ url }), Reactivity.layer), (sql) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
    )
  )

let databases = 0

/** Creates a database of the server, and runs these statements in it. */
const newDatabase = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const name = `database_${databases++}`
  yield* runOn(Redacted.make(postgres.url), [`create database ${name}`])
  const url = Redacted.make(new URL(name, postgres.url).href)
  yield* runOn(url, statements)
  return url
})

/** Opens a new database of the server, in which these statements ran before. */
const onPostgres = (statements: ReadonlyArray<string>) =>
  Effect.map(newDatabase(statements), (url) => ({
    layer: layerPostgres({ url }),
    unmigrated: layerPostgres({ url, migrates: false }),
    maintain: maintainPostgres({ url })
  }))

/** Opens an embedded database, in which these statements ran before. */
const onPGlite = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const directory = yield* temporaryDirectory
  yield* Effect.promise(async () => {
    if (statements.length === 0) return
    await copyEmptyDatabase(directory)
    const database = await PGlite.create(join(directory, "database"))
    for (const statement of statements) await database.exec(statement)
    await database.close()
  })
  return {
    layer: layerPGlite({ directory }),
    unmigrated: layerPGlite({ directory, migrates: false }),
    maintain: maintainPGlite({ directory })
  }
})

/** An upgrade runs the same statements on both, and from the oldest schema all of them. */
const DATABASES = [
  ["PostgreSQL", onPostgres, RECORDED],
  ["PGlite", onPGlite, [RECORDED[0]!, RECORDED.at(-1)!]]
] as const

const described = Effect.flatMap(Database, ({ sql }) => Effect.provideService(describeSchema, SqlClient.SqlClient, sql))

const TENANT = "00000000-0000-4000-8000-000000000000"
const WALLET = walletAddress(`0x${"1".repeat(40)}`)
const INSERT_TENANT = `
  insert into tenants (tenant_id, wallet, token_version, created_at) values ('${TENANT}', '${WALLET}', 1, 7)`

describe("a recorded migration", () => {
  it.live("has the statements that this program runs", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.make({ url: yield* newDatabase([]) })
      const recorded = yield* Effect.provideService(recordMigrations, SqlClient.SqlClient, sql)
      assert.includeMembers([...recorded.keys()], [...RECORDED])
      for (const [name, text] of recorded) {
        yield* Effect.promise(() => expect(text).toMatchFileSnapshot(fileOf(name)))
      }
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})

/** Modes from the weakest to the strongest, without those of statements that read and change rows. */
const MODES = ["ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"]

describe("the locks of a migration", () => {
  it.live("on tables that others use are those that its statements name", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.make({ url: yield* newDatabase([]) })
      /** Runs a migration, and reads the strongest lock of its transaction on each table that existed before. */
      const run = (migration: (typeof SCHEMA.migrations)[string]) =>
        sql.withTransaction(
          Effect.gen(function* () {
            const before = yield* sql<{ readonly oid: number }>`select oid::integer from pg_class where relkind = 'r'`
            yield* Effect.provideService(migration, SqlClient.SqlClient, sql)
            const held = yield* sql<{ readonly table: string; readonly mode: string }>`
              select relation::regclass::text as table, mode from pg_locks join pg_class on pg_class.oid = relation
              where pid = pg_backend_pid() and relkind = 'r' and relnamespace = 'public'::regnamespace
                and relation::integer = any(${before.map(({ oid }) => oid)})`
            const known = held.filter(({ mode }) => MODES.includes(mode))
            return Object.fromEntries(
              known
                .toSorted((a, b) => MODES.indexOf(a.mode) - MODES.indexOf(b.mode))
                .map(({ mode, table }) => [table, mode])
            )
          })
        )
      for (const [name, migration] of Object.entries(SCHEMA.migrations)) {
        const named = locksOf(yield* statementsOf(migration))
        assert.deepStrictEqual([name, yield* run(migration)], [name, named])
      }
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it("are found in each statement that a migration may contain", () => {
    assert.deepStrictEqual(
      locksOf([
        "create unlogged table own (id uuid references others)",
        "create index own_order on own (id)",
        "alter table own add column note text",
        "create trigger kept before delete on watched for each row execute function refuse()",
        "alter table changed add constraint c foreign key (id) references changed",
        "create index concurrently i on indexed (id)"
      ]),
      {
        indexed: "ShareUpdateExclusiveLock",
        watched: "ShareRowExclusiveLock",
        others: "ShareRowExclusiveLock",
        changed: "AccessExclusiveLock"
      }
    )
  })
})

describe("the SQL of pending migrations", () => {
  it.live.each(["nothing", "0001_baseline"])("makes the current schema of %s without the program", (name) =>
    Effect.gen(function* () {
      const before = name === "nothing" ? [] : statementsUpTo(name)
      const older = yield* onPostgres(before)
      const text = yield* older.maintain.sql
      assert.strictEqual(yield* older.maintain.sql, text, "it was run")
      const upgraded = yield* onPostgres([...before, ...text.split(";\n\n").filter((part) => part !== "")])
      assert.deepStrictEqual((yield* upgraded.maintain.read).pending, [])
      assert.strictEqual(yield* upgraded.maintain.sql, "")
      assert.deepStrictEqual(
        yield* Effect.provide(described, upgraded.layer),
        yield* Effect.provide(described, older.layer)
      )
    }).pipe(Effect.scoped)
  )
})

describe.each(DATABASES)("a database on %s", (_, open, older) => {
  let created: ReadonlyArray<string>

  beforeAll(async () => {
    const describeCreated = Effect.flatMap(open([]), ({ layer }) => Effect.provide(described, layer))
    created = await Effect.runPromise(Effect.scoped(describeCreated))
    assert.isAbove(created.length, 100)
  })

  it.live.each(older)("is upgraded from the schema of %s to that of a new database, and keeps its rows", (name) =>
    Effect.gen(function* () {
      const { layer, maintain, unmigrated } = yield* open([...statementsUpTo(name), INSERT_TENANT])
      const newer = Object.keys(SCHEMA.migrations).filter((other) => other > name)
      const outdated = yield* Effect.flip<unknown, Error, Scope.Scope>(Layer.build(unmigrated))
      assert(outdated instanceof SchemaOutdated)
      assert.includeMembers([...outdated.pending], newer)
      const upgraded = yield* Effect.gen(function* () {
        const { find } = yield* TenantStore
        const tenant = Option.getOrThrow(yield* find(TENANT))
        assert.deepInclude(tenant, { wallet: WALLET, createdAt: Timestamp.Timestamp.make(7) })
        return yield* described
      }).pipe(Effect.provide(Layer.provideMerge(Postgres.layer, layer)))
      assert.deepStrictEqual((yield* maintain.read).pending, [])
      const differing = [...upgraded, ...created].filter((line) => !upgraded.includes(line) || !created.includes(line))
      assert.deepStrictEqual(differing, [])
    }).pipe(Effect.scoped)
  )

  it.live("that another program or a version before the first release created is refused", () =>
    Effect.gen(function* () {
      const [create = ""] = statementsUpTo("")
      const run = "insert into agentos_migrations (migration_id, name) values (1, 'tenants'), (30, 'free_space')"
      const { layer, maintain } = yield* open([create, run])
      for (const refused of [Layer.build(layer), maintain.read, maintain.migrate]) {
        const error = yield* Effect.flip<unknown, Error, Scope.Scope>(refused)
        assert(error instanceof DatabaseUnsuitable && error.isPermanent)
        assert.strictEqual(
          error.message,
          "the database can't be used: it was created by another program or by a version before the first release " +
            "(its migration 1 is tenants, not baseline), and cannot be upgraded. Use an empty database or data " +
            "directory, or run the version that created this one."
        )
      }
    }).pipe(Effect.scoped)
  )
})
