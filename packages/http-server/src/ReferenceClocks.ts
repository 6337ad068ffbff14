import { Context, type Effect } from "effect"

/** What another clock says about the present, in milliseconds since the Unix epoch. */
export interface ClockReading {
  /** The present is not before this. */
  readonly earliest: number
  /** The present is not after this; undefined if the other clock can't tell. */
  readonly latest: number | undefined
}

/** A clock with which this server compares its own. */
export interface ReferenceClock {
  /** A label of metrics and of the log: `database`, or the network of a chain. */
  readonly source: string
  readonly read: Effect.Effect<ClockReading, unknown>
}

/** The clock of the store, whose moments are stored beside those of this server; undefined where it has none of its own. */
export const DatabaseClock = Context.Reference<ReferenceClock | undefined>("@agentos/http-server/DatabaseClock", {
  defaultValue: () => undefined
})

/** The times of chains: blocks are not from the future, so they show a clock that is behind, and never one that is ahead. */
export const ChainClocks = Context.Reference<ReadonlyArray<ReferenceClock>>("@agentos/http-server/ChainClocks", {
  defaultValue: () => []
})
