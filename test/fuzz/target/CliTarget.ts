import { type AnyCommand, COMMANDS, type Host, runProgram } from "@agentos/cli/testing"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Random } from "../../support/Random.ts"
import { chance, mutateText, oddText, several } from "../Mutation.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

export interface CommandLine {
  readonly argv: ReadonlyArray<string>
  readonly stdin: string
}

/** `dev` starts a sandbox. */
const commands: ReadonlyArray<AnyCommand> = COMMANDS.filter(({ name }) => name !== "dev")
/** Their values are run or called. */
const KEPT_AWAY: ReadonlySet<string> = new Set(["exec", "forward-to", "base-url"])

/** Paths stay in the folder of the run. */
const harmless = (text: string): string =>
  text.replaceAll(/[/\\]/g, "_").replaceAll("..", "__").replaceAll("\u0000", "0")

const word = (random: Random): string =>
  harmless(random.pick([() => "{{own.mailboxId}}", () => "{{other.messageId}}", () => "text", () => oddText(random)])())

const flagsOf = (random: Random, { flags }: AnyCommand): ReadonlyArray<string> =>
  flags
    .filter(({ name }) => !KEPT_AWAY.has(name) && chance(random, 3))
    .flatMap((flag) => {
      const value =
        flag.type === "integer"
          ? random.pick(["1", "0", "-1", "1e3", "99999999999999999999", "0x10", " 1", ""])
          : "choices" in flag && flag.choices !== undefined && chance(random, 2)
            ? random.pick(flag.choices)
            : word(random)
      if (flag.type === "boolean") return chance(random, 8) ? [`--${flag.name}=${value}`] : [`--${flag.name}`]
      return chance(random, 2) ? [`--${flag.name}=${value}`] : [`--${flag.name}`, value]
    })

const generate = (random: Random): CommandLine => {
  const command = random.pick(commands)
  const values = command.arguments.flatMap((argument) =>
    chance(random, 6)
      ? []
      : ["choices" in argument && argument.choices !== undefined ? random.pick(argument.choices) : word(random)]
  )
  let argv: ReadonlyArray<string> = [...command.name.split(" "), ...values, ...flagsOf(random, command)]
  if (chance(random, 4)) argv = random.shuffle(argv)
  if (chance(random, 4)) {
    argv = several(random, 3, argv, (words) => {
      const place = random.integer(words.length)
      return words.map((text, index) => (index === place ? harmless(mutateText(random, text)) : text))
    })
  }
  if (chance(random, 3)) argv = [...argv, "--json"]
  if (chance(random, 20)) argv = [...argv, random.pick(["--", "-", "--help", "-hq", "--=", "---x", "-q=1", ""])]
  return { argv, stdin: chance(random, 4) ? oddText(random) : "" }
}

const EXITS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130])
/** Messages of JavaScript's own errors. */
const CRASH =
  /Cannot read propert|is not a function|is not iterable|undefined is not|Maximum call stack|Invalid array length/
const TERMINAL_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
const LIMIT_MILLIS = 3_000

/** Command lines of agentctl, run in this process against the service, without a wallet. */
export const cliTarget: Target<CommandLine> = {
  name: "cli",
  summary: "command lines of agentctl",
  workers: 1,
  generate,
  open: async ({ count, oracle, rig }) => {
    const folder = await mkdtemp(join(tmpdir(), "agentos-fuzz-cli-"))
    return {
      play: async ({ argv, stdin }) => {
        count("command lines")
        const filled = argv.map((text) => fill(text, rig))
        const written = { out: "", error: "" }
        const exit = await runProgram(hostOf(folder, rig.sandbox.baseUrl, rig.attacker.token, filled, stdin, written))
        const text = written.out + written.error
        const flaws: Array<Flaw> = [...oracle.examineText(text)]
        const add = (rule: string, detail: string) =>
          flaws.push({ rule, detail: `${JSON.stringify(filled)}: ${detail.slice(0, 300)}` })
        if (!EXITS.has(exit)) add("every exit code is a documented one", String(exit))
        if (CRASH.test(text)) add("no command line crashes the program", text)
        if (text.includes(rig.attacker.token)) add("no output holds the access token", "")
        if (TERMINAL_CONTROL.test(text)) add("no output holds control characters", JSON.stringify(text))
        return flaws
      },
      close: () => rm(folder, { recursive: true, force: true })
    }
  }
}

const hostOf = (
  folder: string,
  baseUrl: string,
  token: string,
  argv: ReadonlyArray<string>,
  stdin: string,
  written: { out: string; error: string }
): Host => {
  const signal = AbortSignal.timeout(LIMIT_MILLIS)
  const sink = (stream: "out" | "error") => ({
    write: (data: string | Uint8Array) => void (written[stream] += Buffer.from(data).toString()),
    isTerminal: false,
    columns: undefined,
    drained: () => Promise.resolve()
  })
  return {
    argv,
    env: { AGENTOS_HOME: folder, AGENTOS_BASE_URL: baseUrl, AGENTOS_TOKEN: token, NO_COLOR: "1" },
    workingDirectory: folder,
    homeDirectory: folder,
    stdout: sink("out"),
    stderr: sink("error"),
    stdinIsTerminal: false,
    readStdin: () => Promise.resolve(stdin),
    ask: () => Promise.reject(new Error("no terminal")),
    now: () => Date.now(),
    sleep: (millis) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, millis)
        signal.addEventListener("abort", () => {
          clearTimeout(timer)
          reject(new Error("interrupted"))
        })
      }),
    signal
  }
}
