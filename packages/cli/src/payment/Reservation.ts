import type { Host } from "../host/Host.ts"
import { checkBudget, readBudget, spentLastDay, withBudgets } from "./Budget.ts"
import { addEntry } from "./Journal.ts"
import type { JournalEntry } from "./JournalEntry.ts"

/** Asks whether a payment would be within the budget, before anything is signed. Throws OVER_BUDGET. */
export const checkAffordable = async (host: Host, profile: string, amount: bigint): Promise<void> =>
  checkBudget(await readBudget(host, profile), await spentLastDay(host, profile), amount)

/**
 * Writes a prepared payment to the journal, if the budget still allows it: both under one lock, so that of several
 * payments at once none takes what another has taken. Once this returns the entry is on disk, and may be sent.
 */
export const reserve = (host: Host, entry: JournalEntry): Promise<void> =>
  withBudgets(host, async () => {
    await checkAffordable(host, entry.profile, entry.quote.amount)
    await addEntry(host, entry)
  })
