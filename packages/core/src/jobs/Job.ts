import { Context, type Effect } from "effect"

/** Periodic work that any server can do. */
export interface Job {
  /** In lower case with hyphens, for example `event-expiry`. */
  readonly name: string
  /** Milliseconds from the end of one run to the start of the next. */
  readonly every: number
  /**
   * One run: processes everything due now, in bounded batches, and returns the number of items processed. It can be
   * interrupted at any point and restarted on another server.
   */
  readonly run: Effect.Effect<number>
}

export class Jobs extends Context.Service<Jobs, ReadonlyArray<Job>>()("@agentos/core/jobs/Jobs") {}
