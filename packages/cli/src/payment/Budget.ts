import { isRecord } from "../file/JsonValue.ts"
import { budgetPath, journalFolder } from "../config/Home.ts"
import { Failure } from "../failure/Failure.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { readJsonIfAny, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import { decimalOf } from "../output/Wording.ts"
import { readEntries } from "./Journal.ts"
import { mayHaveCharged } from "./JournalEntry.ts"

/** Limits on what a profile pays, in base units of a millionth; null for none. */
export interface Budget {
  readonly perCall: bigint | null
  readonly perDay: bigint | null
}

const NO_BUDGET: Budget = { perCall: null, perDay: null }
const DAY_MILLIS = 24 * 60 * 60 * 1_000

const broken = (path: string): Failure =>
  new Failure({
    code: "CONFIGURATION",
    message: `${path} is not a budget as this program writes it. Set it anew, after removing it.`
  })

const readAll = async (host: Host): Promise<Readonly<Record<string, Budget>>> => {
  const path = budgetPath(host)
  const value = await readJsonIfAny(path)
  if (value === undefined) return {}
  // A limit that can't be read must not become no limit.
  const profiles = isRecord(value) ? value["profiles"] : undefined
  if (!isRecord(profiles)) throw broken(path)
  const limit = (amount: unknown): bigint | null => {
    if (amount === null) return null
    if (typeof amount === "string" && /^\d{1,30}$/.test(amount)) return BigInt(amount)
    throw broken(path)
  }
  return Object.fromEntries(
    Object.entries(profiles).map(([profile, budget]) => {
      if (!isRecord(budget)) throw broken(path)
      return [profile, { perCall: limit(budget["perCall"]), perDay: limit(budget["perDay"]) }]
    })
  )
}

/** The limits of a profile. */
export const readBudget = async (host: Host, profile: string): Promise<Budget> =>
  (await readAll(host))[profile] ?? NO_BUDGET

/** Works while no other process changes a budget, or takes up a part of one. */
export const withBudgets = <A>(host: Host, use: () => Promise<A>): Promise<A> =>
  withFreeLock(host, journalFolder(host), "budget", use)

/** Changes the limits of a profile. */
export const changeBudget = (host: Host, profile: string, change: (before: Budget) => Budget): Promise<void> =>
  withBudgets(host, async () => {
    const before = await readAll(host)
    const all = { ...before, [profile]: change(before[profile] ?? NO_BUDGET) }
    const text = (amount: bigint | null) => (amount === null ? null : String(amount))
    const profiles = Object.fromEntries(
      Object.entries(all).map(([name, { perCall, perDay }]) => [name, { perCall: text(perCall), perDay: text(perDay) }])
    )
    await writePrivate(budgetPath(host), `${JSON.stringify({ profiles }, undefined, 2)}\n`)
  })

/** What a profile may have paid in the last 24 hours, in base units. */
export const spentLastDay = async (host: Host, profile: string): Promise<bigint> => {
  const now = host.now()
  const since = now - DAY_MILLIS
  const entries = await readEntries(host, { since })
  return entries
    .filter((entry) => entry.profile === profile && entry.createdAt > since && mayHaveCharged(entry, now))
    .reduce((sum, { quote }) => sum + quote.amount, 0n)
}

/** Throws OVER_BUDGET where a payment of `amount` would pass a limit. */
export const checkBudget = (budget: Budget, spent: bigint, amount: bigint): void => {
  const over = (limit: bigint, what: string) =>
    new Failure({
      code: "OVER_BUDGET",
      message: `${decimalOf(amount)} USDT is over the budget: ${what} ${decimalOf(limit)} USDT. Nothing was signed.`,
      paymentState: "none",
      next: ["agentctl budget show"]
    })
  if (budget.perCall !== null && amount > budget.perCall) throw over(budget.perCall, "one call may cost")
  if (budget.perDay !== null && spent + amount > budget.perDay)
    throw over(budget.perDay, `${decimalOf(spent)} USDT of the last 24 hours count, which may cost`)
}

/** What is shown of a profile's budget. */
export const budgetReport = async (host: Host, profile: string) => {
  const budget = await readBudget(host, profile)
  const spent = await spentLastDay(host, profile)
  const left = budget.perDay === null ? null : budget.perDay > spent ? budget.perDay - spent : 0n
  const price = (amount: bigint | null) => (amount === null ? null : { amount: decimalOf(amount), asset: "USDT" })
  return {
    profile,
    perCall: price(budget.perCall),
    perDay: price(budget.perDay),
    spentLastDay: price(spent),
    leftToday: price(left)
  }
}
