import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/server/main"))

export interface LedgerRun {
  readonly status: number | null
  readonly output: string
  readonly errors: string
}

/** Checks the ledger of the server with these environment variables. */
export const runLedger = async (environment: Readonly<Record<string, string | undefined>>): Promise<LedgerRun> => {
  const child = spawn(process.execPath, [MAIN, "ledger"], { env: { ...process.env, ...environment }, stdio: "pipe" })
  let [output, errors] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  await once(child, "close")
  return { status: child.exitCode, output, errors }
}
