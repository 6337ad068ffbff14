import { defineCommand, runEffect } from "./ServerCommand.ts"

export const MIGRATE = defineCommand(
  {
    name: "migrate",
    summary: "Bring the database up to date",
    description:
      "Applies the pending migrations and names each, with its duration and the locks that it took on tables in use. Servers on PostgreSQL may keep running, and start does the same. Needs DATABASE_URL or AGENTOS_DATA_DIR only.",
    flags: [
      { name: "check", type: "boolean", summary: "Apply nothing. Exit code 2 if migrations are pending." },
      { name: "sql", type: "boolean", summary: "Apply nothing. Print the SQL of the pending migrations, for psql." }
    ],
    examples: [
      { line: "agentos-server migrate", does: "Before new servers start" },
      { line: "agentos-server migrate --check", does: "In a script" },
      { line: "agentos-server migrate --sql", does: "Read what it would run" }
    ],
    output: "rows",
    json: "{applied: [name], pending: [name], steps: [{name, millis, locks: {table: lock}}], sql?}",
    exits: [2],
    exitMeanings: { 2: "migrations are pending, with --check" }
  },
  async (context, { flags: { check, sql } }) => {
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { schemaOf } = await import("../program/Maintenance.ts")
    const schema = await runEffect(context, Effect.flatMap(ServerConfig.readStorage(context.host.env), schemaOf))
    const { output } = context
    if (check || sql) {
      const { pending } = await runEffect(context, schema.read)
      const document = { applied: [], pending, steps: [] }
      if (sql) {
        const text = await runEffect(context, schema.sql)
        output.data({ ...document, sql: text }, () => text)
      } else {
        const column = { heading: "PENDING", value: (name: string) => name, whole: true }
        output.table(document, pending, [column], "No migrations are pending.")
      }
      return check && pending.length > 0 ? 2 : 0
    }
    const steps = await runEffect(context, schema.migrate)
    output.table(
      { applied: steps.map(({ name }) => name), pending: [], steps },
      steps,
      [
        { heading: "APPLIED", value: ({ name }) => name, whole: true },
        { heading: "MILLISECONDS", value: ({ millis }) => millis.toFixed(0), whole: true },
        { heading: "LOCKS", value: ({ locks }) => locksShown(locks), whole: true }
      ],
      "The database is up to date already."
    )
    return 0
  }
)

const locksShown = (locks: Readonly<Record<string, string>>): string =>
  Object.entries(locks)
    .map(([table, lock]) => `${table} ${lock}`)
    .join(", ") || "none"
