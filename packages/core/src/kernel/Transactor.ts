import { Context, Effect } from "effect"

/**
 * The port for what must happen wholly or not at all.
 *
 * Every storage port, called inside `transact`, takes part in the transaction.
 * Locks are taken in one order everywhere: tenants (ascending), then operation,
 * then resource. No outside call is made inside a transaction.
 */
export class Transactor extends Context.Service<
  Transactor,
  {
    /**
     * Runs `effect` in a transaction: commits when it succeeds, rolls back when it
     * fails, dies or is interrupted. Inside another `transact` it joins that one.
     */
    readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Whether the store can be reached and written to at this moment. */
    readonly ready: Effect.Effect<boolean>
  }
>()("@agentos/core/kernel/Transactor") {}
