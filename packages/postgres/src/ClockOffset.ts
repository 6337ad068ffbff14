import { Context } from "effect"

/**
 * How many milliseconds the stores' clock is ahead of the database's, asked
 * before each statement: 0, unless a test moves time. What it moves is every
 * moment that a store takes from its own clock: leases, expiry, createdAt of
 * events, updatedAt of operations.
 */
export const ClockOffset = Context.Reference<() => number>("@agentos/postgres/ClockOffset", {
  defaultValue: () => () => 0
})
