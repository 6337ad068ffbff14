import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

export const SERVER_MAIN = fileURLToPath(import.meta.resolve("@agentos/server/main"))

export interface CommandRun {
  readonly status: number | null
  readonly output: string
  readonly errors: string
}

/** Runs a command of agentos-server with these environment variables. */
export const runServerCommand = async (
  argv: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Promise<CommandRun> => {
  const child = spawn(process.execPath, [SERVER_MAIN, ...argv], {
    env: { ...process.env, ...environment },
    stdio: "pipe"
  })
  let [output, errors] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  await once(child, "close")
  return { status: child.exitCode, output, errors }
}
