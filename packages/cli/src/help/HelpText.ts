import type { ArgumentSpec, CommandSpec, FlagSpec } from "../command/Command.ts"
import { commandsBelow, GROUPS } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS } from "../command/GlobalFlags.ts"
import { EXIT, EXIT_MEANING, type ExitCode } from "../failure/ExitCode.ts"

/** How help is to look. */
export interface HelpStyle {
  readonly bold: (text: string) => string
  /** Of the terminal; undefined where there is none. */
  readonly columns: number | undefined
}
type Bold = HelpStyle["bold"]

const INDENT = "  "
/** Columns of help at most, and at least: a terminal that is narrower still breaks it itself. */
const WIDEST = 100
const NARROWEST = 40

const widthOf = ({ columns = WIDEST }: HelpStyle): number => Math.max(NARROWEST, Math.min(WIDEST, columns))
/** Columns of what stands right of a margin: where that is nearly all, the terminal breaks it. */
const besides = (margin: number, width: number): number => Math.max(NARROWEST / 2, width - margin)

/** How an argument is written in a usage line. */
export const argumentUsage = ({ choices, name, presence }: ArgumentSpec): string => {
  const text = choices !== undefined && choices.length <= 4 ? choices.join("|") : name.toUpperCase()
  return presence === "required" ? text : presence === "optional" ? `[${text}]` : `[${text}]...`
}

/** How a flag is written in help: `-q, --quiet` or `--limit N`. */
export const flagUsage = ({ name, short, type, value }: FlagSpec): string =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${type === "boolean" ? "" : ` ${value ?? "VALUE"}`}`

/** Everything that is to be known about a flag, in one line. */
export const flagSummary = ({ choices, default: fallback, env, maximum, minimum, summary, type }: FlagSpec): string =>
  [
    summary,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(type === "integer" && maximum !== undefined ? [`From ${minimum ?? 0} to ${maximum}.`] : []),
    ...(type === "list" ? ["May be given several times."] : []),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
    ...(env === undefined ? [] : [`[${env}]`])
  ].join(" ")

/** Lines of at most so many columns, broken between words. */
const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const paragraphs = (text: string, width: number): string =>
  text
    .split("\n")
    .flatMap((line) => wrap(line, width))
    .join("\n")

const rows = (pairs: ReadonlyArray<readonly [string, string]>, style: HelpStyle): string => {
  const longest = Math.max(...pairs.map(([left]) => left.length))
  const margin = INDENT.length + longest + 2
  return pairs
    .map(([left, right]) => {
      const lines = wrap(right, besides(margin, widthOf(style))).join(`\n${" ".repeat(margin)}`)
      return `${INDENT}${left.padEnd(longest)}  ${lines}\n`
    })
    .join("")
}

const section = (title: string, body: string, bold: Bold): string => `\n${bold(title)}\n${body}`

const flagRows = (flags: ReadonlyArray<FlagSpec>, style: HelpStyle): string =>
  rows(
    flags.map((flag) => [flagUsage(flag), flagSummary(flag)] as const),
    style
  )

/** The exit codes that a command can have, those of every command included. */
export const exitsOf = ({ exits }: CommandSpec): ReadonlyArray<ExitCode> =>
  [...new Set([EXIT.ok, EXIT.failure, EXIT.usage, ...exits, EXIT.interrupted])].toSorted((left, right) => left - right)

/** The usage line of a command. */
export const usageLine = (command: CommandSpec): string =>
  ["agentctl", command.name, ...command.arguments.map(argumentUsage), "[flags]"].join(" ")

/** Help for one command. */
export const commandHelp = (command: CommandSpec, style: HelpStyle): string =>
  [
    `${command.summary}.\n\n${paragraphs(command.description, widthOf(style))}\n`,
    section("USAGE", `${INDENT}${usageLine(command)}\n`, style.bold),
    command.arguments.length === 0
      ? ""
      : section(
          "ARGUMENTS",
          rows(
            command.arguments.map(
              ({ choices, name, summary }) =>
                [
                  name.toUpperCase(),
                  choices === undefined ? summary : `${summary} One of ${choices.join(", ")}.`
                ] as const
            ),
            style
          ),
          style.bold
        ),
    command.flags.length === 0 ? "" : section("FLAGS", flagRows(command.flags, style), style.bold),
    section("GLOBAL FLAGS", flagRows(GLOBAL_FLAGS, style), style.bold),
    section(
      "EXAMPLES",
      command.examples.map(({ does, line }) => `${INDENT}# ${does}\n${INDENT}$ ${line}\n`).join(""),
      style.bold
    ),
    section("OUTPUT", rows([["--json", `prints ${command.json}`]], style), style.bold),
    section(
      "EXIT CODES",
      rows(
        exitsOf(command).map((code) => [`${code}`, EXIT_MEANING[code]] as const),
        style
      ),
      style.bold
    )
  ].join("")

/** Help for a group of commands. */
export const groupHelp = (words: ReadonlyArray<string>, style: HelpStyle): string =>
  [
    `${GROUPS[words.join(" ")] ?? words.join(" ")}.\n`,
    section("USAGE", `${INDENT}agentctl ${words.join(" ")} COMMAND [flags]\n`, style.bold),
    section(
      "COMMANDS",
      rows(
        commandsBelow(words).map(({ name, summary }) => [name, summary] as const),
        style
      ),
      style.bold
    ),
    `\nMore about a command: agentctl ${words.join(" ")} COMMAND --help\n`
  ].join("")

const singles = (commands: ReadonlyArray<CommandSpec>) => commands.filter(({ name }) => !name.includes(" "))
const FIRST = ["login", "logout", "whoami", "quote"]

/** Help for the whole program. */
export const programHelp = (style: HelpStyle): string => {
  const all = commandsBelow([])
  const groups = [...new Set(all.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0]!] : [])))]
  const named = (command: CommandSpec) => [command.name, command.summary] as const
  return [
    "Mailboxes, telephone numbers and their events for agents, paid per call from a wallet.\n",
    section("USAGE", `${INDENT}agentctl COMMAND [arguments] [flags]\n`, style.bold),
    section(
      "BEGIN",
      rows(
        singles(all)
          .filter(({ name }) => FIRST.includes(name))
          .map(named),
        style
      ),
      style.bold
    ),
    section(
      "COMMANDS",
      rows(
        groups.map((group) => {
          const verbs = commandsBelow([group]).map(({ name }) => name.slice(group.length + 1))
          return [group, `${GROUPS[group] ?? ""}: ${verbs.join(", ")}`] as const
        }),
        style
      ),
      style.bold
    ),
    section(
      "TOOLS",
      rows(
        singles(all)
          .filter(({ name }) => !FIRST.includes(name))
          .map(named),
        style
      ),
      style.bold
    ),
    section("FLAGS", flagRows(GLOBAL_FLAGS, style), style.bold),
    "\nMore about a command: agentctl COMMAND --help\n"
  ].join("")
}
