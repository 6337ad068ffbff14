import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { NUMBER_RENEW } from "../command/NumberCommands.ts"
import { payForNumber } from "./PaidNumber.ts"

export const run = (context: Context, input: InputOf<typeof NUMBER_RENEW>): Promise<void> => {
  const { number } = input.arguments
  return payForNumber(context, { operation: "renewNumber", number, what: `30 more days of ${number}` }, input.flags)
}
