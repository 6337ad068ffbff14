import { Context, type Effect } from "effect"

/** Work that is due from time to time, whoever does it. */
export interface Job {
  /** In lower case with hyphens, as `event-expiry`. */
  readonly name: string
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly every: number
  /**
   * One run: does what is due at this moment, in bounded batches, and answers how many things it did. It may be
   * cut off at any moment and begun again elsewhere.
   */
  readonly run: Effect.Effect<number>
}

/** Every job of this host. */
export class Jobs extends Context.Service<Jobs, ReadonlyArray<Job>>()("@agentos/core/jobs/Jobs") {}
