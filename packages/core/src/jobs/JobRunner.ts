import { Cause, Context, Duration, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type Job, Jobs } from "./Job.ts"
import { type JobRun, JobStore } from "./JobStore.ts"

/** Lease of a job, in milliseconds: how long the job of a dead server waits for another. */
const LEASE = 30 * Timestamp.SECOND
const RENEW_EVERY = Duration.seconds(10)
/** Interval between checks whether a job is due. */
const LOOK_EVERY = Duration.seconds(5)
/** Delay before a failed job is retried, unless its regular interval is shorter. */
const RETRY_AFTER = 30 * Timestamp.SECOND
/** Maximum length of a stored failure message, in characters. */
const FAILURE_LIMIT = 500

/** This host has no job of that name. */
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

      /** Renews the lease. Dies when another runner has taken the job over. */
      const keepLease = (run: JobRun) =>
        store
          .renew(run, LEASE)
          .pipe(
            Effect.delay(RENEW_EVERY),
            Effect.repeat({ schedule: Schedule.forever, while: (kept) => kept }),
            Effect.andThen(Effect.die(new Error(`another server took over the job ${run.name}`)))
          )

      const perform = Effect.fnUntraced(function* (
        job: Job,
        run: JobRun,
        restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
      ): Effect.fn.Return<number, JobFailed> {
        // The outer exit fails if this fiber is interrupted; the inner exit is the run's own result, of any kind.
        const ended = yield* Effect.exit(restore(Effect.exit(Effect.raceFirst(job.run, keepLease(run)))))
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
        yield* store.finish(run, { _tag: "Failed", message }, Math.min(job.every, RETRY_AFTER))
        return yield* new JobFailed({ name: job.name, message })
      })

      /**
       * Runs a job if its lease can be taken. The end of a started run is always stored, even when this server stops.
       */
      const take = (job: Job, when: "due" | "now"): Effect.Effect<Option.Option<number>, JobFailed> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            store.take(job.name, when, LEASE),
            Option.match({
              onNone: () => Effect.succeedNone,
              onSome: (run) => Effect.map(perform(job, run, restore), Option.some)
            })
          )
        )

      const runDue = (job: Job) =>
        take(job, "due").pipe(
          // The failure of a run is logged already.
          Effect.ignore,
          // Catches every cause, including the interruption of a connection: only the end of its fiber stops the loop.
          Effect.catchCause((cause) => Effect.logError(`the job ${job.name} could not be looked at`, cause))
        )

      return JobRunner.of({
        run: Effect.forEach(jobs, (job) => Effect.repeat(runDue(job), Schedule.spaced(LOOK_EVERY)), {
          concurrency: "unbounded",
          discard: true
        }).pipe(Effect.andThen(Effect.never)),
        runNow: Effect.fnUntraced(function* (name) {
          const job = jobs.find((candidate) => candidate.name === name)
          if (job === undefined) return yield* new JobUnknown({ name })
          const done = yield* take(job, "now")
          return Option.isSome(done) ? done.value : yield* new JobBusy({ name })
        })
      })
    })
  )
}
