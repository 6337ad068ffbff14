import {
  displayWidth,
  errorCode,
  type Output,
  plainJson,
  plainLine,
  shortId,
  truncate
} from "@agentos/node/command-line"
import { type ChildProcess, spawn } from "node:child_process"
import { isRecord } from "../file/Json.ts"
import { childEnvironment, type Host } from "../host/Host.ts"
import { timeOf } from "../output/Wording.ts"
import { VERSION } from "../Version.ts"
import { signedHeaders } from "./Signing.ts"
import type { TailEvent } from "./TailEvent.ts"

/** The outcome of handling an event. `Interrupted` says nothing about the event. */
export type Handled =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Failed"; readonly why: string }
  | { readonly _tag: "Interrupted" }

/** How long a command may take to end after SIGTERM. */
const GRACE_MILLIS = 5_000
const FORWARD_TIMEOUT_MILLIS = 30_000

/**
 * Runs a shell command for an event, with the event as one line of JSON on standard input and its id and type in the
 * environment. Exit code 0 is success. An interruption ends the command, whose exit code then does not count.
 */
export const runCommand = async (host: Host, command: string, event: TailEvent): Promise<Handled> => {
  if (host.signal.aborted) return { _tag: "Interrupted" }
  const { code, why } = await runShell(host, {
    command,
    input: event,
    env: { AGENTOS_EVENT_ID: event.eventId, AGENTOS_EVENT_TYPE: event.type },
    stop: host.signal
  })
  if (host.signal.aborted) return { _tag: "Interrupted" }
  return code === 0 ? { _tag: "Done" } : { _tag: "Failed", why }
}

interface ShellRun {
  readonly command: string
  /** Written to standard input as one line of JSON. */
  readonly input: unknown
  /** Variables beside those of this program, from which the secrets are removed. */
  readonly env: Readonly<Record<string, string>>
  /** Ends the command with SIGTERM, and with SIGKILL if it does not end in time. */
  readonly stop: AbortSignal
  /** Receives the standard output, which otherwise is that of this program. */
  readonly onOutput?: (text: string) => void
}

/** Runs a shell command. Returns its exit code, null if it has none, and a description of a failure. */
export const runShell = async (
  host: Host,
  { command, env, input, onOutput, stop }: ShellRun
): Promise<{ readonly code: number | null; readonly why: string }> => {
  const child = spawn(command, {
    shell: true,
    cwd: host.workingDirectory,
    env: { ...childEnvironment(host), ...env },
    // In its own process group, so that Ctrl-C reaches the command and its children through this program only.
    detached: process.platform !== "win32",
    stdio: ["pipe", onOutput === undefined ? "inherit" : "pipe", "inherit"]
  })
  let killing: NodeJS.Timeout | undefined
  const end = (): void => {
    signal(child, "SIGTERM")
    killing = setTimeout(() => signal(child, "SIGKILL"), GRACE_MILLIS)
  }
  stop.addEventListener("abort", end, { once: true })
  try {
    if (onOutput !== undefined) child.stdout?.setEncoding("utf8").on("data", onOutput)
    // A command that does not read its input may exit before it is written.
    child.stdin?.on("error", () => {})
    child.stdin?.end(`${plainJson(input)}\n`)
    return await outcomeOf(child, onOutput === undefined ? "exit" : "close")
  } finally {
    stop.removeEventListener("abort", end)
    clearTimeout(killing)
  }
}

const outcomeOf = (child: ChildProcess, end: "exit" | "close"): Promise<{ code: number | null; why: string }> =>
  new Promise((resolve) => {
    child.once("error", ({ message }) => resolve({ code: null, why: `the command could not be started (${message})` }))
    child.once(end, (code: number | null, killedBy: string | null) =>
      resolve({
        code,
        why: killedBy === null ? `the command exited with ${code}` : `the command was killed by ${killedBy}`
      })
    )
  })

const signal = (child: ChildProcess, name: NodeJS.Signals): void => {
  if (child.pid === undefined || child.exitCode !== null) return
  if (process.platform === "win32") return void child.kill(name)
  try {
    process.kill(-child.pid, name)
  } catch (error) {
    // The whole group may have exited.
    if (errorCode(error) !== "ESRCH") throw error
  }
}

/** Posts an event as JSON to a URL, signed as event webhooks are. A 2xx status is success. */
export const forward = async (host: Host, url: string, secret: string, event: TailEvent): Promise<Handled> => {
  const timeout = AbortSignal.timeout(FORWARD_TIMEOUT_MILLIS)
  const { origin } = new URL(url)
  const body = JSON.stringify(event)
  try {
    const response = await fetch(url, {
      method: "POST",
      // Only the named receiver gets the event.
      redirect: "manual",
      headers: { ...signedHeaders(secret, event.eventId, body, host.now()), "User-Agent": `agentctl/${VERSION}` },
      body,
      signal: AbortSignal.any([host.signal, timeout])
    })
    await response.body?.cancel()
    return response.ok ? { _tag: "Done" } : { _tag: "Failed", why: `${origin} answered ${response.status}` }
  } catch (error) {
    if (host.signal.aborted) return { _tag: "Interrupted" }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = timeout.aborted
      ? `${origin} did not answer within ${FORWARD_TIMEOUT_MILLIS / 1_000} s`
      : `${origin} cannot be reached (${errorCode(cause) ?? String(cause)})`
    return { _tag: "Failed", why }
  }
}

/** Summarizes the subject of an event for people. */
export const aboutOf = (payload: Readonly<Record<string, unknown>>): string | undefined => {
  const { authentication, from, number, price, serviceId, subject } = payload
  if (typeof serviceId === "string")
    return isRecord(price) ? `${serviceId}, ${String(price["amount"])} ${String(price["asset"])}` : serviceId
  if (typeof from === "string") {
    const checks = isRecord(authentication) ? ` (DMARC ${String(authentication["dmarc"])})` : ""
    return typeof subject === "string" ? `${from}${checks}: ${subject}` : `${from}${checks}`
  }
  return typeof number === "string" ? number : undefined
}

/** The width of all other columns of an event line. */
const OTHER_COLUMNS = 51
const MIN_ABOUT_COLUMNS = 24

/** Formats an event as one line: JSON for programs, or columns that fit the terminal. */
export const eventLine = (
  event: TailEvent,
  output: Output,
  form: { readonly json: boolean; readonly columns: number | undefined }
): string => {
  if (form.json) return `${plainJson(event)}\n`
  const width = Math.max(MIN_ABOUT_COLUMNS, (form.columns ?? 0) - OTHER_COLUMNS)
  const about = truncate(plainLine(aboutOf(event.payload) ?? event.resourceId), width)
  const type = output.bold(plainLine(event.type).padEnd(17))
  const created = plainLine(timeOf(event.createdAt) ?? "")
  return `${created}  ${type}  ${about}${" ".repeat(width - displayWidth(about))}  ${shortId(plainLine(event.eventId))}\n`
}
