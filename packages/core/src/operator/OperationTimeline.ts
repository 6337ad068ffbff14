import * as Timestamp from "../kernel/Timestamp.ts"
import { accountOf, type LedgerAccount } from "../payment/Ledger.ts"
import type { OperationSummary } from "../payment/Operation.ts"
import type { PostedEntry } from "../payment/OperationStore.ts"
import type { AuditRecord } from "./AuditStore.ts"

/** One moment of an operation, in its wire format. */
export interface TimelineEntry {
  /** In ISO 8601. */
  readonly at: string
  /** A state of the operation or of its money, or the action of an operator. */
  readonly event: string
  readonly transaction?: string
  readonly actor?: string
  readonly outcome?: AuditRecord["outcome"]
  readonly reason?: string
}

const EVENTS: Readonly<Record<Exclude<LedgerAccount, "received">, string>> = {
  inFlight: "settled",
  fulfilled: "fulfilled",
  refundDue: "refund_due",
  refunded: "refunded"
}

/** Returns the moments of an operation, oldest first: its claim, its entries in the ledger, and what operators did to it. */
export const timelineOf = (
  operation: OperationSummary,
  entries: ReadonlyArray<PostedEntry>,
  records: ReadonlyArray<AuditRecord>
): ReadonlyArray<TimelineEntry> => {
  const { createdAt, failure, refundTransaction, state, transaction, updatedAt } = operation
  const transactionOf = (account: LedgerAccount): string | null =>
    account === "refunded" ? refundTransaction : account === "refundDue" ? null : transaction
  const moments: Array<{ readonly at: Timestamp.Timestamp } & Omit<TimelineEntry, "at">> = [
    { at: createdAt, event: "claimed" },
    ...entries.flatMap(({ account, amount, at }) => {
      if (account === "received" || amount < 0n) return []
      const moved = transactionOf(account)
      return [{ at, event: EVENTS[account], ...(moved === null ? {} : { transaction: moved }) }]
    }),
    ...records.map(({ action, actor, at, outcome, reason }) => ({
      at,
      event: action,
      actor,
      outcome,
      ...(reason === null ? {} : { reason })
    }))
  ]
  // The other states have no entry in the ledger.
  if (state !== "claimed" && (accountOf(state) === null || state === "fulfilling")) {
    moments.push({ at: updatedAt, event: state, ...(failure === null ? {} : { reason: failure.message }) })
  }
  return moments.toSorted((a, b) => a.at - b.at).map(({ at, ...moment }) => ({ at: Timestamp.toIso(at), ...moment }))
}
