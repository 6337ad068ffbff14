import type { ArgumentSpec, CommandSpec, FlagSpec } from "../command/Command.ts"
import { commandsBelow, GROUPS } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS } from "../command/GlobalFlags.ts"
import { EXIT, EXIT_MEANING, type ExitCode } from "../failure/ExitCode.ts"

type Bold = (text: string) => string

const INDENT = "  "
/** Columns of help; terminals narrower than this break it themselves. */
const WIDTH = 100

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

const paragraphs = (text: string): string =>
  text
    .split("\n")
    .flatMap((line) => wrap(line, WIDTH))
    .join("\n")

const rows = (pairs: ReadonlyArray<readonly [string, string]>): string => {
  const width = Math.max(...pairs.map(([left]) => left.length))
  const margin = INDENT.length + width + 2
  return pairs
    .map(([left, right]) => {
      const lines = wrap(right, WIDTH - margin).join(`\n${" ".repeat(margin)}`)
      return `${INDENT}${left.padEnd(width)}  ${lines}\n`
    })
    .join("")
}

const section = (title: string, body: string, bold: Bold): string => `\n${bold(title)}\n${body}`

const flagRows = (flags: ReadonlyArray<FlagSpec>): string =>
  rows(flags.map((flag) => [flagUsage(flag), flagSummary(flag)] as const))

/** The exit codes that a command can have, those of every command included. */
export const exitsOf = ({ exits }: CommandSpec): ReadonlyArray<ExitCode> =>
  [...new Set([EXIT.ok, EXIT.failure, EXIT.usage, ...exits, EXIT.interrupted])].toSorted((left, right) => left - right)

/** The usage line of a command. */
export const usageLine = (command: CommandSpec): string =>
  ["agentctl", command.name, ...command.arguments.map(argumentUsage), "[flags]"].join(" ")

/** Help for one command. */
export const commandHelp = (command: CommandSpec, bold: Bold): string =>
  [
    `${command.summary}.\n\n${paragraphs(command.description)}\n`,
    section("USAGE", `${INDENT}${usageLine(command)}\n`, bold),
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
            )
          ),
          bold
        ),
    command.flags.length === 0 ? "" : section("FLAGS", flagRows(command.flags), bold),
    section("GLOBAL FLAGS", flagRows(GLOBAL_FLAGS), bold),
    section(
      "EXAMPLES",
      command.examples.map(({ does, line }) => `${INDENT}# ${does}\n${INDENT}$ ${line}\n`).join(""),
      bold
    ),
    section("OUTPUT", rows([["--json", `prints ${command.json}`]]), bold),
    section("EXIT CODES", rows(exitsOf(command).map((code) => [`${code}`, EXIT_MEANING[code]] as const)), bold)
  ].join("")

/** Help for a group of commands. */
export const groupHelp = (words: ReadonlyArray<string>, bold: Bold): string =>
  [
    `${GROUPS[words.join(" ")] ?? words.join(" ")}.\n`,
    section("USAGE", `${INDENT}agentctl ${words.join(" ")} COMMAND [flags]\n`, bold),
    section("COMMANDS", rows(commandsBelow(words).map(({ name, summary }) => [name, summary] as const)), bold),
    `\nMore about a command: agentctl ${words.join(" ")} COMMAND --help\n`
  ].join("")

const singles = (commands: ReadonlyArray<CommandSpec>) => commands.filter(({ name }) => !name.includes(" "))
const FIRST = ["login", "logout", "whoami", "quote"]

/** Help for the whole program. */
export const programHelp = (bold: Bold): string => {
  const all = commandsBelow([])
  const groups = [...new Set(all.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0]!] : [])))]
  const named = (command: CommandSpec) => [command.name, command.summary] as const
  return [
    "Mailboxes, telephone numbers and their events for agents, paid per call from a wallet.\n",
    section("USAGE", `${INDENT}agentctl COMMAND [arguments] [flags]\n`, bold),
    section(
      "BEGIN",
      rows(
        singles(all)
          .filter(({ name }) => FIRST.includes(name))
          .map(named)
      ),
      bold
    ),
    section(
      "COMMANDS",
      rows(
        groups.map((group) => {
          const verbs = commandsBelow([group]).map(({ name }) => name.slice(group.length + 1))
          return [group, `${GROUPS[group] ?? ""}: ${verbs.join(", ")}`] as const
        })
      ),
      bold
    ),
    section(
      "TOOLS",
      rows(
        singles(all)
          .filter(({ name }) => !FIRST.includes(name))
          .map(named)
      ),
      bold
    ),
    section("FLAGS", flagRows(GLOBAL_FLAGS), bold),
    "\nMore about a command: agentctl COMMAND --help\n"
  ].join("")
}
