import { decimalOf, mayHaveCharged } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import { join } from "node:path"
import { homeFolder } from "../config/ConfigFile.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/Json.ts"
import { readJsonIfExists, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import { addEntry, journalFolder, readEntries } from "./Journal.ts"
import type { StoredEntry } from "./JournalFile.ts"

/** The limits of a profile in base units (millionths); null for no limit. */
export interface Budget {
  readonly perCall: bigint | null
  readonly perDay: bigint | null
}

const NO_BUDGET: Budget = { perCall: null, perDay: null }
const DAY_MILLIS = 24 * 60 * 60 * 1_000

const budgetPath = (host: Host): string => join(homeFolder(host), "budget.json")

const readAll = async (host: Host): Promise<Readonly<Record<string, Budget>>> => {
  const path = budgetPath(host)
  const value = await readJsonIfExists(path)
  if (value === undefined) return {}
  // A limit that cannot be read must not become no limit.
  const invalid = new Failure({
    code: "CONFIGURATION",
    message: `${path} is not a valid budget file. Delete it and set the budget again.`
  })
  const limit = (amount: unknown): bigint | null => {
    if (amount === null) return null
    if (typeof amount === "string" && /^\d{1,30}$/.test(amount)) return BigInt(amount)
    throw invalid
  }
  const profiles = isRecord(value) ? value["profiles"] : undefined
  if (!isRecord(profiles)) throw invalid
  return Object.fromEntries(
    Object.entries(profiles).map(([profile, budget]) => {
      if (!isRecord(budget)) throw invalid
      return [profile, { perCall: limit(budget["perCall"]), perDay: limit(budget["perDay"]) }]
    })
  )
}

export const readBudget = async (host: Host, profile: string): Promise<Budget> =>
  (await readAll(host))[profile] ?? NO_BUDGET

/** Works under the lock of all budgets. */
const withBudgets = <A>(host: Host, use: () => Promise<A>): Promise<A> =>
  withFreeLock(host, journalFolder(host), "budget", use)

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

/** Returns the base units that a profile may have spent in the last 24 hours. */
export const spentLastDay = async (host: Host, profile: string): Promise<bigint> => {
  const since = host.now() - DAY_MILLIS
  const entries = await readEntries(host, { since })
  return entries
    .filter((entry) => entry.profile === profile && entry.createdAt > since && mayHaveCharged(entry))
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

/** A limit that a payment would exceed, in base units. */
export interface Excess {
  readonly limit: keyof Budget
  readonly limitAmount: bigint
  /** The possible cost of the last 24 hours. */
  readonly spent: bigint
}

const smaller = (left: bigint | null, right: bigint | null): bigint | null =>
  left === null ? right : right === null || left < right ? left : right

/** Returns the limits of a profile, with more limits for one command. */
export const limitsOf = async (host: Host, profile: string, more: Budget = NO_BUDGET): Promise<Budget> => {
  const { perCall, perDay } = await readBudget(host, profile)
  return { perCall: smaller(perCall, more.perCall), perDay: smaller(perDay, more.perDay) }
}

/** Returns the limit that a payment of `amount` base units would exceed; undefined without a limit. */
export const excessOf = async (
  host: Host,
  profile: string,
  amount: bigint,
  more?: Budget
): Promise<Excess | undefined> => {
  const [{ perCall, perDay }, spent] = [await limitsOf(host, profile, more), await spentLastDay(host, profile)]
  if (perCall !== null && amount > perCall) return { limit: "perCall", limitAmount: perCall, spent }
  return perDay !== null && spent + amount > perDay ? { limit: "perDay", limitAmount: perDay, spent } : undefined
}

/** Describes an excess in a part of a sentence. */
export const excessText = ({ limit, limitAmount, spent }: Excess): string =>
  limit === "perCall"
    ? `the limit per call is ${decimalOf(limitAmount)} USDT`
    : `the limit per day is ${decimalOf(limitAmount)} USDT, of which ${decimalOf(spent)} USDT is spent`

/** Throws OVER_BUDGET if a payment of `amount` base units would exceed a limit. */
export const checkBudget = async (host: Host, profile: string, amount: bigint, more?: Budget): Promise<void> => {
  const excess = await excessOf(host, profile, amount, more)
  if (excess === undefined) return
  throw new Failure({
    code: "OVER_BUDGET",
    message: `${decimalOf(amount)} USDT is over the budget: ${excessText(excess)}. Nothing was signed.`,
    paymentState: "none",
    next: ["agentctl budget show"]
  })
}

/**
 * Checks the budget and writes a prepared payment to the journal, both under one lock, so that concurrent payments
 * cannot exceed a limit together. The entry is on disk when this returns, and may be sent.
 */
export const reserve = (host: Host, entry: StoredEntry, more?: Budget): Promise<void> =>
  withBudgets(host, async () => {
    await checkBudget(host, entry.profile, BigInt(entry.amount), more)
    await addEntry(host, entry)
  })

export const budgetReport = async (host: Host, profile: string, more?: Budget) => {
  const budget = await limitsOf(host, profile, more)
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
