import type { Operation } from "./Operation.ts"
import type { OperationState } from "./OperationState.ts"

/**
 * The accounts that money passes through, in base units of the asset. `received` holds the payments as a negative
 * amount, so the entries of every transition add up to zero and, at any moment,
 * -received = inFlight + fulfilled + refundDue + refunded.
 */
export type LedgerAccount = "received" | "inFlight" | "fulfilled" | "refundDue" | "refunded"

export interface LedgerEntry {
  readonly operationId: string
  readonly account: LedgerAccount
  readonly network: string
  readonly asset: string
  /** Signed base units: positive into the account, negative out of it. */
  readonly amount: bigint
}

/** The account that holds an operation's amount, by state; null before it is paid. */
const ACCOUNT_OF: Readonly<Record<OperationState, LedgerAccount | null>> = {
  claimed: null,
  settling: null,
  refused: null,
  unpaid: null,
  settled: "inFlight",
  fulfilling: "inFlight",
  fulfilled: "fulfilled",
  refund_due: "refundDue",
  refunded: "refunded"
}

/** Returns the account that holds an operation's amount in a state; null before it is paid. */
export const accountOf = (state: OperationState): LedgerAccount | null => ACCOUNT_OF[state]

/** Returns the entries of a transition: none, or two that add up to zero. */
export const entriesOf = (
  operation: Pick<Operation, "operationId" | "terms">,
  from: OperationState,
  to: OperationState
): ReadonlyArray<LedgerEntry> => {
  const source = ACCOUNT_OF[from] ?? "received"
  const target = ACCOUNT_OF[to]
  if (target === null || source === target) return []
  const { amount, asset, network } = operation.terms
  const entry = (account: LedgerAccount, signed: bigint): LedgerEntry => ({
    operationId: operation.operationId,
    account,
    network,
    asset,
    amount: signed
  })
  return [entry(source, -amount), entry(target, amount)]
}
