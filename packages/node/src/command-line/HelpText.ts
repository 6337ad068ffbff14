import type { ArgumentSpec, CommandSpec, FlagSpec } from "./CommandSpec.ts"
import type { CommandTree, ProgramSpec } from "./CommandTree.ts"
import { EXIT, EXIT_MEANING, type ExitCode } from "./Failure.ts"

export interface HelpStyle {
  readonly bold: (text: string) => string
  /** Width of the terminal; undefined without a terminal. */
  readonly columns: number | undefined
}

type Pairs = ReadonlyArray<readonly [string, string]>

const INDENT = "  "
const MAX_COLUMNS = 100
/** A narrower terminal wraps the lines itself. */
const MIN_COLUMNS = 40

const widthOf = ({ columns = MAX_COLUMNS }: HelpStyle): number => Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns))

const argumentUsage = ({ choices, name, presence }: ArgumentSpec): string => {
  const text = choices !== undefined && choices.length <= 4 ? choices.join("|") : name.toUpperCase()
  return presence === "required" ? text : presence === "optional" ? `[${text}]` : `[${text}]...`
}

export const argumentSummary = ({ choices, summary }: ArgumentSpec): string =>
  choices === undefined ? summary : `${summary} One of ${choices.join(", ")}.`

/** Formats a flag for help: `-q, --quiet` or `--limit N`. */
export const flagUsage = ({ name, short, type, value }: FlagSpec): string =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${type === "boolean" ? "" : ` ${value ?? "VALUE"}`}`

/** Describes a flag in one line: its summary, choices, bounds, default and environment variable. */
export const flagSummary = ({ choices, default: fallback, env, maximum, minimum, summary, type }: FlagSpec): string =>
  [
    summary,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(type === "integer" && maximum !== undefined ? [`From ${minimum ?? 0} to ${maximum}.`] : []),
    ...(type === "list" ? ["Can be repeated."] : []),
    ...(fallback === undefined
      ? []
      : [/[.!?]$/.test(String(fallback)) ? `Default: ${fallback}` : `Default: ${fallback}.`]),
    ...(env === undefined ? [] : [`[${env}]`])
  ].join(" ")

/** The exit codes of a command, including those that every command has. */
export const exitsOf = ({ exits }: CommandSpec): ReadonlyArray<ExitCode> =>
  [...new Set([EXIT.ok, EXIT.failure, EXIT.usage, ...exits, EXIT.interrupted])].toSorted((left, right) => left - right)

export const usageLine = (program: string, command: CommandSpec): string =>
  [program, command.name, ...command.arguments.map(argumentUsage), "[flags]"].join(" ")

const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const paragraphs = (text: string, style: HelpStyle): string =>
  text
    .split("\n")
    .flatMap((line) => wrap(line, widthOf(style)))
    .join("\n")

/** A section whose body is given as text, or as pairs in two columns. */
const section = (title: string, body: string | Pairs, style: HelpStyle): string =>
  body.length === 0 ? "" : `\n${style.bold(title)}\n${typeof body === "string" ? body : rows(body, style)}`

const rows = (pairs: Pairs, style: HelpStyle): string => {
  const longest = Math.max(...pairs.map(([left]) => left.length))
  const margin = INDENT.length + longest + 2
  const columns = Math.max(MIN_COLUMNS / 2, widthOf(style) - margin)
  return pairs
    .map(([left, right]) => {
      const lines = wrap(right, columns).join(`\n${" ".repeat(margin)}`)
      return `${INDENT}${left.padEnd(longest)}  ${lines}\n`
    })
    .join("")
}

const flagRows = (flags: ReadonlyArray<FlagSpec>): Pairs => flags.map((flag) => [flagUsage(flag), flagSummary(flag)])

/** Returns the help of a command, a group or the program. */
export const helpFor = (tree: CommandTree, words: ReadonlyArray<string>, style: HelpStyle): string => {
  const command = tree.find(words.join(" "))
  if (command !== undefined) return commandHelp(tree.program, command, style)
  return words.length === 0 || tree.below(words).length === 0 ? programHelp(tree, style) : groupHelp(tree, words, style)
}

export const commandHelp = (program: ProgramSpec, command: CommandSpec, style: HelpStyle): string =>
  [
    `${command.summary}.\n\n${paragraphs(command.description, style)}\n`,
    section("USAGE", `${INDENT}${usageLine(program.name, command)}\n`, style),
    section(
      "ARGUMENTS",
      command.arguments.map((argument) => [argument.name.toUpperCase(), argumentSummary(argument)]),
      style
    ),
    section("FLAGS", flagRows(command.flags), style),
    section("GLOBAL FLAGS", flagRows(program.globalFlags), style),
    section(
      "EXAMPLES",
      command.examples.map(({ does, line }) => `${INDENT}# ${does}\n${INDENT}$ ${line}\n`).join(""),
      style
    ),
    section("OUTPUT", [["--json", `prints ${command.json}`]], style),
    section(
      "EXIT CODES",
      exitsOf(command).map((code) => [`${code}`, command.exitMeanings?.[code] ?? EXIT_MEANING[code]]),
      style
    )
  ].join("")

const groupHelp = (tree: CommandTree, words: ReadonlyArray<string>, style: HelpStyle): string => {
  const group = words.join(" ")
  return [
    `${tree.groups[group] ?? group}.\n`,
    section("USAGE", `${INDENT}${tree.program.name} ${group} COMMAND [flags]\n`, style),
    section(
      "COMMANDS",
      tree.below(words).map(({ name, summary }) => [name, summary]),
      style
    ),
    `\nHelp for a command: ${tree.program.name} ${group} COMMAND --help\n`
  ].join("")
}

const programHelp = (tree: CommandTree, style: HelpStyle): string => {
  const { globalFlags, name: program, start, summary, titles } = tree.program
  const single = tree.commands.filter(({ name }) => !name.includes(" "))
  const described = (commands: ReadonlyArray<CommandSpec>): Pairs =>
    commands.map(({ name, summary }) => [name, summary])
  const groups = [...new Set(tree.commands.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0]!] : [])))]
  return [
    `${summary}\n`,
    section("USAGE", `${INDENT}${program} COMMAND [arguments] [flags]\n`, style),
    section(titles.start, described(single.filter((command) => start.includes(command.name))), style),
    section(
      "COMMANDS",
      groups.map((group) => [group, `${tree.groups[group] ?? ""}: ${tree.wordsAfter([group]).join(", ")}`]),
      style
    ),
    section(titles.rest, described(single.filter((command) => !start.includes(command.name))), style),
    section("FLAGS", flagRows(globalFlags), style),
    `\nHelp for a command: ${program} COMMAND --help\n`
  ].join("")
}
