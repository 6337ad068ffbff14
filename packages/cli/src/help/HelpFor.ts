import { commandsBelow, findCommand } from "../command/CommandTree.ts"
import { commandHelp, groupHelp, type HelpStyle, programHelp } from "./HelpText.ts"

/** Help for a command, a group, or the whole program; undefined words have none. */
export const helpFor = (words: ReadonlyArray<string>, style: HelpStyle): string => {
  const command = findCommand(words.join(" "))
  if (command !== undefined) return commandHelp(command, style)
  return words.length === 0 || commandsBelow(words).length === 0 ? programHelp(style) : groupHelp(words, style)
}
