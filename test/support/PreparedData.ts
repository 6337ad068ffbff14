import { copyDatabase, prepared } from "@agentos/postgres/testing"
import { execFile } from "node:child_process"
import { cp, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** A part of a data directory: the deployed chain with its keys, the server's secrets, the migrated database. */
export type PreparedPart = "chain" | "server" | "database"

const PREPARE = fileURLToPath(new URL("prepareDataMain.ts", import.meta.url))
const run = promisify(execFile)

/**
 * Puts into a new data directory what a first start would make there, which takes longer than all the rest of a start.
 * It is made once in a test run and copied from then on: same keys and wallets, but a chain and a database of one's own.
 * Outside a test run nothing is put there, and the sandbox makes it itself.
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
