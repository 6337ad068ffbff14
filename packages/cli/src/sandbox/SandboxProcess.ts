import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Context } from "../command/Command.ts"
import { Failure } from "../failure/Failure.ts"
import { isRecord } from "../file/Json.ts"
import { childEnvironment } from "../host/Host.ts"
import { plainLine } from "../output/Text.ts"

const START = join("packages", "sandbox", "src", "main.ts")

/** The part of sandbox.json that a profile needs. */
export interface SandboxDescription {
  readonly baseUrl: string
  readonly emailDomain: string
  readonly mail: { readonly host: string; readonly port: number }
  readonly rpcUrl: string
  /** Funded. */
  readonly wallet: { readonly address: string; readonly privateKey: string }
}

/** A running sandbox. */
export interface SandboxProcess {
  readonly description: SandboxDescription
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  readonly stop: () => void
}

/** Finds the repository in the current folder, the folders above it, or the folders above this program. */
const findRepository = ({ host }: Context): string => {
  const program = process.argv[1]
  for (const begin of [host.workingDirectory, ...(program === undefined ? [] : [dirname(realpathSync(program))])])
    for (let folder = begin; ; folder = dirname(folder)) {
      if (existsSync(join(folder, START))) return folder
      if (dirname(folder) === folder) break
    }
  throw new Failure({
    code: "NOT_FOUND",
    message:
      "No AgentOS repository found. The sandbox is part of the repository and is not installed with agentctl: run this command in a clone of it.",
    next: ["cd REPOSITORY && npx -y pnpm@12 install && npx -y pnpm@12 agentctl dev"]
  })
}

/** Starts the sandbox and resolves when it is ready. Prints its output as remarks. */
export const startSandbox = async (
  context: Context,
  options: { readonly port: number; readonly data: string | undefined }
): Promise<SandboxProcess> => {
  const { host, output } = context
  const root = findRepository(context)
  const data = options.data === undefined ? join(root, ".agentos") : resolve(host.workingDirectory, options.data)
  // The repository installs a Node that runs TypeScript.
  const own = join(root, "node_modules", ".bin", "node")
  const child = spawn(
    existsSync(own) ? own : process.execPath,
    [join(root, START), "--no-tour", "--port", String(options.port), "--data", data],
    // In its own process group: Ctrl-C reaches the sandbox through this program, which waits for it.
    {
      cwd: root,
      env: childEnvironment(host),
      // The channel closes when this program dies, which ends the sandbox.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: process.platform !== "win32"
    }
  )
  const ended = new Promise<number | null>((done, failed) => {
    child.once("error", failed)
    child.once("exit", done)
  })
  const stop = () => void child.kill("SIGTERM")
  host.signal.addEventListener("abort", stop, { once: true })
  const isReady = await Promise.race([ready(child, (line) => output.note(plainLine(line))), ended.then(() => false)])
  if (!isReady) {
    if (host.signal.aborted) throw new Failure({ code: "INTERRUPTED", message: "Interrupted." })
    throw new Failure({ code: "FAILED", message: "The sandbox exited before it was ready. See its output above." })
  }
  const path = join(data, "sandbox.json")
  return { description: describe(JSON.parse(await readFile(path, "utf8")), path), ended, stop }
}

/** Resolves at the `ready` line. Later output is read and discarded, so that the sandbox does not block. */
const ready = (child: ChildProcess, print: (line: string) => void): Promise<boolean> =>
  new Promise((resolve) => {
    let isReady = false
    for (const stream of [child.stdout, child.stderr]) {
      let rest = ""
      stream?.setEncoding("utf8").on("data", (text: string) => {
        if (isReady) return
        const lines = (rest + text).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines)
          if (line.startsWith("ready ")) {
            isReady = true
            resolve(true)
          } else if (!isReady && line !== "") print(line)
      })
    }
  })

const describe = (value: unknown, path: string): SandboxDescription => {
  const text = (...keys: ReadonlyArray<string>): string => {
    let at: unknown = value
    for (const key of keys)
      at = isRecord(at) ? at[key] : Array.isArray(at) ? (at as ReadonlyArray<unknown>)[Number(key)] : undefined
    if (typeof at === "string" || typeof at === "number") return String(at)
    throw new Failure({
      code: "FAILED",
      message: `${path} is not a supported sandbox description: missing ${keys.join(".")}.`
    })
  }
  return {
    baseUrl: text("baseUrl"),
    emailDomain: text("emailDomain"),
    mail: { host: text("mail", "host"), port: Number(text("mail", "port")) },
    rpcUrl: text("chain", "rpcUrl"),
    wallet: { address: text("wallets", "0", "address"), privateKey: text("wallets", "0", "privateKey") }
  }
}
