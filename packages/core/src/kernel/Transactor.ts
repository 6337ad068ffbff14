import { Context, Effect } from "effect"

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
     * nested `transact` joins the outer transaction.
     */
    readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Returns whether the store is reachable and writable now. */
    readonly ready: Effect.Effect<boolean>
  }
>()("@agentos/core/kernel/Transactor") {}
