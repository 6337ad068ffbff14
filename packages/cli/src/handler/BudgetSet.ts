import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { BUDGET_SET } from "../command/PaymentCommands.ts"
import { checkProfileName } from "../config/ConfigFile.ts"
import { resolveSettings } from "../config/Settings.ts"
import { baseUnitsOf } from "../output/Wording.ts"
import { usage } from "../parse/Parser.ts"
import { changeBudget } from "../payment/Budget.ts"
import { showBudget } from "./BudgetShow.ts"

const WORDS = ["budget", "set"]

const limitOf = (flag: string, text: string | undefined, before: bigint | null): bigint | null => {
  if (text === undefined) return before
  if (text === "none") return null
  const amount = baseUnitsOf(text)
  if (amount !== undefined) return amount
  throw usage(`--${flag} takes an amount in USDT, as 0.50, or none; not "${text}".`, WORDS)
}

export const run = async (context: Context, { flags }: InputOf<typeof BUDGET_SET>): Promise<void> => {
  const { host } = context
  const { "per-call": perCall, "per-day": perDay } = flags
  if (perCall === undefined && perDay === undefined) throw usage("Give --per-call, --per-day, or both.", WORDS)
  const profile = checkProfileName((await resolveSettings(context)).profile.value)
  await changeBudget(host, profile, (before) => ({
    perCall: limitOf("per-call", perCall, before.perCall),
    perDay: limitOf("per-day", perDay, before.perDay)
  }))
  await showBudget(context, profile)
}
