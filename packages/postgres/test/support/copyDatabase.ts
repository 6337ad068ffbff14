import { execFile } from "node:child_process"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { prepared } from "./Prepared.ts"

const MIGRATE = fileURLToPath(new URL("../program/migrateMain.ts", import.meta.url))
const CREATE = fileURLToPath(new URL("../../src/createDatabaseMain.ts", import.meta.url))
const run = promisify(execFile)

/** Runs a program with an argument. For one that runs once, optimizing its WebAssembly takes longer than it saves. */
const runOnce = (program: string, argument: string) => run(process.execPath, ["--liftoff-only", program, argument])

/**
 * Copies an embedded database into a directory that does not exist yet: empty and migrated, and made once per
 * test run, since making it takes longer than most tests that use it. Outside a test run it does nothing:
 * opening the directory makes the database.
 */
export const copyDatabase = async (directory: string): Promise<void> => {
  const made = await prepared("database", (draft) => runOnce(MIGRATE, draft))
  if (made !== undefined) await cp(made, directory, { recursive: true })
}

/** Like `copyDatabase`, but without the schema. */
export const copyEmptyDatabase = async (directory: string): Promise<void> => {
  const made = await prepared("empty", (draft) => runOnce(CREATE, join(draft, "database")))
  if (made !== undefined) await cp(made, directory, { recursive: true })
}
