import type { CommandSpec } from "../command/Command.ts"
import { commandsBelow } from "../command/CommandTree.ts"
import { GLOBAL_FLAGS } from "../command/GlobalFlags.ts"
import { EXIT_MEANING } from "../failure/ExitCode.ts"
import { VERSION } from "../Version.ts"
import { exitsOf, usageLine } from "./HelpText.ts"

const toSchema = (command: CommandSpec) => ({ ...command, usage: usageLine(command), exits: exitsOf(command) })

/** The commands at or below these words, as programs read them. */
export const commandSchema = (words: ReadonlyArray<string>) => ({
  version: VERSION,
  globalFlags: GLOBAL_FLAGS,
  exitCodes: EXIT_MEANING,
  commands: commandsBelow(words).map(toSchema)
})
