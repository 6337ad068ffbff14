import { isLoopback } from "@agentos/client"
import { EXIT, Failure, plainLine } from "@agentos/node/command-line"
import { type ChildProcess, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { readConfig } from "../config/ConfigFile.ts"
import { fromOf, resolveSettings } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import { readIfExists } from "../file/PrivateFile.ts"
import { childEnvironment } from "../host/Host.ts"
import { defaultDataFolder, openProgram } from "./SandboxInstallation.ts"

const TIMEOUT_MILLIS = 30_000

/** The part of sandbox.json that agentctl needs. */
export interface SandboxDescription {
  readonly baseUrl: string
  /** The origins of its servers. */
  readonly origins: ReadonlyArray<string>
  readonly emailDomain: string
  readonly mail: { readonly host: string; readonly port: number }
  /** Takes mail from outside. */
  readonly relayUrl: string
  /** Takes calls from outside. */
  readonly carrierUrl: string
  readonly facilitatorUrl: string
  readonly rpcUrl: string
  /** Funded. */
  readonly wallet: { readonly address: string; readonly privateKey: string }
}

/** A sandbox that answers. */
export interface RunningSandbox {
  readonly description: SandboxDescription
  /** The path of sandbox.json. */
  readonly path: string
}

/** A sandbox that this process runs. */
export interface SandboxProcess extends RunningSandbox {
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  readonly stop: () => void
}

/** The path of the description of a sandbox: that of --data, a folder or the file itself, or of the default folder. */
const sandboxFileOf = (context: Context, data: string | undefined): string => {
  if (data === undefined) return join(defaultDataFolder(context), "sandbox.json")
  const path = resolve(context.host.workingDirectory, data)
  return path.endsWith(".json") ? path : join(path, "sandbox.json")
}

/**
 * Reads the description of a sandbox that acts as the world outside: that of --data, else of the profile, else the one that
 * `agentctl dev` runs. Without --data, fails if the server of the settings is not this sandbox.
 */
export const readSandbox = async (context: Context, data: string | undefined): Promise<SandboxDescription> => {
  const settings = await resolveSettings(context)
  const profile = (await readConfig(context.host)).profiles[settings.profile.value]
  const path =
    data === undefined ? (profile?.sandboxFile ?? sandboxFileOf(context, data)) : sandboxFileOf(context, data)
  const text = await readIfExists(path)
  const server = data === undefined ? settings.baseUrl : undefined
  const description = text === undefined ? undefined : describe(parseJson(text), path)
  if (server !== undefined && !isServerOf(description, server.value))
    throw new Failure({
      code: "CONFIGURATION",
      message: `${server.value} (${fromOf(server)}) is not ${description === undefined ? "a sandbox on this machine" : `the sandbox at ${description.baseUrl}`}. agentctl sandbox acts only in a sandbox, for example the one that --data names. Nothing was sent.`,
      next: ["agentctl dev", "agentctl config list"]
    })
  if (description !== undefined) return description
  throw new Failure({
    code: "NOT_FOUND",
    message: `No sandbox runs here: ${path} is missing.`,
    next: ["agentctl dev"]
  })
}

/** A server that is not running has no description. On this machine it may be a sandbox that has stopped. */
const isServerOf = (description: SandboxDescription | undefined, baseUrl: string): boolean => {
  if (!URL.canParse(baseUrl)) return false
  const { hostname, origin } = new URL(baseUrl)
  return description === undefined ? isLoopback(hostname) : description.origins.includes(origin)
}

const RUNNING_TIMEOUT_MILLIS = 2_000

/** Returns the description of the sandbox that runs with this data folder and answers; undefined if none does. */
export const runningSandbox = async (
  context: Context,
  data: string | undefined
): Promise<RunningSandbox | undefined> => {
  const path = sandboxFileOf(context, data)
  const text = await readIfExists(path)
  const description = text === undefined ? undefined : describe(parseJson(text), path)
  if (description !== undefined && (await isSandboxServer(context, description.baseUrl))) return { description, path }
  if (data?.endsWith(".json") !== true) return undefined
  throw new Failure({
    code: "NOT_FOUND",
    message:
      description === undefined
        ? `No sandbox runs here: ${path} is missing.`
        : `The sandbox of ${path} does not answer.`,
    next: ["agentctl dev"]
  })
}

const isSandboxServer = async ({ host }: Context, baseUrl: string): Promise<boolean> => {
  if (!URL.canParse(baseUrl) || !isLoopback(new URL(baseUrl).hostname)) return false
  const signal = AbortSignal.any([host.signal, AbortSignal.timeout(RUNNING_TIMEOUT_MILLIS)])
  const answer = await fetch(`${baseUrl}/api/v1`, { signal }).then(
    (response) => response.text(),
    () => ""
  )
  const body = parseJson(answer)
  return isRecord(body) && isRecord(body["data"]) && body["data"]["environment"] === "sandbox"
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
  options: { readonly port: number | undefined; readonly data: string | undefined; readonly yes: boolean }
): Promise<SandboxProcess> => {
  const { host, output } = context
  const data = dirname(sandboxFileOf(context, options.data))
  const { folder, main, node } = await openProgram(context, options.yes)
  const child = spawn(
    node,
    [main, "--no-tour", ...(options.port === undefined ? [] : ["--port", String(options.port)]), "--data", data],
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
  return { description: describe(JSON.parse(await readFile(path, "utf8")), path), path, ended, stop }
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
  const baseUrl = text("baseUrl")
  const servers = isRecord(value) && Array.isArray(value["servers"]) ? (value["servers"] as ReadonlyArray<unknown>) : []
  const urls = [baseUrl, ...servers.map((server) => (isRecord(server) ? server["baseUrl"] : undefined))]
  return {
    baseUrl,
    origins: urls.flatMap((url) => (typeof url === "string" && URL.canParse(url) ? [new URL(url).origin] : [])),
    emailDomain: text("emailDomain"),
    mail: { host: text("mail", "host"), port: Number(text("mail", "port")) },
    relayUrl: text("mail", "relayFaultsUrl"),
    carrierUrl: text("carrier", "url"),
    facilitatorUrl: text("facilitatorUrl"),
    rpcUrl: text("chain", "rpcUrl"),
    wallet: { address: text("wallets", "0", "address"), privateKey: text("wallets", "0", "privateKey") }
  }
}
