import { defineCommand, runEffect } from "./ServerCommand.ts"

export const MIGRATE = defineCommand(
  {
    name: "migrate",
    summary: "Bring the database up to date",
    description:
      "Applies the pending migrations and names each. Servers on PostgreSQL may keep running, and start does the same. Needs DATABASE_URL or AGENTOS_DATA_DIR only.",
    arguments: [],
    flags: [{ name: "check", type: "boolean", summary: "Apply nothing. Exit code 2 if migrations are pending." }],
    examples: [
      { line: "agentos-server migrate", does: "Before new servers start" },
      { line: "agentos-server migrate --check", does: "In a script" }
    ],
    output: "rows",
    json: "{applied: [name], pending: [name]}",
    exits: [2],
    exitMeanings: { 2: "migrations are pending, with --check" }
  },
  async (context, { flags: { check } }) => {
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { schemaOf } = await import("../program/Maintenance.ts")
    const schema = Effect.flatMap(ServerConfig.readStorage(context.host.env), schemaOf)
    const names = await runEffect(
      context,
      Effect.flatMap(schema, ({ migrate, read }) => (check ? Effect.map(read, ({ pending }) => pending) : migrate))
    )
    context.output.table(
      { applied: check ? [] : names, pending: check ? names : [] },
      names,
      [{ heading: check ? "PENDING" : "APPLIED", value: (name) => name, whole: true }],
      check ? "No migrations are pending." : "The database is up to date already."
    )
    return check && names.length > 0 ? 2 : 0
  }
)
