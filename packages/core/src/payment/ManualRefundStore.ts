import { Context, type Effect } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Token } from "./PaymentRail.ts"

export interface RefundedPayment extends Token {
  /** In lower case. */
  readonly asset: string
  /** The wallet that paid, in lower case. */
  readonly wallet: string
  /** The transaction that paid, and base units of the token. */
  readonly receivedTransaction: string
  readonly receivedAmount: bigint
}

/** A refund by a transfer that the operator made. */
export interface ManualRefund extends RefundedPayment {
  /** Of the transfer to the wallet; see `CandidateTransfer`. */
  readonly transferId: string
  readonly transaction: string
  /** Base units of the token: at least those received. */
  readonly amount: bigint
  /** Null for the return of a received transfer that no operation has. */
  readonly operationId: string | null
  readonly createdAt: Timestamp
}

/** The port that stores the refunds that operators made themselves. */
export class ManualRefundStore extends Context.Service<
  ManualRefundStore,
  {
    /**
     * Stores a refund. Returns false, and stores nothing, if its transfer is that of another refund, by hand or by this
     * service, or if the operation has one.
     */
    readonly record: (refund: ManualRefund) => Effect.Effect<boolean>
    /**
     * Returns all refunds, or those of the payments in a transaction, in ascending order of transferId. The cost of all grows
     * with their number.
     */
    readonly list: (receivedTransaction?: string) => Effect.Effect<ReadonlyArray<ManualRefund>>
    /** Assigns a refund to an operation. Returns false if another one has it, or the operation has another refund. */
    readonly assign: (transferId: string, operationId: string) => Effect.Effect<boolean>
  }
>()("@agentos/core/payment/ManualRefundStore") {}
