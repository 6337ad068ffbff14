import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { runHere } from "@agentos/server/testing"
import type { Sandbox } from "./Sandbox.ts"

const SERVER_MAIN = fileURLToPath(import.meta.resolve("@agentos/server/main"))

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

/** Runs a command of agentos-server in this process, except `start` and with `--env-file`. */
export const runServerCommandHere = async (
  argv: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Promise<CommandRun> => {
  const { exit, stderr, stdout } = await runHere(argv, { env: { ...process.env, ...environment } })
  return { status: exit, output: stdout, errors: stderr }
}

export interface RunningServer {
  readonly child: ChildProcess
  readonly port: number
  readonly baseUrl: string
  /** The URL of the operator routes; undefined without an operator token. */
  readonly operatorUrl: string | undefined
  /** Sends SIGTERM and returns the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts a server and waits until it listens. */
export const startServer = async (
  environment: Readonly<Record<string, string | undefined>>,
  ...flags: ReadonlyArray<string>
): Promise<RunningServer> => {
  const child = spawn(process.execPath, [SERVER_MAIN, "start", ...flags], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const exited = once(child, "exit")
  const line = await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(() => Promise.reject(new Error(`the server ended before it listened:\n${errors}`)))
  ])
  const { http, operator } = JSON.parse(String(line[0])) as {
    readonly http: { readonly port: number }
    readonly operator: { readonly port: number } | null
  }
  return {
    child,
    port: http.port,
    baseUrl: `http://127.0.0.1:${http.port}`,
    operatorUrl: operator === null ? undefined : `http://127.0.0.1:${operator.port}`,
    stop: async () => {
      child.kill("SIGTERM")
      await exited
      return child.exitCode
    }
  }
}

/**
 * Opens a request whose body does not arrive: it is in progress for as long as the server allows. Its connection has been
 * answered another request, whose bytes arrived together with those of this one.
 */
export const unfinishedRequest = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined)
  socket.write(
    "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n" +
      "POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
  )
  await once(socket, "data")
  return socket
}

/** Waits until a server that stops accepts no more connections. */
export const untilRefused = async (port: number): Promise<void> => {
  for (;;) {
    const socket = connect(port, "127.0.0.1")
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false
    )
    socket.destroy()
    if (!isOpen) return
    await sleep(20)
  }
}

/** The variables of the sandbox's services, for a server of the test's own database. */
export const serverEnvironment = async (running: Sandbox, databaseUrl: string) => {
  const sandbox = await running.describe()
  const account = await readFile(join(running.directory, "carrier", "account"), "utf8")
  const [accountSid = "", authToken = ""] = account.trim().split(":")
  const { asset, assetName, assetVersion, decimals, network, payTo, rpcUrl } = sandbox.chain
  const payment = {
    network,
    rpcUrl,
    asset,
    name: assetName,
    version: assetVersion,
    decimals,
    payTo,
    facilitator: { url: sandbox.facilitatorUrl },
    refund: sandbox.networks[0]!.refund,
    confirmations: 0,
    maxTimeoutSeconds: 30
  }
  const environment = {
    AGENTOS_ENVIRONMENT: "sandbox",
    AGENTOS_PUBLIC_URL: sandbox.baseUrl,
    AGENTOS_KEYS: "1:the check makes no use of any key at all",
    DATABASE_URL: databaseUrl,
    AGENTOS_NETWORKS: JSON.stringify([payment]),
    AGENTOS_EMAIL_DOMAIN: sandbox.emailDomain,
    AGENTOS_SMTP_RELAY_HOST: sandbox.mail.host,
    AGENTOS_SMTP_RELAY_PORT: String(sandbox.mail.relayPort),
    AGENTOS_SMTP_RELAY_TLS: "none",
    AGENTOS_TWILIO_ACCOUNT_SID: accountSid,
    AGENTOS_TWILIO_AUTH_TOKEN: authToken,
    AGENTOS_TWILIO_API_URL: sandbox.carrier.url
  }
  return { environment, payment }
}

export type ServerEnvironment = Awaited<ReturnType<typeof serverEnvironment>>
