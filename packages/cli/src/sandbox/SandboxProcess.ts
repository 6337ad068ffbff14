import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Context } from "../command/Handler.ts"
import { isRecord } from "../file/JsonValue.ts"
import { Failure } from "../failure/Failure.ts"
import { childEnvironment } from "../host/ChildEnvironment.ts"
import { plainLine } from "../output/Plain.ts"

const START = join("packages", "sandbox", "src", "main.ts")

/** What of sandbox.json a profile needs. */
export interface SandboxDescription {
  readonly baseUrl: string
  readonly emailDomain: string
  readonly mail: { readonly host: string; readonly port: number }
  readonly rpcUrl: string
  /** A funded one. */
  readonly wallet: { readonly address: string; readonly privateKey: string }
}

/** A sandbox that runs. */
export interface SandboxProcess {
  readonly description: SandboxDescription
  /** Resolves with its exit code once it has ended, by itself or by `stop`. */
  readonly ended: Promise<number | null>
  readonly stop: () => void
}

/** The folder of the repository: the current one, or one above it or above the program itself. */
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
      "The sandbox is part of the AgentOS repository, and is not installed with agentctl. Run this in a copy of the repository.",
    next: ["cd COPY-OF-THE-REPOSITORY && npx -y pnpm@12 install && npx -y pnpm@12 agentctl dev"]
  })
}

/** Starts the sandbox and resolves once it serves. Says what it says, as notes. */
export const startSandbox = async (
  context: Context,
  options: { readonly port: number; readonly data: string | undefined }
): Promise<SandboxProcess> => {
  const { host, output } = context
  const root = findRepository(context)
  const data = options.data === undefined ? join(root, ".agentos") : resolve(host.workingDirectory, options.data)
  // The Node that the repository brings, which runs its sources as they are.
  const own = join(root, "node_modules", ".bin", "node")
  const child = spawn(
    existsSync(own) ? own : process.execPath,
    [join(root, START), "--no-tour", "--port", String(options.port), "--data", data],
    // In a group of its own: Ctrl-C reaches it by way of this program, which waits for it.
    {
      cwd: root,
      env: childEnvironment(host),
      // By the channel it learns that this program is gone, however that came.
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
    throw new Failure({ code: "FAILED", message: "The sandbox ended before it was ready; what it said stands above." })
  }
  const path = join(data, "sandbox.json")
  return { description: describe(JSON.parse(await readFile(path, "utf8")), path), ended, stop }
}

/** Resolves once it says so. What it says later is nobody's to read, and read all the same, so that it can go on. */
const ready = (child: ChildProcess, say: (line: string) => void): Promise<boolean> =>
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
          } else if (!isReady && line !== "") say(line)
      })
    }
  })

/** Reads of the description what a profile needs. */
const describe = (value: unknown, path: string): SandboxDescription => {
  const text = (...keys: ReadonlyArray<string>): string => {
    let at: unknown = value
    for (const key of keys)
      at = isRecord(at) ? at[key] : Array.isArray(at) ? (at as ReadonlyArray<unknown>)[Number(key)] : undefined
    if (typeof at === "string" || typeof at === "number") return String(at)
    throw new Failure({
      code: "FAILED",
      message: `${path} is of no sandbox that this program knows: ${keys.join(".")} is missing.`
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
