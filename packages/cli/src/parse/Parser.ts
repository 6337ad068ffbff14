import { parseArgs } from "node:util"
import type { ArgumentSpec, CommandSpec, FlagSpec, ParsedInput } from "../command/Command.ts"
import { commandsBelow, findCommand, wordsAfter } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS, type GlobalValues } from "../command/GlobalFlags.ts"
import { Failure } from "../failure/Failure.ts"
import { nearest, sameWord } from "./Suggestion.ts"

/** A command line that was understood: a command with its input, or words that only help can be given for. */
export interface ParsedLine {
  readonly globals: GlobalValues
  readonly command: CommandSpec | undefined
  /** The words of the command, or of the group where there is none. */
  readonly words: ReadonlyArray<string>
  /** Checked against the command; undefined where help or the version was asked for. */
  readonly input: ParsedInput | undefined
}

type Value = string | number | boolean | ReadonlyArray<string> | undefined

const globals: ReadonlyArray<FlagSpec> = GLOBAL_FLAGS

/** A wrong command line, and the command whose help says what is right. */
export const usage = (message: string, words: ReadonlyArray<string>): Failure =>
  new Failure({ code: "USAGE", message, next: [["agentctl", ...words, "--help"].join(" ")] })

/** The words of the command at the head of the arguments, and what is left of them without these. */
const splitWords = (argv: ReadonlyArray<string>) => {
  const words: Array<string> = []
  const rest: Array<string> = []
  let index = 0
  for (; index < argv.length; index++) {
    const argument = argv[index]!
    if (argument === "--") break
    if (argument.startsWith("-") && argument.length > 1) {
      rest.push(argument)
      const flag = globals.find(({ name }) => `--${name}` === argument)
      // A flag of a command, before it is known whether it takes a value: the command comes first.
      if (flag === undefined && words.length === 0 && !isGlobal(argument)) break
      if (flag !== undefined && flag.type !== "boolean" && index + 1 < argv.length) rest.push(argv[++index]!)
      else if (flag === undefined && !isGlobal(argument)) break
      continue
    }
    if (!wordsAfter(words).includes(argument)) break
    words.push(argument)
  }
  // The flag at which the words ended was taken already.
  const last = argv[index]
  const from = last !== undefined && last.startsWith("-") && last.length > 1 && last !== "--" ? index + 1 : index
  return { words, rest: [...rest, ...argv.slice(from)], next: last }
}

const isGlobal = (argument: string): boolean =>
  globals.some(
    ({ name, short }) => argument === `-${short}` || argument === `--${name}` || argument.startsWith(`--${name}=`)
  )

const spelt = (flag: FlagSpec): string => `--${flag.name}`

const integerOf = (flag: FlagSpec, text: string, words: ReadonlyArray<string>): number => {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  const { maximum = Number.MAX_SAFE_INTEGER, minimum = 0 } = flag
  if (value >= minimum && value <= maximum) return value
  const bounds =
    flag.maximum === undefined ? `a whole number from ${minimum}` : `a whole number from ${minimum} to ${maximum}`
  throw usage(`${spelt(flag)} takes ${bounds}, not "${text}".`, words)
}

const checkChoice = (
  what: string,
  text: string,
  choices: ReadonlyArray<string> | undefined,
  words: ReadonlyArray<string>
) => {
  if (choices === undefined || choices.includes(text)) return
  const meant = nearest(text, choices)
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`
  throw usage(`${what} is one of ${choices.join(", ")}; not "${text}".${hint}`, words)
}

interface Token {
  readonly kind: string
  readonly name?: string
  readonly rawName?: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

const readFlag = (flag: FlagSpec, token: Token, before: Value, words: ReadonlyArray<string>): Value => {
  if (flag.type === "boolean") {
    if (token.value !== undefined) throw usage(`${spelt(flag)} takes no value.`, words)
    return true
  }
  const { value } = token
  if (value === undefined) throw usage(`${spelt(flag)} needs a value: ${spelt(flag)} ${flag.value ?? "VALUE"}.`, words)
  // Most likely the value was forgotten, and the next flag taken for it.
  if (token.inlineValue !== true && /^--?[A-Za-z]/.test(value))
    throw usage(`${spelt(flag)} needs a value. If "${value}" is it, write ${spelt(flag)}=${value}.`, words)
  checkChoice(spelt(flag), value, flag.choices, words)
  if (flag.type === "integer") return integerOf(flag, value, words)
  return flag.type === "list" ? [...(Array.isArray(before) ? before : []), value] : value
}

const readArguments = (
  command: CommandSpec,
  texts: ReadonlyArray<string>
): Record<string, string | ReadonlyArray<string> | undefined> => {
  const words = command.name.split(" ")
  const taken: Record<string, string | ReadonlyArray<string> | undefined> = {}
  const specs: ReadonlyArray<ArgumentSpec> = command.arguments
  let used = 0
  for (const spec of specs) {
    if (spec.presence === "several") {
      taken[spec.name] = texts.slice(used)
      used = texts.length
      continue
    }
    const text = texts[used++]
    if (text === undefined && spec.presence === "required")
      throw usage(`${spec.name.toUpperCase()} is missing: ${lowerFirst(spec.summary)}`, words)
    if (text !== undefined) checkChoice(spec.name.toUpperCase(), text, spec.choices, words)
    taken[spec.name] = text
  }
  if (used < texts.length) throw usage(`"${texts[used]}" is one argument too many.`, words)
  return taken
}

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

const unknownFlag = (token: Token, flags: ReadonlyArray<FlagSpec>, words: ReadonlyArray<string>): Failure => {
  const given = token.rawName ?? ""
  const meant = nearest(
    given.replace(/^-+/, ""),
    flags.map(({ name }) => name)
  )
  return usage(`There is no flag ${given}.${meant === undefined ? "" : ` Did you mean --${meant}?`}`, words)
}

/**
 * More than any command has, and far fewer than `parseArgs` of Node can take: it spreads the flags of one argument into
 * one function call, and 131,000 of them exceed the call stack.
 */
const JOINED_FLAGS_LIMIT = 64

/** Refuses an argument of too many short flags. Values are not limited, joined to their flag or not. */
const limitJoinedFlags = (
  rest: ReadonlyArray<string>,
  flags: ReadonlyArray<FlagSpec>,
  words: ReadonlyArray<string>
): void => {
  const withValue = flags.filter(({ type }) => type !== "boolean")
  const shorts = withValue.flatMap(({ short }) => short ?? [])
  let isValue = false
  for (const argument of rest) {
    if (isValue || !argument.startsWith("-")) {
      isValue = false
      continue
    }
    if (argument === "--") return
    if (argument.startsWith("--")) {
      isValue = withValue.some((flag) => spelt(flag) === argument)
      continue
    }
    // What follows a flag with a value in the same argument is that value.
    const places = shorts.map((short) => argument.indexOf(short, 1)).filter((place) => place > 0)
    const count = Math.min(argument.length - 1, ...places)
    if (count > JOINED_FLAGS_LIMIT)
      throw usage(
        `"${argument.slice(0, 16)}…" joins ${count} short flags, and at most ${JOINED_FLAGS_LIMIT} can be joined. Write a value that begins with - as --FLAG=VALUE, and an argument that does after --.`,
        words
      )
    isValue = places.length > 0 && count === argument.length - 1
  }
}

const tokensOf = (rest: ReadonlyArray<string>, flags: ReadonlyArray<FlagSpec>): ReadonlyArray<Token> =>
  parseArgs({
    args: [...rest],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      flags.map(({ name, short, type }) => [
        name,
        {
          type: type === "boolean" ? ("boolean" as const) : ("string" as const),
          ...(short === undefined ? {} : { short })
        }
      ])
    )
  }).tokens

/** Reads a command line. Throws the usage failure that says what is wrong with it, and what was probably meant. */
export const parse = (argv: ReadonlyArray<string>): ParsedLine => {
  const { next, rest, words } = splitWords(argv)
  const command = findCommand(words.join(" "))
  const flags = [...globals, ...(command?.flags ?? [])]
  const values: Record<string, Value> = {}
  const positionals: Array<string> = []
  let wrong: Failure | undefined
  limitJoinedFlags(rest, flags, words)
  for (const token of tokensOf(rest, flags)) {
    if (token.kind === "positional") positionals.push(token.value ?? "")
    if (token.kind !== "option") continue
    const flag = flags.find(({ name }) => name === token.name)
    if (flag === undefined) wrong ??= unknownFlag(token, flags, words)
    else values[flag.name] = readFlag(flag, token, values[flag.name], words)
  }
  const asked: GlobalValues = {
    help: values["help"] === true,
    json: values["json"] === true,
    profile: textOf(values["profile"]),
    "base-url": textOf(values["base-url"]),
    quiet: values["quiet"] === true,
    "no-color": values["no-color"] === true,
    version: values["version"] === true
  }
  if (asked.help || asked.version) return { globals: asked, command, words, input: undefined }
  if (wrong !== undefined && words.length === 0 && next !== undefined) throw flagFirst(wrong, next)
  if (command === undefined && positionals.length > 0) throw unknownCommand(words, positionals[0]!, positionals[1])
  if (wrong !== undefined) throw wrong
  if (command === undefined) return { globals: asked, command, words, input: undefined }
  for (const { default: fallback, name, type } of command.flags)
    values[name] ??= type === "boolean" ? false : type === "list" ? [] : fallback
  return { globals: asked, command, words, input: { flags: values, arguments: readArguments(command, positionals) } }
}

const textOf = (value: Value): string | undefined => (typeof value === "string" ? value : undefined)

const flagFirst = (wrong: Failure, flag: string): Failure =>
  usage(`${wrong.message} The command comes before its flags: agentctl COMMAND ${flag}`, [])

/** Other programs say `create mailbox`. */
const turnedRound = (verb: string, noun: string | undefined): string | undefined => {
  const group = noun === undefined ? undefined : nearest(noun, wordsAfter([]))
  return group === undefined ? undefined : findCommand(`${group} ${verb}`)?.name
}

/** The one command that ends with this word. */
const elsewhere = (word: string): string | undefined => {
  if (word === "version") return "--version"
  const [only, ...more] = commandsBelow([]).filter(({ name }) => name.endsWith(` ${word}`))
  return more.length === 0 ? only?.name : undefined
}

const unknownCommand = (words: ReadonlyArray<string>, given: string, after?: string): Failure => {
  const here = wordsAfter(words)
  const meant = sameWord(given, here) ?? nearest(given, here)
  const inside = meant === undefined ? undefined : [...words, meant].join(" ")
  const hint = words.length > 0 ? inside : (turnedRound(given, after) ?? inside ?? elsewhere(given))
  return usage(
    `There is no command ${[...words, given].join(" ")}.${hint === undefined ? "" : ` Did you mean ${hint}?`}`,
    words
  )
}

/** Refuses words that are neither of a command nor of a group. */
export const requireWords = (words: ReadonlyArray<string>): void => {
  for (const [index, word] of words.entries())
    if (!wordsAfter(words.slice(0, index)).includes(word)) throw unknownCommand(words.slice(0, index), word)
}
