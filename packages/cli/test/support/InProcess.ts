import { Failure, type Sink } from "@agentos/node/command-line"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { vi } from "vitest"
import type { Host } from "../../src/host/Host.ts"
import { run } from "../../src/Program.ts"
import type { ApiDouble, Reply } from "./ApiDouble.ts"
import { ASSET, KEY, PAY_TO, PAYER, TOKEN } from "./PaidAnswers.ts"

/** A run of one command and its surroundings. */
export interface Scene {
  readonly args: ReadonlyArray<string>
  readonly exit: number
  /** The responses of the server by method and path. */
  readonly server?: Readonly<Record<string, ReadonlyArray<Reply>>>
  /** Variables beside server, token, wallet and RPC; an empty value removes one of these. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** The answers to the questions; `^C` and `^D` are keys. */
  readonly answers?: ReadonlyArray<string>
  /** Prepares the folder, which is both home and working directory. */
  readonly prepare?: (folder: string, baseUrl: string) => void
  /** When Ctrl-C is pressed: while a request hangs, during a sleep, or after this output. */
  readonly interrupt?: "unanswered" | "asleep" | { readonly said: string }
}

/** A person at a terminal of 80 columns, or a program with pipes. */
export type Reader = "person" | "program"

const COLUMNS = 80
const NOW = Date.parse("2026-01-31T12:00:30.000Z")
const KNOWN: ReadonlySet<string> = new Set([ASSET, PAY_TO, PAYER].map((address) => address.toLowerCase()))
const folders: Array<string> = []

/** Deletes the folders of the runs. */
export const removeFolders = (): void => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true }))

/**
 * Runs a command in this process against an HTTP server. The clock is the fake `Date` of Vitest, which only sleeps
 * advance. Returns the output as on a screen, with `! ` before each line of standard error, and with values that vary
 * between runs replaced by names, and the bytes on standard output.
 */
export const play = async (
  api: ApiDouble,
  scene: Scene,
  reader: Reader
): Promise<{ exit: number; text: string; stdout: Buffer }> => {
  const folder = mkdtempSync(join(tmpdir(), "agentctl-audit-"))
  folders.push(folder)
  scene.prepare?.(folder, api.url())
  api.reset()
  vi.setSystemTime(NOW)
  for (const [place, replies] of Object.entries(scene.server ?? {})) api.on(place, ...replies)

  const interruption = new AbortController()
  const stdout: Array<Buffer> = []
  const written: Array<{ readonly isError: boolean; text: string }> = []
  const say = (isError: boolean, text: string): void => {
    const last = written.at(-1)
    if (last?.isError === isError) last.text += text
    else written.push({ isError, text })
    if (typeof scene.interrupt === "object" && text.includes(scene.interrupt.said)) interruption.abort()
  }
  if (scene.interrupt === "unanswered") api.onHanging(() => interruption.abort())
  const isTerminal = reader === "person"
  const sink = (isError: boolean): Sink => ({
    write: (data) => {
      const bytes = Buffer.from(data)
      if (!isError) stdout.push(bytes)
      say(isError, bytes.toString())
    },
    isTerminal,
    columns: isTerminal ? COLUMNS : undefined,
    drained: () => Promise.resolve()
  })
  const answers = [...(scene.answers ?? [])]
  const host: Host = {
    argv: scene.args,
    env: {
      AGENTOS_HOME: folder,
      AGENTOS_BASE_URL: api.url(),
      AGENTOS_OPERATOR_URL: api.url(),
      AGENTOS_TOKEN: TOKEN,
      AGENTOS_PRIVATE_KEY: KEY,
      AGENTOS_RPC_URL: `${api.url()}/rpc`,
      NO_COLOR: "1",
      ...scene.env
    },
    workingDirectory: folder,
    homeDirectory: folder,
    stdout: sink(false),
    stderr: sink(true),
    stdinIsTerminal: isTerminal && scene.stdin === undefined,
    readStdin: () => Promise.resolve(scene.stdin ?? ""),
    // Without a text it stays open.
    openStdin: () =>
      scene.stdin === undefined ? new Readable({ read: () => {} }) : Readable.from([Buffer.from(scene.stdin)]),
    ask: (question, { hidden }) => {
      const answer = answers.shift() ?? "^D"
      say(true, `${question}${hidden ? "" : answer}\n`)
      if (answer === "^C") interruption.abort()
      return answer.startsWith("^")
        ? Promise.reject(new Failure({ code: "CANCELLED", message: "Cancelled: no answer." }))
        : Promise.resolve(answer)
    },
    now: () => Date.now(),
    sleep: (millis) => {
      if (scene.interrupt === "asleep") interruption.abort()
      vi.setSystemTime(Date.now() + millis)
      return interruption.signal.aborted ? Promise.reject(new Error("interrupted")) : Promise.resolve()
    },
    signal: interruption.signal
  }
  const exit = await run(host)
  const screen = written
    .map(({ isError, text }) => (isError ? text.replaceAll(/^(?=.)/gm, "! ") : text))
    .join("")
    .replaceAll(folder, "~")
    .replaceAll(api.url(), "http://server")
    .replaceAll(api.url().replace("http://", ""), "server")
    .replaceAll(/(?<=Reconnecting in )[\d.]+/g, "A-FEW")
    .replaceAll(process.versions.node, "NODE-VERSION")
    .replaceAll(/0x[\da-fA-F]{40}(?![\da-fA-F])/g, (address) =>
      KNOWN.has(address.toLowerCase()) ? address : "0xRANDOM"
    )
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-7(?!000-8000)[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, "NEW-ID")
    .replaceAll(/(?<=Payment )[\da-f]{8}(?=\.)/g, "NEW-ID")
  const text = screen === "" || screen.endsWith("\n") ? screen : `${screen}\n`
  return { exit, text, stdout: Buffer.concat(stdout) }
}
