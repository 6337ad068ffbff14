import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { Failure } from "../../src/failure/Failure.ts"
import type { Host, Sink } from "../../src/host/Host.ts"
import { run } from "../../src/Program.ts"
import type { ApiDouble, Reply } from "./ApiDouble.ts"
import { ASSET, KEY, PAY_TO, PAYER, TOKEN } from "./PaidAnswers.ts"

/** What happens when one command is run, and around it. */
export interface Scene {
  readonly args: ReadonlyArray<string>
  readonly exit: number
  /** What the server answers, by method and path. */
  readonly server?: Readonly<Record<string, ReadonlyArray<Reply>>>
  /** Variables beside those that name server, token, wallet and chain; an empty one takes one of those away. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** What is typed at each question; `^C` and `^D` are pressed. */
  readonly answers?: ReadonlyArray<string>
  /** Puts into the folder, which is home and working directory alike, what is to be there before. */
  readonly prepare?: (folder: string, baseUrl: string) => void
  /** When Ctrl-C is pressed: while the server does not answer, while it waits by itself, or once this was said. */
  readonly interrupt?: "unanswered" | "asleep" | { readonly said: string }
}

/** Who looks: somebody at a terminal of 120 columns, or a program at the end of pipes. */
export type Reader = "person" | "program"

const COLUMNS = 120
const NOW = Date.parse("2026-01-31T12:00:30.000Z")
const KNOWN: ReadonlySet<string> = new Set([ASSET, PAY_TO, PAYER].map((address) => address.toLowerCase()))
const folders: Array<string> = []

/** Takes away what the runs have left behind. */
export const removeFolders = (): void => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true }))

/**
 * Runs a command in this process, from its arguments to its exit code, against a server at the wire. Time is the
 * fake `Date` of Vitest, which goes on by pauses alone. Answers everything that was written as it would stand on a
 * screen, with `! ` before each line of standard error, and what differs from run to run replaced by a name.
 */
export const play = async (api: ApiDouble, scene: Scene, reader: Reader): Promise<{ exit: number; text: string }> => {
  const folder = mkdtempSync(join(tmpdir(), "agentctl-audit-"))
  folders.push(folder)
  scene.prepare?.(folder, api.url())
  api.reset()
  vi.setSystemTime(NOW)
  for (const [place, replies] of Object.entries(scene.server ?? {})) api.on(place, ...replies)

  const interruption = new AbortController()
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
    write: (text) => say(isError, text),
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
    ask: (question, { hidden }) => {
      const answer = answers.shift() ?? "^D"
      say(true, `${question}${hidden ? "" : answer}\n`)
      if (answer === "^C") interruption.abort()
      return answer.startsWith("^")
        ? Promise.reject(new Failure({ code: "CANCELLED", message: "No answer was given." }))
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
    .replaceAll(/(?<=Connecting again in )[\d.]+/g, "A-FEW")
    .replaceAll(process.versions.node, "NODE-VERSION")
    .replaceAll(/0x[\da-fA-F]{40}(?![\da-fA-F])/g, (address) =>
      KNOWN.has(address.toLowerCase()) ? address : "0xRANDOM"
    )
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-7(?!000-8000)[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, "NEW-ID")
  return { exit, text: screen === "" || screen.endsWith("\n") ? screen : `${screen}\n` }
}
