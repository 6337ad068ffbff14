import { Context, Effect, Option } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { LedgerEntry } from "./Ledger.ts"
import type { Operation } from "./Operation.ts"
import type { OperationState } from "./OperationState.ts"
import type { ProofKey } from "./PaymentTerms.ts"

/** What a move writes besides the new state. Parts that are left out stay as they are. */
export type OperationChange = Partial<
  Pick<Operation, "nonceReadAtBlock" | "transaction" | "refundNonce" | "refundTransaction" | "failure" | "answer">
>

/**
 * Who has an operation next, in milliseconds from now on the store's clock:
 *
 * - the `worker` that writes this: a lease, after which anybody may take it over, the completion job included;
 * - the `job`: nobody holds it; whoever asks for it by id may take it at once, the job takes it when it is due;
 * - `nobody`: it is final. Only what is final may have nobody, and it must: anything else is a defect.
 */
export type Hold =
  | { readonly by: "worker"; readonly millis: number }
  | { readonly by: "job"; readonly millis: number }
  | { readonly by: "nobody" }

/** How many operations stand in a state, and how much money. */
export interface OperationTotal {
  readonly state: OperationState
  readonly network: string
  readonly asset: string
  readonly count: number
  /** Base units of the token. */
  readonly amount: bigint
}

/** How many operations stand open in a state, and since when the oldest of them is there. */
export interface OpenOperations {
  readonly state: OperationState
  readonly count: number
  readonly oldestAt: Timestamp
}

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
     * Stores a new operation with a lease of `leaseMillis` to its maker (fence 1), due when that is over,
     * unless one of its keys is taken: then nothing is stored and the answer is false. Call in a
     * transaction that holds the tenant's lock.
     */
    readonly claim: (operation: Operation, leaseMillis: number) => Effect.Effect<boolean>
    readonly find: (operationId: string) => Effect.Effect<Option.Option<Operation>>
    /** Milliseconds since the operation entered its state, by the store's clock alone. None if there is no such operation. */
    readonly stateAge: (operationId: string) => Effect.Effect<Option.Option<number>>
    /** The operations (two at most) that hold the proof's key, or the payer's Idempotency-Key on the endpoint. */
    readonly findByKeys: (keys: OperationKeys) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Moves an operation from `from` to `to`, if it is in `from` and under `fence`, and says who has
     * it next. None when it is not: another worker has it.
     */
    readonly advance: (move: {
      readonly operationId: string
      readonly fence: number
      readonly from: OperationState
      readonly to: OperationState
      readonly change: OperationChange
      readonly hold: Hold
    }) => Effect.Effect<Option.Option<Operation>>
    /**
     * Takes the work of an operation that is not final and whose lease is over: raises its fence, and
     * leases it for `leaseMillis`. None while another worker holds it, and once it is final.
     */
    readonly takeOver: (operationId: string, leaseMillis: number) => Effect.Effect<Option.Option<Operation>>
    /**
     * Takes over up to `limit` operations that are due and that no worker holds, the longest due first.
     * Takers at one time take different ones, and none waits for another. Costs what is due, however
     * many operations are final.
     */
    readonly takeDue: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Says who has the operation next, if it is still under `fence` and not final; whether it was. Its `updatedAt`
     * stays.
     */
    readonly hold: (operationId: string, fence: number, hold: Hold) => Effect.Effect<boolean>
    /** Writes balanced entries. Call in the transaction of the move that they record. */
    readonly post: (entries: ReadonlyArray<LedgerEntry>) => Effect.Effect<void>
    /**
     * Counts the operations that are not final, by state: all of them, unless there are more than `limit`; then those
     * `limit` that are due first. Costs what is open, however many operations are final.
     */
    readonly countOpen: (limit: number) => Effect.Effect<ReadonlyArray<OpenOperations>>
    /** Ids of the server keys under which the challenges of open operations were made. Costs what is open. */
    readonly openKeyIds: Effect.Effect<ReadonlyArray<number>>
    /** What the ledger says and what the operations come to, as of one moment. */
    readonly books: Effect.Effect<Books>
    /** Operations that have a transaction which paid, by ascending operationId, strictly after `after`; `limit` at most. */
    readonly listPaid: (after: string | null, limit: number) => Effect.Effect<ReadonlyArray<Operation>>
  }
>()("@agentos/core/payment/OperationStore") {}

/** Sums of the ledger's entries, and of the operations that they are held against. Tokens are named in lower case. */
export interface Books {
  readonly balances: ReadonlyArray<LedgerBalance>
  readonly totals: ReadonlyArray<OperationTotal>
}

export interface LedgerBalance {
  readonly account: LedgerEntry["account"]
  readonly network: string
  readonly asset: string
  readonly amount: bigint
}
