import { Cause, Context, Effect, Exit, Layer, Option, Schema } from "effect"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Trace from "../kernel/Trace.ts"
import { type Job, Jobs } from "./Job.ts"
import { type JobRun, JobStore } from "./JobStore.ts"

/** Lease of a job, in milliseconds: how long the job of a dead server waits for another. */
const LEASE = 30 * Timestamp.SECOND
/** Delay before a failed job is retried, unless its regular interval is shorter or it has its own. */
const RETRY_AFTER = 30 * Timestamp.SECOND
/** Maximum length of a stored failure message, in characters. */
const FAILURE_LIMIT = 500

export class JobUnknown extends Schema.TaggedError<JobUnknown>()("JobUnknown", { name: Schema.String }) {}

/** Another runner holds the lease. */
export class JobBusy extends Schema.TaggedError<JobBusy>()("JobBusy", { name: Schema.String }) {}

/** The run failed. Its message is stored too. */
export class JobFailed extends Schema.TaggedError<JobFailed>()("JobFailed", {
  name: Schema.String,
  message: Schema.String
}) {}

/**
 * Runs the jobs, each on one server at a time, whenever it is due. A job that became due while no server ran starts at
 * once.
 */
export class JobRunner extends Context.Service<
  JobRunner,
  {
    /** Runs due jobs for as long as it runs. */
    readonly run: Effect.Effect<never>
    /** Runs one job now, whether it is due or not. Returns the number of items processed. */
    readonly runNow: (name: string) => Effect.Effect<number, JobUnknown | JobBusy | JobFailed>
  }
>()("@agentos/core/jobs/JobRunner") {
  static readonly layer = Layer.effect(
    JobRunner,
    Effect.gen(function* () {
      const store = yield* JobStore
      const jobs = yield* Jobs

      /**
       * Runs a job under its lease, and stores its end even when this server stops: only `restore` can be interrupted.
       */
      const perform = Effect.fnUntraced(function* (
        job: Job,
        run: JobRun,
        restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
      ): Effect.fn.Return<number, JobFailed> {
        const leased = PollingWorker.whileLeased({
          millis: LEASE,
          renew: store.renew(run, LEASE),
          lost: Effect.die(new Error(`another server took over the job ${run.name}`))
        })
        // The outer exit fails if this fiber is interrupted; the inner exit is the run's own result, of any kind.
        const ended = yield* Effect.exit(restore(Effect.exit(leased(Trace.trace(`job ${job.name}`)(job.run)))))
        if (Exit.isFailure(ended)) {
          // A server that stops releases the job to the next one at once.
          yield* store.finish(run, { _tag: "Failed", message: "the server stopped" }, 0)
          return yield* Effect.failCause(ended.cause)
        }
        const exit = ended.value
        if (Exit.isSuccess(exit)) {
          yield* store.finish(run, { _tag: "Succeeded", done: exit.value }, job.every)
          return exit.value
        }
        const message = String(Cause.squash(exit.cause)).slice(0, FAILURE_LIMIT)
        yield* Effect.logError(`the job ${job.name} failed`, exit.cause)
        yield* store.finish(run, { _tag: "Failed", message }, Math.min(job.every, job.retryAfter ?? RETRY_AFTER))
        return yield* new JobFailed({ name: job.name, message })
      })

      return JobRunner.of({
        run: Effect.forEach(
          jobs,
          (job) =>
            PollingWorker.run({
              name: `the job ${job.name}`,
              concurrency: 1,
              interval: "5 seconds",
              take: () => Effect.map(store.take(job.name, "due", LEASE), Option.toArray),
              handle: (run) => Effect.uninterruptibleMask((restore) => Effect.asVoid(perform(job, run, restore))),
              // The failure of a run is logged already.
              failed: () => Effect.void
            }),
          { concurrency: "unbounded", discard: true }
        ).pipe(Effect.andThen(Effect.never)),
        runNow: Effect.fnUntraced(function* (name) {
          const job = jobs.find((candidate) => candidate.name === name)
          if (job === undefined) return yield* new JobUnknown({ name })
          return yield* Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(store.take(name, "now", LEASE), (run): Effect.Effect<number, JobBusy | JobFailed> =>
              Option.isSome(run) ? perform(job, run.value, restore) : Effect.fail(new JobBusy({ name }))
            )
          )
        })
      })
    })
  )
}
