import { Timestamp } from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Table from "../src/Table.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"

interface Kept {
  readonly keys: ReadonlyArray<string>
}

const RECORDS = Table.table("records", {
  id: Table.uuid("record_id"),
  name: Table.textOrNull("name"),
  kind: Table.literal(Schema.Literals(["one", "other"])).column("kind"),
  count: Table.integer("count"),
  bytes: Table.long("bytes"),
  block: Table.blockOrNull("block"),
  at: Table.moment("created_at"),
  isOpen: Table.boolean("is_open"),
  kept: Table.json<Kept>().orNull("kept"),
  secret: Table.group({ keyId: Table.integer("key_id"), version: Table.integer("version") }),
  pause: Table.groupOrNull({ until: Table.moment("paused_until"), reason: Table.text("pause_reason") }),
  doubled: Table.map(
    Table.integer("half"),
    (half) => half * 2,
    (doubled) => doubled / 2
  ),
  names: Table.textArray("names")
})

const { names: _, ...WITHOUT_ARRAY } = RECORDS.fields

const full = {
  id: "00000000-0000-4000-8000-000000000001",
  name: "a name",
  kind: "one",
  count: 3,
  bytes: 2 ** 40,
  block: 2n ** 60n,
  at: Timestamp.Timestamp.make(1_700_000_000_000),
  isOpen: true,
  kept: { keys: ["a"] },
  secret: { keyId: 1, version: 2 },
  pause: { until: Timestamp.Timestamp.make(5), reason: "quiet" },
  doubled: 8,
  names: ["a", "b"]
} as const

const empty = { ...full, id: full.id.replace(/1$/, "2"), name: null, block: null, kept: null, pause: null, names: [] }

const create = Effect.flatMap(Database, ({ sql }) =>
  Effect.andThen(
    sql`drop table if exists records`,
    sql`create table records (
      record_id uuid, name text, kind text, count integer, bytes bigint, block numeric(78, 0), created_at bigint,
      is_open boolean, kept text, key_id integer, version integer, paused_until bigint, pause_reason text,
      half integer, names text[]
    )`
  )
)

const read = Effect.flatMap(Database, ({ sql }) =>
  Effect.map(
    sql<Table.Stored<typeof RECORDS>>`select ${sql.literal(RECORDS.qualified)} from records order by record_id`,
    (rows) => rows.map((row) => RECORDS.toRecord(row))
  )
)

layer(layerTestPGlite)("a table", (it) => {
  it.effect("reads the records that it inserted and updated, each null included", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* create
      for (const record of [full, empty]) {
        yield* sql`insert into records ${Table.insert(sql, Table.valuesOf(RECORDS.fields, record))}`
      }
      assert.deepStrictEqual<unknown>(yield* read, [full, empty])
      const { id: _, ...fields } = RECORDS.fields
      yield* sql`update records set ${Table.set(sql, Table.valuesOf(fields, empty))}`
      assert.deepStrictEqual<unknown>(yield* read, [{ ...empty, id: full.id }, empty])
    })
  )

  it.effect("inserts records from arrays, and from expressions", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* create
      const arrays = Table.arraysOf(WITHOUT_ARRAY, [full, empty])
      yield* sql`
        insert into records (${sql.literal(Object.keys(arrays).join(", "))})
        select * from unnest(${sql.csv(Object.values(arrays).map((values) => sql`${values}`))})`
      const [count] = yield* sql`select count(*)::integer as count from records where pause_reason is null`
      assert.strictEqual(count?.["count"], 1)
      yield* create
      const values = { ...Table.valuesOf(RECORDS.fields, full), count: sql`1 + 1` }
      yield* sql`insert into records ${Table.insertSelect(sql, values)} where true`
      assert.deepStrictEqual<unknown>(yield* read, [{ ...full, count: 2 }])
    })
  )

  it.effect("changes only the fields that a change has", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* create
      yield* sql`insert into records ${Table.insert(sql, Table.valuesOf(RECORDS.fields, full))}`
      const change = { count: 4, pause: null, name: undefined }
      yield* sql`update records set ${Table.set(sql, Table.changesOf(RECORDS.fields, change))}`
      assert.deepStrictEqual<unknown>(yield* read, [{ ...full, count: 4, pause: null }])
    })
  )

  it.effect("refuses to read a literal that it does not know", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* create
      yield* sql`insert into records ${Table.insert(sql, { ...Table.valuesOf(RECORDS.fields, full), kind: sql`'third'` })}`
      assert.isTrue((yield* Effect.exit(read))._tag === "Failure")
    })
  )
})

describe("the columns of a table", () => {
  it("are listed once, in the order of its fields", () => {
    const keys = Table.table("keys", { id: Table.uuid("key_id"), of: Table.group({ at: Table.moment("at") }) })
    assert.strictEqual(keys.columns, "key_id, at")
    assert.strictEqual(keys.qualified, "keys.key_id, keys.at")
    assert.strictEqual(Table.replace(keys.fields), "key_id = excluded.key_id, at = excluded.at")
  })
})
