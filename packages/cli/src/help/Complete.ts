import type { Completion, FlagSpec } from "../command/Command.ts"
import { findCommand, GROUPS, wordsAfter } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS, type GlobalValues } from "../command/GlobalFlags.ts"
import type { Host } from "../host/Host.ts"
import { plainLine } from "../output/Plain.ts"
import { isShellWord } from "../output/ShellWord.ts"
import type { Candidate } from "./Candidate.ts"

/** Whoever presses Tab does not wait longer. */
const PATIENCE_MILLIS = 1_500

/** What the shell is told where it is to complete names of files by itself. */
const FILES = ":files"

/** What is being typed. Bash takes the = of `--flag=value` for a word of its own. */
const currentOf = (typed: ReadonlyArray<string>): string => {
  const last = typed.at(-1) ?? ""
  return last === "=" ? "" : last
}

const globals: ReadonlyArray<FlagSpec> = GLOBAL_FLAGS

interface Position {
  readonly words: ReadonlyArray<string>
  readonly flags: ReadonlyArray<FlagSpec>
  /** The flag whose value is being typed. */
  readonly pending: FlagSpec | undefined
  /** How many arguments of the command are there already. */
  readonly argumentCount: number
  readonly given: ReadonlyMap<string, string>
}

const positionOf = (before: ReadonlyArray<string>): Position => {
  const words: Array<string> = []
  const given = new Map<string, string>()
  let pending: FlagSpec | undefined
  let argumentCount = 0
  const flags = () => [...globals, ...(findCommand(words.join(" "))?.flags ?? [])]
  for (const text of before) {
    if (pending !== undefined && text === "=") continue
    if (pending !== undefined) {
      given.set(pending.name, text)
      pending = undefined
    } else if (text.startsWith("-")) {
      const [name = "", value] = text.replace(/^-+/, "").split("=", 2)
      const flag = flags().find((candidate) => candidate.name === name || candidate.short === name)
      if (value !== undefined) given.set(name, value)
      else if (flag !== undefined && flag.type !== "boolean") pending = flag
    } else if (argumentCount === 0 && wordsAfter(words).includes(text)) words.push(text)
    else argumentCount++
  }
  return { words, flags: flags(), pending, argumentCount, given }
}

const wordCandidates = (words: ReadonlyArray<string>): ReadonlyArray<Candidate> =>
  wordsAfter(words).map((word) => {
    const name = [...words, word].join(" ")
    return { word, does: findCommand(name)?.summary ?? GROUPS[name] }
  })

/** Everything that may stand at the last of these words, be it a command, a flag or a value. */
const candidatesFor = async (host: Host, typed: ReadonlyArray<string>): Promise<ReadonlyArray<Candidate>> => {
  const current = currentOf(typed)
  const position = positionOf(typed.slice(0, -1))
  const { argumentCount, flags, pending, words } = position
  if (pending !== undefined) return valuesOf(host, position, pending)
  const [flagName = "", value] = current.startsWith("--") ? current.slice(2).split("=", 2) : []
  const assigned =
    value === undefined ? undefined : flags.find(({ name, type }) => name === flagName && type !== "boolean")
  if (assigned !== undefined) {
    const values = await valuesOf(host, position, assigned)
    // A shell completes names of files in the whole word, of which the flag is no part.
    return values.flatMap(({ does, word }) => (word === FILES ? [] : [{ word: `--${flagName}=${word}`, does }]))
  }
  if (current.startsWith("-")) return flags.map(({ name, summary }) => ({ word: `--${name}`, does: summary }))
  const command = findCommand(words.join(" "))
  if (command === undefined) return wordCandidates(words)
  const argument = command.arguments[Math.min(argumentCount, command.arguments.length - 1)]
  if (argument === undefined || (argumentCount >= command.arguments.length && argument.presence !== "several"))
    return []
  if (argument.completes === "command") return wordCandidates(typed.slice(words.length, -1))
  return valuesOf(host, position, argument)
}

const valuesOf = async (
  host: Host,
  { given }: Position,
  { choices, completes }: { readonly choices?: ReadonlyArray<string>; readonly completes?: Completion }
): Promise<ReadonlyArray<Candidate>> => {
  if (choices !== undefined) return choices.map((word) => ({ word }))
  if (completes === undefined) return []
  if (completes === "file") return [{ word: FILES }]
  const values: GlobalValues = {
    help: false,
    json: false,
    quiet: true,
    "no-color": true,
    version: false,
    profile: given.get("profile"),
    "base-url": given.get("base-url")
  }
  const { resourceCandidates } = await import("./ResourceCandidates.ts")
  return resourceCandidates(host, values, completes)
}

/** `agentctl __complete WORDS…`, which the completion scripts run: one candidate a line, with what it is after a tab. */
export const complete = async (host: Host): Promise<void> => {
  const patience = AbortSignal.any([host.signal, AbortSignal.timeout(PATIENCE_MILLIS)])
  let candidates: ReadonlyArray<Candidate> = []
  try {
    candidates = await candidatesFor({ ...host, signal: patience }, host.argv.slice(1))
  } catch {
    // No server, no token, no time: then there is nothing to complete, and a shell's prompt is no place to say why.
  }
  const current = currentOf(host.argv)
  for (const { does, word } of candidates)
    // A shell puts the word into the line as it is, and the server made some of them.
    if (word === FILES || (word.startsWith(current) && isShellWord(word)))
      host.stdout.write(`${plainLine(word)}${does === undefined ? "" : `\t${plainLine(does)}`}\n`)
}
