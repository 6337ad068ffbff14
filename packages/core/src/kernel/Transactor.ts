import { Cause, Context, Effect, Schema } from "effect"

/** How a transaction may be shared. */
export interface Sharing {
  /**
   * Names the wallet whose data the effect changes. Effects with equal keys never share a transaction, and an effect
   * changes nothing that one with another key changes.
   */
  readonly key: string
}

/**
 * The port for atomic work.
 *
 * Every storage port called inside `transact` joins the transaction. Locks are always taken in the same order: tenants
 * (ascending), then operation, then resource. No external call is made inside a transaction.
 */
export class Transactor extends Context.Service<
  Transactor,
  {
    /**
     * Runs `effect` in a transaction: commits when it succeeds, rolls back when it fails, dies or is interrupted. A
     * nested `transact` joins the outer transaction. The effect may run several times, of which one is committed.
     *
     * With `sharing`, the effect may run in the same transaction as concurrent effects with other keys, so that all of
     * them take one commit. The outcome is as if it had run in its own: if one of them fails or waits for a lock, each
     * runs again alone. While it shares a transaction, it is not interrupted.
     */
    readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>, sharing?: Sharing) => Effect.Effect<A, E, R>
    /** Returns whether the store can commit now. */
    readonly ready: Effect.Effect<boolean>
  }
>()("@agentos/core/kernel/Transactor") {}

/**
 * The defect of a store that can't be reached, or can't commit at the moment. The caller's changes were not written,
 * unless the answer to a commit was lost.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** The store's own message, without the values of any statement. */
  message: Schema.String,
  /** Whether the store itself refused, so that nothing was written. Otherwise the answer to a commit may be lost. */
  isUndone: Schema.Boolean,
  cause: Schema.Defect()
}) {}

/** Returns the first defect of an unavailable store, or undefined. */
export const findStoreUnavailable = ({ reasons }: Cause.Cause<unknown>): StoreUnavailable | undefined =>
  reasons
    .map((reason) => (Cause.isDieReason(reason) ? reason.defect : undefined))
    .find((defect) => defect instanceof StoreUnavailable)
