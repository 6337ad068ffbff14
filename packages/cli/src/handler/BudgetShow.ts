import type { Context } from "../command/Handler.ts"
import { resolveSettings } from "../config/Settings.ts"
import { budgetReport } from "../payment/Budget.ts"

/** Prints the budget of a profile. */
export const showBudget = async ({ host, output }: Context, profile: string): Promise<void> => {
  const report = await budgetReport(host, profile)
  const text = (price: { readonly amount: string; readonly asset: string } | null) =>
    price === null ? "no limit" : `${price.amount} ${price.asset}`
  output.record(report, [
    ["Profile", profile],
    ["Per call", text(report.perCall)],
    ["Per day", text(report.perDay)],
    ["Spent in 24 h", text(report.spentLastDay)],
    ["Left", text(report.leftToday)]
  ])
}

export const run = async (context: Context): Promise<void> =>
  showBudget(context, (await resolveSettings(context)).profile.value)
