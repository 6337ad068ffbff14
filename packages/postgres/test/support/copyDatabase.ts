import { execFile } from "node:child_process"
import { cp } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { prepared } from "./Prepared.ts"

const MIGRATE = fileURLToPath(new URL("../program/migrateMain.ts", import.meta.url))
const run = promisify(execFile)

/**
 * Copies an embedded database into a directory that does not exist yet: empty and migrated, and made once per
 * test run, since making it takes longer than most tests that use it. Outside a test run it does nothing:
 * opening the directory makes the database.
 */
export const copyDatabase = async (directory: string): Promise<void> => {
  // For a program that runs once, optimizing its WebAssembly takes longer than it saves.
  const made = await prepared("database", (draft) => run(process.execPath, ["--liftoff-only", MIGRATE, draft]))
  if (made !== undefined) await cp(made, directory, { recursive: true })
}
