import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { COMPLETION } from "../command/ToolCommands.ts"
import { completionScript } from "../help/CompletionScript.ts"

export const run = ({ output }: Context, input: InputOf<typeof COMPLETION>): Promise<void> => {
  output.text(completionScript(input.arguments.shell))
  return Promise.resolve()
}
