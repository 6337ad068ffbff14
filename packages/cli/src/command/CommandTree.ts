import type { CommandSpec } from "./Command.ts"
import { COMMANDS } from "./Commands.ts"

const commands: ReadonlyArray<CommandSpec> = COMMANDS
const byName = new Map(commands.map((command) => [command.name, command]))

/** The command of these words, if they are all of one. */
export const findCommand = (name: string): CommandSpec | undefined => byName.get(name)

/** Commands at or below these words, in the order of the table. */
export const commandsBelow = (words: ReadonlyArray<string>): ReadonlyArray<CommandSpec> => {
  const name = words.join(" ")
  return name === ""
    ? commands
    : commands.filter((command) => command.name === name || command.name.startsWith(`${name} `))
}

/** The words that may follow these. */
export const wordsAfter = (words: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(commandsBelow(words).flatMap(({ name }) => name.split(" ")[words.length] ?? []))
]

/** What each group of commands is about. */
export const GROUPS: Readonly<Record<string, string>> = {
  wallet: "The key that pays",
  services: "What there is, and what it costs",
  mailbox: "Mailboxes",
  mail: "Messages",
  number: "Telephone numbers",
  call: "Calls and what was said in them",
  events: "The inbox of durable events",
  payments: "What was paid from this machine",
  budget: "Limits on what is paid from this machine",
  config: "Settings and profiles"
}
