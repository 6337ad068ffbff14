import { execFile } from "node:child_process"
import { cp } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { prepared } from "./Prepared.ts"

const MIGRATE = fileURLToPath(new URL("../program/migrateMain.ts", import.meta.url))
const run = promisify(execFile)

/**
 * Puts an embedded database into a directory that is not there yet: empty and migrated, and made once in a test run, since
 * making it takes longer than most of what it is used for. Outside a test run nothing is put there: whoever opens it makes it.
 */
export const copyDatabase = async (directory: string): Promise<void> => {
  // What runs once does not earn back what it costs to optimize its WebAssembly.
  const made = await prepared("database", (draft) => run(process.execPath, ["--liftoff-only", MIGRATE, draft]))
  if (made !== undefined) await cp(made, directory, { recursive: true })
}
