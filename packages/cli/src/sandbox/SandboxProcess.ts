import { EXIT, Failure, plainLine } from "@agentos/node/command-line"
import { type ChildProcess, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import { readIfExists } from "../file/PrivateFile.ts"
import { childEnvironment } from "../host/Host.ts"
import { defaultDataFolder, openProgram } from "./SandboxInstallation.ts"

const TIMEOUT_MILLIS = 30_000

/** The part of sandbox.json that agentctl needs. */
export interface SandboxDescription {
  readonly baseUrl: string
  readonly emailDomain: string
  readonly mail: { readonly host: string; readonly port: number }
  /** Takes mail from outside. */
  readonly relayUrl: string
  /** Takes calls from outside. */
  readonly carrierUrl: string
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

const dataFolder = (context: Context, data: string | undefined): string =>
  data === undefined ? defaultDataFolder(context) : resolve(context.host.workingDirectory, data)

/** Reads the description of the sandbox with this data folder, by default the one that `agentctl dev` runs. */
export const readSandbox = async (context: Context, data: string | undefined): Promise<SandboxDescription> => {
  const path = join(dataFolder(context, data), "sandbox.json")
  const text = await readIfExists(path)
  if (text !== undefined) return describe(parseJson(text), path)
  throw new Failure({
    code: "NOT_FOUND",
    message: `No sandbox has run here: ${path} is missing.`,
    next: ["agentctl dev"]
  })
}

/** Calls a route of the sandbox, which needs no credentials: GET, or POST with a body. */
export const askSandbox = async (
  url: string,
  path: string,
  body?: object
): Promise<Readonly<Record<string, unknown>>> => {
  const response = await fetch(`${url}${path}`, {
    ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MILLIS)
  }).catch(() => {
    throw new Failure({
      code: "UNREACHABLE",
      message: `The sandbox does not answer at ${url}.`,
      next: ["agentctl dev"]
    })
  })
  const answer = parseJson(await response.text())
  if (response.ok && isRecord(answer)) return answer
  const reason = isRecord(answer) && typeof answer["error"] === "string" ? answer["error"] : `status ${response.status}`
  const code = response.status < 500 ? "INVALID_REQUEST" : "FAILED"
  throw new Failure({
    code,
    exit: code === "FAILED" ? EXIT.failure : EXIT.usage,
    message: `The sandbox refused: ${plainLine(reason)}.`
  })
}

/** Starts the sandbox and resolves when it is ready. Prints its output as remarks. */
export const startSandbox = async (
  context: Context,
  options: { readonly port: number; readonly data: string | undefined; readonly yes: boolean }
): Promise<SandboxProcess> => {
  const { host, output } = context
  const data = dataFolder(context, options.data)
  const { folder, main, node } = await openProgram(context, options.yes)
  const child = spawn(
    node,
    [main, "--no-tour", "--port", String(options.port), "--data", data],
    // In its own process group: Ctrl-C reaches the sandbox through this program, which waits for it.
    {
      cwd: folder,
      // The operator token is a setting of the server.
      env: { ...childEnvironment(host), AGENTOS_OPERATOR_TOKEN: host.env["AGENTOS_OPERATOR_TOKEN"] },
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
    relayUrl: text("mail", "relayFaultsUrl"),
    carrierUrl: text("carrier", "url"),
    rpcUrl: text("chain", "rpcUrl"),
    wallet: { address: text("wallets", "0", "address"), privateKey: text("wallets", "0", "privateKey") }
  }
}
