import { Context, Effect, Option } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** The state of a job over all servers. Timestamps are on the store's clock. */
export interface JobRecord {
  readonly name: string
  /** When the job runs next. */
  readonly dueAt: Timestamp
  /** When the runner's lease expires; null without a lease. */
  readonly leasedUntil: Timestamp | null
  readonly startedAt: Timestamp | null
  readonly succeededAt: Timestamp | null
  readonly failedAt: Timestamp | null
  /** Message of the last failure; null if no run has failed, or if the last run succeeded. */
  readonly failure: string | null
  /** Number of runs, and number of failed runs. */
  readonly runs: number
  readonly failures: number
  /** Items processed in all runs. */
  readonly done: number
}

/** A run of a job. Its runner holds the lease. */
export interface JobRun {
  readonly name: string
  /** Incremented with each run. A runner with an older fence can write nothing. */
  readonly fence: number
}

export type JobOutcome =
  | { readonly _tag: "Succeeded"; readonly done: number }
  | { readonly _tag: "Failed"; readonly message: string }

/** The port that stores when each job is due and which server runs it, so that only one server runs a job at a time. */
export class JobStore extends Context.Service<
  JobStore,
  {
    /**
     * Leases a job for `leaseMillis` if no other runner holds it and it is due; a job that never ran is due. `now`
     * leases it whether it is due or not.
     */
    readonly take: (name: string, when: "due" | "now", leaseMillis: number) => Effect.Effect<Option.Option<JobRun>>
    /** Extends the lease to `leaseMillis` from now. Returns false once another runner has taken the job over. */
    readonly renew: (run: JobRun, leaseMillis: number) => Effect.Effect<boolean>
    /**
     * Stores the outcome, and sets the job due in `nextMillis`. Returns false once another runner has taken it over.
     */
    readonly finish: (run: JobRun, outcome: JobOutcome, nextMillis: number) => Effect.Effect<boolean>
    /** Returns every job that ever ran, ordered by name. */
    readonly list: Effect.Effect<ReadonlyArray<JobRecord>>
  }
>()("@agentos/core/jobs/JobStore") {}
