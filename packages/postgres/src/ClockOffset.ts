import { Context } from "effect"

/**
 * Returns how many milliseconds the stores' clock is ahead of the database's; called before each statement. The
 * offset is 0, unless a test moves time. It moves every moment that a store takes from its own clock: leases,
 * expiry, createdAt of events, updatedAt of operations.
 */
export const ClockOffset = Context.Reference<() => number>("@agentos/postgres/ClockOffset", {
  defaultValue: () => () => 0
})
