import type { Timestamp } from "@agentos/core"
import { Context, type Effect } from "effect"

/**
 * The clock of the stores under test, which the suite controls.
 *
 * It is one clock for all times that a store takes from its clock: createdAt of events, leases, expiry,
 * updatedAt. A harness on memory moves Effect's TestClock; one on SQL raises the offset that its adapter adds
 * to the database clock.
 */
export class StoreClock extends Context.Service<
  StoreClock,
  {
    /** The current time of the stores' clock. */
    readonly now: Effect.Effect<Timestamp.Timestamp>
    /** Moves the stores' clock forward, or back if `millis` is negative. */
    readonly advance: (millis: number) => Effect.Effect<void>
  }
>()("@agentos/core/contract-tests/StoreClock") {}
