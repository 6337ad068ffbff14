import type { CommandSpec } from "../command/Command.ts"
import { commandsBelow } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS } from "../command/GlobalFlags.ts"
import { EXIT_MEANING, type ExitCode } from "../failure/ExitCode.ts"
import { exitsOf, flagSummary, flagUsage, usageLine } from "./HelpText.ts"

const cell = (text: string): string => text.replaceAll("|", "\\|")

const flagTable = (flags: CommandSpec["flags"]): string =>
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
    `\`\`\`\n${usageLine(command)}\n\`\`\`\n`,
    ...command.arguments.map(({ choices, name, summary }) => {
      const more = choices === undefined ? "" : ` One of ${choices.join(", ")}.`
      return `- \`${name.toUpperCase()}\`: ${summary}${more}\n`
    }),
    ...(command.flags.length === 0 ? [] : [flagTable(command.flags)]),
    `\`\`\`sh\n${command.examples.map(({ does, line }) => `# ${does}\n${line}`).join("\n")}\n\`\`\`\n`,
    `With \`--json\`: \`${command.json}\`. Exit codes: ${exitsOf(command).join(", ")}.\n`
  ].join("\n")

const codes = Object.entries(EXIT_MEANING).map(([code, meaning]) => [Number(code) as ExitCode, meaning] as const)

/** The reference page of all commands, in Markdown. */
export const reference = (): string =>
  [
    "# agentctl reference\n",
    "Made from the table of commands by `npx -y pnpm@12 reference`; what stands here is what `agentctl COMMAND --help` says.\n",
    "Every command takes these:\n",
    flagTable(GLOBAL_FLAGS),
    "| exit code | |\n| --- | --- |",
    ...codes.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    ...commandsBelow([]).map(commandSection)
  ].join("\n")
