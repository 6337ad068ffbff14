import { Context, Effect } from "effect"

/** Periodic work that any server can do. */
export interface Job {
  /** In lower case with hyphens, for example `event-expiry`. */
  readonly name: string
  /** Milliseconds from the end of one run to the start of the next. */
  readonly every: number
  /** Milliseconds until a failed run is repeated, if not half a minute. */
  readonly retryAfter?: number
  /**
   * One run: processes everything due now, in bounded batches, and returns the number of items processed. It can be
   * interrupted at any point and restarted on another server.
   */
  readonly run: Effect.Effect<number>
}

export class Jobs extends Context.Service<Jobs, ReadonlyArray<Job>>()("@agentos/core/jobs/Jobs") {}

/** Rows per statement of a job. Small, so that a statement which waits for one of these rows waits only briefly. */
export const BATCH = 1_000
/** Maximum number of batches per run. The next run processes the rest. */
const BATCHES_PER_RUN = 100

/** Runs batches until one is not full or the run's limit is reached. Returns the number of items processed. */
export const inBatches = Effect.fnUntraced(function* (batch: (limit: number) => Effect.Effect<number>, size = BATCH) {
  let total = 0
  for (let batches = 0; batches < BATCHES_PER_RUN; batches++) {
    const done = yield* batch(size)
    total += done
    if (done < size) break
  }
  return total
})
