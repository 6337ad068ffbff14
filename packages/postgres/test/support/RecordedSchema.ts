import { Effect } from "effect"
import { Statement } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { SCHEMA } from "../../src/Migrations.ts"

/** The files that record the migrations, one each: the statements of a released one never change. */
const FOLDER = new URL("../schema/", import.meta.url)

/** The names of the recorded migrations, in the order in which they run. */
export const RECORDED: ReadonlyArray<string> = readdirSync(FOLDER)
  .toSorted()
  .map((file) => file.replace(/\.sql$/, ""))

export const fileOf = (name: string): string => fileURLToPath(new URL(`${name}.sql`, FOLDER))

/** Ends a statement, also for a reader of the file. */
const END = ";\n\n"

const MIGRATIONS_TABLE = `
create table agentos_migrations (
  migration_id integer primary key,
  created_at timestamptz not null default now(),
  name text not null
)`

/** Returns the statements that create the schema as a program left it whose last migration this is. */
export const statementsUpTo = (last: string): ReadonlyArray<string> => [
  MIGRATIONS_TABLE,
  ...RECORDED.filter((name) => name <= last).flatMap((name) => [
    ...readFileSync(fileOf(name), "utf8").split(END).filter(Boolean),
    `insert into agentos_migrations (migration_id, name) values (${Number(name.slice(0, 4))}, '${name.slice(5)}')`
  ])
]

/** Runs the migrations of this program, and returns the statements of each as they are recorded. */
export const recordMigrations = Effect.gen(function* () {
  const texts = new Map<string, string>()
  for (const [name, migration] of Object.entries(SCHEMA.migrations)) {
    let text = ""
    yield* Effect.provideService(migration, Statement.CurrentTransformer, (statement) => {
      text += `${statement.compile()[0].trim()}${END}`
      return Effect.succeed(statement)
    })
    texts.set(name, text)
  }
  return texts
})
