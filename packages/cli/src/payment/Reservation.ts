import { journalFolder } from "../config/Home.ts"
import { Failure } from "../failure/Failure.ts"
import type { Host } from "../host/Host.ts"
import { checkBudget, readBudget, spentLastDay } from "./Budget.ts"
import { addEntry } from "./Journal.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { withLock } from "./JournalLock.ts"

const ATTEMPTS = 50
const PAUSE_MILLIS = 100

/** Asks whether a payment would be within the budget, before anything is signed. Throws OVER_BUDGET. */
export const checkAffordable = async (host: Host, profile: string, amount: bigint): Promise<void> =>
  checkBudget(await readBudget(host, profile), await spentLastDay(host, profile), amount)

/**
 * Writes a prepared payment to the journal, if the budget still allows it: both under one lock, so that of several
 * payments at once none takes what another has taken. Once this returns the entry is on disk, and may be sent.
 */
export const reserve = async (host: Host, entry: JournalEntry): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withLock(journalFolder(host), "budget", async () => {
        await checkAffordable(host, entry.profile, entry.quote.amount)
        await addEntry(host, entry)
      })
    } catch (error) {
      if (!(error instanceof Failure) || error.parts.code !== "LOCKED" || attempt >= ATTEMPTS) throw error
      await host.sleep(PAUSE_MILLIS)
    }
  }
}
