import {
  argumentSummary,
  type CommandSpec,
  type CommandTree,
  EXIT_MEANING,
  exitsOf,
  type FlagSpec,
  flagSummary,
  flagUsage,
  usageLine
} from "@agentos/node/command-line"
import { GLOBAL_FLAGS } from "../context/Flags.ts"
import { VERSION } from "../Version.ts"

/** Describes a command or a group for programs: the output of `agentctl schema`. */
export const commandSchema = (tree: CommandTree, words: ReadonlyArray<string>) => ({
  version: VERSION,
  globalFlags: GLOBAL_FLAGS,
  exitCodes: EXIT_MEANING,
  commands: tree
    .below(words)
    .map(({ run: _handler, ...spec }) => ({ ...spec, usage: usageLine(tree.program.name, spec), exits: exitsOf(spec) }))
})

const cell = (text: string): string => text.replaceAll("|", "\\|")

const flagTable = (flags: ReadonlyArray<FlagSpec>): string =>
  [
    "| flag | |",
    "| --- | --- |",
    ...flags.map((flag) => `| \`${cell(flagUsage(flag).trim())}\` | ${cell(flagSummary(flag))} |`),
    ""
  ].join("\n")

const commandSection = (command: CommandSpec): string =>
  [
    `## agentctl ${command.name}\n`,
    `${command.summary}. ${command.description}\n`,
    `\`\`\`\n${usageLine("agentctl", command)}\n\`\`\`\n`,
    ...command.arguments.map((argument) => `- \`${argument.name.toUpperCase()}\`: ${argumentSummary(argument)}\n`),
    ...(command.flags.length === 0 ? [] : [flagTable(command.flags)]),
    `\`\`\`sh\n${command.examples.map(({ does, line }) => `# ${does}\n${line}`).join("\n")}\n\`\`\`\n`,
    `With \`--json\`: \`${command.json}\`. Exit codes: ${exitsOf(command).join(", ")}.\n`
  ].join("\n")

/** Returns REFERENCE.md. */
export const reference = (tree: CommandTree): string =>
  [
    "# agentctl reference\n",
    "Generated from the command table by `npx -y pnpm@12 reference`. `agentctl COMMAND --help` prints the same text.\n",
    "Flags of every command:\n",
    flagTable(GLOBAL_FLAGS),
    "| exit code | |\n| --- | --- |",
    ...Object.entries(EXIT_MEANING).map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    ...tree.commands.map(commandSection)
  ].join("\n")
