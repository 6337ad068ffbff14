import { commandsBelow, findCommand } from "../command/CommandTree.ts"
import { commandHelp, groupHelp, programHelp } from "./HelpText.ts"

/** Help for a command, a group, or the whole program; undefined words have none. */
export const helpFor = (words: ReadonlyArray<string>, bold: (text: string) => string): string => {
  const command = findCommand(words.join(" "))
  if (command !== undefined) return commandHelp(command, bold)
  return words.length === 0 || commandsBelow(words).length === 0 ? programHelp(bold) : groupHelp(words, bold)
}
