import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { SCHEMA } from "../command/ToolCommands.ts"
import { commandSchema } from "../help/CommandSchema.ts"
import { requireWords } from "../parse/Parser.ts"

export const run = ({ output }: Context, input: InputOf<typeof SCHEMA>): Promise<void> => {
  requireWords(input.arguments.command)
  output.text(`${JSON.stringify(commandSchema(input.arguments.command), undefined, 2)}\n`)
  return Promise.resolve()
}
