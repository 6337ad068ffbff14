import { helpFor, requireWords } from "@agentos/node/command-line"
import { defineCommand } from "./Command.ts"

export const COMPLETION = defineCommand(
  {
    name: "completion",
    summary: "Print the completion script for a shell",
    description:
      "Completes commands, flags and values. Ids of mailboxes, messages and other resources come from the server.",
    arguments: [{ name: "shell", summary: "Shell.", presence: "required", choices: ["bash", "zsh", "fish"] }],
    examples: [
      { line: 'eval "$(agentctl completion bash)"', does: "In ~/.bashrc" },
      { line: "agentctl completion zsh > ~/.zfunc/_agentctl", does: "In a folder of the fpath of zsh" },
      { line: "agentctl completion fish | source", does: "In ~/.config/fish/config.fish" }
    ],
    output: "text",
    json: "a script"
  },
  async ({ output }, input) => {
    const { completionScript } = await import("../help/Complete.ts")
    output.text(completionScript(input.arguments.shell))
  }
)

export const SCHEMA = defineCommand(
  {
    name: "schema",
    summary: "Print the commands as JSON, for programs",
    description: "Describes arguments, flags with types, bounds and defaults, examples, output and exit codes.",
    arguments: [
      {
        name: "command",
        summary: "Words of a command or group. All commands if omitted.",
        presence: "several",
        completes: "command"
      }
    ],
    examples: [{ line: "agentctl schema mail list", does: "Describe one command" }],
    output: "text",
    json: "{version, globalFlags, exitCodes, commands}"
  },
  async ({ output }, { arguments: { command: words } }, commands) => {
    const { commandSchema } = await import("../help/Reference.ts")
    requireWords(words, commands)
    output.text(`${JSON.stringify(commandSchema(commands, words), undefined, 2)}\n`)
  }
)

export const HELP = defineCommand(
  {
    name: "help",
    summary: "Show help for a command",
    description: "Prints the same help as --help.",
    arguments: [
      { name: "command", summary: "Words of a command or group.", presence: "several", completes: "command" }
    ],
    examples: [{ line: "agentctl help mail list", does: "Show help for one command" }],
    output: "text",
    json: "help text"
  },
  async ({ output }, { arguments: { command: words } }, commands) => {
    requireWords(words, commands)
    output.text(helpFor(commands, words, output.helpStyle()))
  }
)
