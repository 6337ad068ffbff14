import { Context, Effect, Option } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { OldRows } from "../tenancy/Retention.ts"
import type { WalletAddress } from "../tenancy/Tenant.ts"
import type { LedgerEntry } from "./Ledger.ts"
import type { Operation, OperationStatus, OperationSummary } from "./Operation.ts"
import type { OperationState } from "./OperationState.ts"
import type { CandidateTransfer } from "./PaymentRail.ts"
import type { ProofKey } from "./PaymentTerms.ts"

/** The fields that a transition writes besides the state. Omitted fields stay unchanged. */
export type OperationChange = Partial<
  Pick<
    Operation,
    "nonceReadAtBlock" | "transaction" | "refundNonce" | "refundTransaction" | "failure" | "answer" | "receipt"
  >
>

/**
 * The next attempt at an operation. Times are milliseconds from now, on the store's clock.
 *
 * - `leased`: this worker holds a lease. After it expires, any worker can take the operation over;
 * - `scheduled`: no lease. A request can take the operation over by id at once; the worker does so when it is due;
 * - `none`: the state is final. Required for final states, and a defect for all others.
 */
export type NextAttempt =
  | { readonly kind: "leased"; readonly millis: number }
  | { readonly kind: "scheduled"; readonly millis: number }
  | { readonly kind: "none" }

/** Number and total amount of the operations in a state, for one token. */
export interface OperationTotal {
  readonly state: OperationState
  readonly network: string
  readonly asset: string
  readonly count: number
  /** Base units of the token. */
  readonly amount: bigint
}

/** The open operations in a state that paid with a token, and when the oldest of them was created. */
export interface OpenOperations extends OperationTotal {
  readonly oldestAt: Timestamp
}

/** Selects a page of operations, newest first. */
export interface OperationQuery {
  /**
   * Only operations in this state, or in any that is not final. No index finds the operations in a final state: give the
   * payer too.
   */
  readonly state?: OperationState | "open" | undefined
  /** Only operations that this wallet paid. */
  readonly payer?: WalletAddress | undefined
  /** Only operations that are older than the one with this id. */
  readonly before?: string | undefined
  readonly limit: number
}

/** An entry of the ledger, with the moment of its transition on the store's clock. */
export interface PostedEntry extends Pick<LedgerEntry, "account" | "amount"> {
  readonly at: Timestamp
}

/** The keys under which an operation may already exist for a request: its proof and its Idempotency-Key. */
export interface OperationKeys {
  readonly proof: ProofKey
  readonly endpoint: string
  readonly idempotencyKey: string
}

/** The port that stores paid operations and the ledger. */
export class OperationStore extends Context.Service<
  OperationStore,
  {
    /**
     * Stores a new operation with a lease of `leaseMillis` for the caller (fence 1), due when the lease expires.
     * Returns false, and stores nothing, if one of its keys is taken. Call it in a transaction that holds the tenant's
     * lock.
     */
    readonly claim: (operation: Operation, leaseMillis: number) => Effect.Effect<boolean>
    readonly find: (operationId: string) => Effect.Effect<Option.Option<Operation>>
    /** Returns less than `find`, and is faster: the rest of an operation is long. */
    readonly findStatus: (operationId: string) => Effect.Effect<Option.Option<OperationStatus>>
    /** Returns whether the operation is still in this state, under this fence: no worker has moved it or taken it over. */
    readonly isUnchanged: (known: Pick<Operation, "operationId" | "fence" | "state">) => Effect.Effect<boolean>
    /**
     * Returns the milliseconds since the operation entered its state, by the store's clock; none if it does not exist.
     */
    readonly stateAge: (operationId: string) => Effect.Effect<Option.Option<number>>
    /**
     * Returns the operations (two at most) that hold the proof's key, or the payer's Idempotency-Key on the endpoint.
     */
    readonly findByKeys: (keys: OperationKeys) => Effect.Effect<ReadonlyArray<Operation>>
    /** Returns whether an operation that this wallet paid is fulfilled. */
    readonly hasFulfilled: (payer: WalletAddress) => Effect.Effect<boolean>
    /**
     * Moves an operation to `to` if it is unchanged (see `isUnchanged`), sets its next attempt, and writes the ledger
     * entries of the transition, which are balanced. Returns the known operation with the changes of the move. Writes
     * nothing and returns none otherwise: another worker owns it.
     */
    readonly advance: (
      known: Operation,
      move: {
        readonly to: OperationState
        readonly change: OperationChange
        readonly next: NextAttempt
        readonly entries?: ReadonlyArray<LedgerEntry>
      }
    ) => Effect.Effect<Option.Option<Operation>>
    /**
     * Assigns to the operation the first of these transfers that no other operation has, and returns it; none if others have
     * all of them. An assignment is permanent. Call it in the transaction of the move that the transfer proves.
     */
    readonly claimTransfer: (
      operationId: string,
      candidates: ReadonlyArray<CandidateTransfer>
    ) => Effect.Effect<Option.Option<CandidateTransfer>>
    /** Returns the first of these transfers that no operation has; none if operations have all of them. */
    readonly findFreeTransfer: (
      candidates: ReadonlyArray<CandidateTransfer>
    ) => Effect.Effect<Option.Option<CandidateTransfer>>
    /**
     * Takes over an operation that is not final and whose lease has expired: increments its fence and leases it for
     * `leaseMillis`. Returns none while another worker holds a lease, and once the operation is final.
     */
    readonly takeOver: (operationId: string, leaseMillis: number) => Effect.Effect<Option.Option<Operation>>
    /**
     * Takes over up to `limit` operations that are due and not leased, the longest due first. Concurrent callers take
     * different operations and do not wait for each other. The cost grows with the due
     * operations, not with the final ones.
     */
    readonly takeDue: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Sets the next attempt at an operation that is under `fence` and not final. Returns whether it did. `updatedAt`
     * stays unchanged. With the reason why an attempt failed, also stores it as the failed attempt of the operation's state.
     */
    readonly setNextAttempt: (
      operationId: string,
      fence: number,
      next: NextAttempt,
      failedReason?: string
    ) => Effect.Effect<boolean>
    /**
     * Makes an operation due now, unless it is due already, so that `takeDue` returns it. Returns false, and changes
     * nothing, while a worker holds a lease, and for a final or unknown operation. Changes no other field.
     */
    readonly makeDue: (operationId: string) => Effect.Effect<boolean>
    /** Returns the entries of an operation, oldest first. */
    readonly entries: (operationId: string) => Effect.Effect<ReadonlyArray<PostedEntry>>
    /** Writes balanced entries. Call it in the transaction of the transition that they record. */
    readonly post: (entries: ReadonlyArray<LedgerEntry>) => Effect.Effect<void>
    /**
     * Totals the open operations by state and token: all of them, or the `limit` that are due first if there are more. The cost
     * grows with the open operations, not with the final ones.
     */
    readonly countOpen: (limit: number) => Effect.Effect<ReadonlyArray<OpenOperations>>
    /**
     * The ids of the server keys that authenticate the challenges of open operations. The cost grows with these alone.
     */
    readonly openKeyIds: Effect.Effect<ReadonlyArray<number>>
    /**
     * Deletes from final operations that were created at least `age` milliseconds ago, oldest first, what only answers retries:
     * answer, receipt, input, plan, failed attempt, and of the proof all but its key and digest. Returns how many it changed. Skips those that
     * another statement has locked.
     */
    readonly removeAnswers: (old: OldRows) => Effect.Effect<number>
    /** The totals of the ledger and of the operations, read at the same moment. */
    readonly books: Effect.Effect<Books>
    /**
     * Returns up to `limit` operations with a paying transaction and an operationId above `after`, in ascending order.
     */
    readonly listPaid: (after: string | null, limit: number) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Returns up to `limit` operations by descending operationId, which begins with the time of the claim. The cost grows
     * with the open operations if an open state is given, else with those of the payer if one is given, else with `limit`.
     */
    readonly list: (query: OperationQuery) => Effect.Effect<ReadonlyArray<OperationSummary>>
  }
>()("@agentos/core/payment/OperationStore") {}

/** Sums of the ledger entries, and of the operations to compare them with. Tokens are named in lower case. */
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
