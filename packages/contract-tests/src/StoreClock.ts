import type { Timestamp } from "@agentos/core"
import { Context, type Effect } from "effect"

/**
 * The clock that the stores under test run on, in the hands of the suite.
 *
 * It is one clock for everything that a store takes from its clock: createdAt of events, leases,
 * expiry, updatedAt. A harness on memory moves Effect's TestClock; one on SQL raises the offset
 * that its adapter adds to the database clock.
 */
export class StoreClock extends Context.Service<
  StoreClock,
  {
    /** What the stores' clock shows at this moment. */
    readonly now: Effect.Effect<Timestamp.Timestamp>
    /** Moves the stores' clock on, or back when `millis` is negative. */
    readonly advance: (millis: number) => Effect.Effect<void>
  }
>()("@agentos/contract-tests/StoreClock") {}
