import { parseArgs } from "node:util"
import { distance } from "fastest-levenshtein"
import type { ArgumentSpec, FlagSpec, ParsedInput } from "./CommandSpec.ts"
import type { Command, CommandTree, Globals } from "./CommandTree.ts"
import { type Failure, usageError } from "./Failure.ts"

export interface ParsedLine {
  readonly globals: Globals
  /** Undefined for the program itself and for a group, which only have help. */
  readonly command: Command | undefined
  /** The words of the command or group. */
  readonly words: ReadonlyArray<string>
  /** Undefined if --help or --version was given. */
  readonly input: ParsedInput | undefined
}

type Value = string | number | boolean | ReadonlyArray<string> | undefined
type Words = ReadonlyArray<string>

/** `words` are the program and its command. */
const usage = (message: string, words: Words): Failure => usageError(message, [[...words, "--help"].join(" ")])

/** Separates the words of the command from the other arguments. Global flags may stand before and between the words. */
const splitWords = (argv: ReadonlyArray<string>, tree: CommandTree) => {
  const globals = tree.program.globalFlags
  const words: Array<string> = []
  const rest: Array<string> = []
  let index = 0
  for (; index < argv.length; index++) {
    const argument = argv[index]!
    if (argument === "--") break
    if (argument.startsWith("-") && argument.length > 1) {
      rest.push(argument)
      const flag = globals.find(({ name }) => `--${name}` === argument)
      // Whether another flag takes a value is unknown before the command, so the words end here.
      if (flag === undefined && !isGlobal(argument, globals)) break
      if (flag !== undefined && flag.type !== "boolean" && index + 1 < argv.length) rest.push(argv[++index]!)
      continue
    }
    if (!tree.wordsAfter(words).includes(argument)) break
    words.push(argument)
  }
  // The flag that ended the words is already in rest.
  const last = argv[index]
  const from = last !== undefined && last.startsWith("-") && last.length > 1 && last !== "--" ? index + 1 : index
  return { words, rest: [...rest, ...argv.slice(from)], next: last }
}

const isGlobal = (argument: string, globals: ReadonlyArray<FlagSpec>): boolean =>
  globals.some(
    ({ name, short }) => argument === `-${short}` || argument === `--${name}` || argument.startsWith(`--${name}=`)
  )

const spelled = (flag: FlagSpec): string => `--${flag.name}`

const integerOf = (flag: FlagSpec, text: string, words: Words): number => {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  const { maximum = Number.MAX_SAFE_INTEGER, minimum = 0 } = flag
  if (value >= minimum && value <= maximum) return value
  const range =
    flag.maximum === undefined ? `an integer of at least ${minimum}` : `an integer from ${minimum} to ${maximum}`
  throw usage(`${spelled(flag)} takes ${range}, not "${text}".`, words)
}

const checkChoice = (name: string, text: string, choices: ReadonlyArray<string> | undefined, words: Words) => {
  if (choices === undefined || choices.includes(text)) return
  throw usage(`Invalid ${name} "${text}". Choose ${alternatives(choices)}.`, words)
}

const alternatives = (choices: ReadonlyArray<string>): string =>
  choices.length < 2 ? choices.join("") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`

interface Token {
  readonly kind: string
  readonly name?: string
  readonly rawName?: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

const readFlag = (flag: FlagSpec, token: Token, before: Value, words: Words): Value => {
  const name = spelled(flag)
  if (flag.type === "boolean") {
    if (token.value !== undefined) throw usage(`${name} takes no value.`, words)
    return true
  }
  const { value } = token
  if (value === undefined) throw usage(`${name} needs a value: ${name} ${flag.value ?? "VALUE"}.`, words)
  // Most likely the value is missing, and this is the next flag.
  if (token.inlineValue !== true && /^--?[A-Za-z]/.test(value))
    throw usage(`${name} needs a value. If "${value}" is the value, write ${name}=${value}.`, words)
  checkChoice(name, value, flag.choices, words)
  if (flag.type === "integer") return integerOf(flag, value, words)
  return flag.type === "list" ? [...(Array.isArray(before) ? before : []), value] : value
}

const readArguments = (command: Command, texts: ReadonlyArray<string>, words: Words): ParsedInput["arguments"] => {
  const values: Record<string, string | ReadonlyArray<string> | undefined> = {}
  const specs: ReadonlyArray<ArgumentSpec> = command.arguments
  let used = 0
  for (const spec of specs) {
    const name = spec.name.toUpperCase()
    if (spec.presence === "several") {
      values[spec.name] = texts.slice(used)
      used = texts.length
      continue
    }
    const text = texts[used++]
    if (text === undefined && spec.presence === "required") throw usage(missingArgument(name, spec), words)
    if (text !== undefined) checkChoice(name, text, spec.choices, words)
    values[spec.name] = text
  }
  if (used < texts.length) throw usage(`Unexpected argument "${texts[used]}".`, words)
  return values
}

const missingArgument = (name: string, { choices, summary }: ArgumentSpec): string =>
  choices === undefined
    ? `Missing argument ${name}: ${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`
    : `Missing argument ${name} (${alternatives(choices)}).`

const unknownFlag = (token: Token, flags: ReadonlyArray<FlagSpec>, words: Words): Failure => {
  const given = token.rawName ?? ""
  const names = flags.map(({ name }) => name)
  const meant = nearest(given.replace(/^-+/, ""), names)
  return usage(`Unknown flag ${given}.${meant === undefined ? "" : ` Did you mean --${meant}?`}`, words)
}

/**
 * More than any command has, and far fewer than `parseArgs` of Node can take: it spreads the flags of one argument into
 * one function call, and 131,000 of them exceed the call stack.
 */
const JOINED_FLAGS_LIMIT = 64

/** Rejects an argument with too many joined short flags. Values are not limited, joined to their flag or not. */
const limitJoinedFlags = (rest: ReadonlyArray<string>, flags: ReadonlyArray<FlagSpec>, words: Words): void => {
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
      isValue = withValue.some((flag) => spelled(flag) === argument)
      continue
    }
    // Text after a flag with a value in the same argument is that value.
    const places = shorts.map((short) => argument.indexOf(short, 1)).filter((place) => place > 0)
    const count = Math.min(argument.length - 1, ...places)
    if (count > JOINED_FLAGS_LIMIT)
      throw usage(
        `"${argument.slice(0, 16)}…" joins ${count} short flags; at most ${JOINED_FLAGS_LIMIT} are allowed. Write a value that begins with - as --FLAG=VALUE, and such an argument after --.`,
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

/** Parses a command line. Throws a usage failure that suggests the word that was probably meant. */
export const parse = (argv: ReadonlyArray<string>, tree: CommandTree): ParsedLine => {
  const { next, rest, words } = splitWords(argv, tree)
  const command = tree.find(words.join(" "))
  const { globalFlags, name: program } = tree.program
  const place = [program, ...words]
  const flags = [...globalFlags, ...(command?.flags ?? [])]
  const values: Record<string, Value> = {}
  const positionals: Array<string> = []
  let wrong: Failure | undefined
  limitJoinedFlags(rest, flags, place)
  for (const token of tokensOf(rest, flags)) {
    if (token.kind === "positional") positionals.push(token.value ?? "")
    if (token.kind !== "option") continue
    const flag = flags.find(({ name }) => name === token.name)
    if (flag === undefined) wrong ??= unknownFlag(token, flags, place)
    else values[flag.name] = readFlag(flag, token, values[flag.name], place)
  }
  const given = Object.fromEntries(
    globalFlags.map(({ name, type }) => [name, type === "boolean" ? values[name] === true : values[name]])
  )
  if (given["help"] === true || given["version"] === true) return { globals: given, command, words, input: undefined }
  if (wrong !== undefined && words.length === 0 && next !== undefined)
    throw usage(`${wrong.message} The command comes before its flags: ${program} COMMAND ${next}`, [program])
  if (command === undefined && positionals.length > 0)
    throw unknownCommand(tree, words, positionals[0]!, positionals[1])
  if (wrong !== undefined) throw wrong
  if (command === undefined) return { globals: given, command, words, input: undefined }
  for (const { default: fallback, name, type } of command.flags)
    values[name] ??= type === "boolean" ? false : type === "list" ? [] : fallback
  return {
    globals: given,
    command,
    words,
    input: { flags: values, arguments: readArguments(command, positionals, place) }
  }
}

/** Suggests a command for the order of words that other programs have: `create mailbox`. */
const verbFirst = (tree: CommandTree, verb: string, noun: string | undefined): string | undefined => {
  const group = noun === undefined ? undefined : nearest(noun, tree.wordsAfter([]))
  return group === undefined ? undefined : tree.find(`${group} ${verb}`)?.name
}

/** Suggests the only command that ends with this word. */
const withoutGroup = (tree: CommandTree, word: string): string | undefined => {
  if (word === "version") return "--version"
  const [only, ...more] = tree.commands.filter(({ name }) => name.endsWith(` ${word}`))
  return more.length === 0 ? only?.name : undefined
}

const unknownCommand = (tree: CommandTree, words: Words, given: string, after?: string): Failure => {
  const candidates = tree.wordsAfter(words)
  const meant = synonym(given, candidates) ?? nearest(given, candidates)
  const inGroup = meant === undefined ? undefined : [...words, meant].join(" ")
  const hint = words.length > 0 ? inGroup : (verbFirst(tree, given, after) ?? inGroup ?? withoutGroup(tree, given))
  const name = [...words, given].join(" ")
  return usage(`Unknown command "${name}".${hint === undefined ? "" : ` Did you mean ${hint}?`}`, [
    tree.program.name,
    ...words
  ])
}

/** Rejects words that are not a command or a group. */
export const requireWords = (words: Words, tree: CommandTree): void => {
  for (const [index, word] of words.entries()) {
    const before = words.slice(0, index)
    if (!tree.wordsAfter(before).includes(word)) throw unknownCommand(tree, before, word)
  }
}

/** Words with the same meaning in other programs. */
const SYNONYMS: ReadonlyArray<ReadonlyArray<string>> = [
  ["list", "ls"],
  ["create", "buy", "start", "new", "add", "make"],
  ["delete", "release", "rm", "remove", "del"],
  ["show", "get", "read", "view", "cat", "info", "describe", "address"],
  ["update", "set", "edit"],
  ["tail", "follow", "watch", "listen"]
]

const synonym = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const words = SYNONYMS.find((same) => same.includes(word)) ?? []
  return words.find((same) => candidates.includes(same))
}

/** Returns the candidate that was probably meant; undefined if none is similar. */
export const nearest = (given: string, candidates: ReadonlyArray<string>): string | undefined => {
  const word = given.toLowerCase()
  const limit = word.length <= 3 ? 1 : word.length <= 6 ? 2 : 3
  let best: string | undefined
  let least = limit + 1
  for (const candidate of candidates) {
    // A prefix is nearer than any misspelling.
    const lower = candidate.toLowerCase()
    const away = lower.startsWith(word) && word.length > 1 ? 0 : distance(word.slice(0, 64), lower)
    if (away < least) {
      least = away
      best = candidate
    }
  }
  return best
}
