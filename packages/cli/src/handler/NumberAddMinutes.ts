import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { NUMBER_ADD_MINUTES } from "../command/NumberCommands.ts"
import { payForNumber } from "./PaidNumber.ts"

export const run = (context: Context, input: InputOf<typeof NUMBER_ADD_MINUTES>): Promise<void> => {
  const { number } = input.arguments
  const what = `10 minutes of calls to ${number}`
  return payForNumber(context, { operation: "addInboundMinutes", number, what }, input.flags)
}
