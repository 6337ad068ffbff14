import { Context, Effect, Option } from "effect"
import type { LedgerEntry } from "./Ledger.ts"
import type { Operation } from "./Operation.ts"
import type { OperationState } from "./OperationState.ts"
import type { ProofKey } from "./PaymentTerms.ts"

/** What a move writes besides the new state. Parts that are left out stay as they are. */
export type OperationChange = Partial<
  Pick<Operation, "nonceReadAtBlock" | "transaction" | "refundTransaction" | "failure" | "answer">
>

/** Where an operation may already stand for a request: under its proof, or under its key. */
export interface OperationKeys {
  readonly proof: ProofKey
  readonly endpoint: string
  readonly idempotencyKey: string
}

/** The port that keeps paid operations and the ledger. */
export class OperationStore extends Context.Service<
  OperationStore,
  {
    /**
     * Stores a new operation with a lease of `leaseMillis` to its maker (fence 1), unless one
     * of its keys is taken: then nothing is stored and the answer is false. Call in a transaction
     * that holds the tenant's lock.
     */
    readonly claim: (operation: Operation, leaseMillis: number) => Effect.Effect<boolean>
    readonly find: (operationId: string) => Effect.Effect<Option.Option<Operation>>
    /** The operations (two at most) that hold the proof's key, or the payer's Idempotency-Key on the endpoint. */
    readonly findByKeys: (keys: OperationKeys) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Moves an operation from `from` to `to`, if it is in `from` and under `fence`; the lease is renewed
     * for `leaseMillis`, or given up when that is 0. None when it is not: another worker has it.
     */
    readonly advance: (move: {
      readonly operationId: string
      readonly fence: number
      readonly from: OperationState
      readonly to: OperationState
      readonly change: OperationChange
      readonly leaseMillis: number
    }) => Effect.Effect<Option.Option<Operation>>
    /** Takes the work of an operation whose lease is over: raises its fence. None while another worker holds it. */
    readonly takeOver: (operationId: string, leaseMillis: number) => Effect.Effect<Option.Option<Operation>>
    /**
     * Sets the lease to `leaseMillis` from now, if still under `fence`; whether it was. 0 gives the
     * work up, so that the next worker need not wait.
     */
    readonly renew: (operationId: string, fence: number, leaseMillis: number) => Effect.Effect<boolean>
    /** Writes balanced entries. Call in the transaction of the move that they record. */
    readonly post: (entries: ReadonlyArray<LedgerEntry>) => Effect.Effect<void>
    /** Sums per account, network and asset. */
    readonly balances: Effect.Effect<ReadonlyArray<LedgerBalance>>
  }
>()("@agentos/core/payment/OperationStore") {}

export interface LedgerBalance {
  readonly account: LedgerEntry["account"]
  readonly network: string
  readonly asset: string
  readonly amount: bigint
}
