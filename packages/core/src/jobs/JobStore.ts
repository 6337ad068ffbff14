import { Context, Effect, Option } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** What is known of a job, over all servers. Moments are on the store's clock. */
export interface JobRecord {
  readonly name: string
  /** When it is to run next. */
  readonly dueAt: Timestamp
  /** Until when a runner may be at it; null when nobody is. */
  readonly leasedUntil: Timestamp | null
  readonly startedAt: Timestamp | null
  readonly succeededAt: Timestamp | null
  readonly failedAt: Timestamp | null
  /** What the last failure said; null when there was none, or the last run succeeded. */
  readonly failure: string | null
  /** How often it was run, and how often that failed. */
  readonly runs: number
  readonly failures: number
  /** How many things it has done in all its runs. */
  readonly done: number
}

/** A run of a job, which no other runner makes while its lease lasts. */
export interface JobRun {
  readonly name: string
  /** Counts the runs; a runner with an older number may write nothing. */
  readonly fence: number
}

/** How a run ended. */
export type JobOutcome =
  | { readonly _tag: "Succeeded"; readonly done: number }
  | { readonly _tag: "Failed"; readonly message: string }

/**
 * The port that keeps when each job is due and who runs it, so that of several
 * servers one does.
 */
export class JobStore extends Context.Service<
  JobStore,
  {
    /**
     * Takes a job for `leaseMillis` if nobody runs it and it is due; one that was never run is.
     * `now` takes it whether it is due or not.
     */
    readonly take: (name: string, when: "due" | "now", leaseMillis: number) => Effect.Effect<Option.Option<JobRun>>
    /** Extends the lease to `leaseMillis` from now; false once another runner has the job. */
    readonly renew: (run: JobRun, leaseMillis: number) => Effect.Effect<boolean>
    /** Writes down how the run ended, and that the job is due again in `nextMillis`; false once another runner has it. */
    readonly finish: (run: JobRun, outcome: JobOutcome, nextMillis: number) => Effect.Effect<boolean>
    /** Every job that was ever taken, by name. */
    readonly list: Effect.Effect<ReadonlyArray<JobRecord>>
  }
>()("@agentos/core/jobs/JobStore") {}
