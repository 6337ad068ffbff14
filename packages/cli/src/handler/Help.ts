import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { HELP } from "../command/ToolCommands.ts"
import { helpFor } from "../help/HelpFor.ts"
import { requireWords } from "../parse/Parser.ts"

export const run = ({ output }: Context, input: InputOf<typeof HELP>): Promise<void> => {
  requireWords(input.arguments.command)
  output.text(helpFor(input.arguments.command, output.helpStyle()))
  return Promise.resolve()
}
