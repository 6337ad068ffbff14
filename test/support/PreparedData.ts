import { copyDatabase, prepared } from "@agentos/postgres/testing"
import { execFile } from "node:child_process"
import { cp, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Parts of a data directory: the deployed chain with its keys, the server's secrets, the migrated database. */
export type PreparedPart = "chain" | "server" | "database"

const PREPARE = fileURLToPath(new URL("prepareDataMain.ts", import.meta.url))
const run = promisify(execFile)

/**
 * Fills a new data directory with the parts that a first start would create, which takes longer than the rest of a
 * start. They are created once per test run and copied: the keys and wallets are the same in each copy. Outside a test
 * run it does nothing, and the sandbox creates them.
 */
export const copyPrepared = async (directory: string, parts: ReadonlyArray<PreparedPart>): Promise<void> => {
  const made = await prepared("data", (draft) => run(process.execPath, [PREPARE, draft]))
  if (made === undefined) return
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const part of parts) {
    if (part === "database") await copyDatabase(join(directory, part))
    else await cp(join(made, part), join(directory, part), { recursive: true })
  }
}
