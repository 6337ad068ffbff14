import { Cause, Context, Duration, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type Job, Jobs } from "./Job.ts"
import { type JobRun, JobStore } from "./JobStore.ts"

/** What a dead server's job waits before another takes it up. */
const LEASE = 30 * Timestamp.SECOND
const RENEW_EVERY = Duration.seconds(10)
/** How often each job is looked at. */
const LOOK_EVERY = Duration.seconds(5)
/** A job that failed is run again sooner than one that did not, unless that is due earlier still. */
const RETRY_AFTER = 30 * Timestamp.SECOND
/** Of a failure's text, in characters. */
const FAILURE_LIMIT = 500

/** No job has this name here. */
export class JobUnknown extends Schema.TaggedError<JobUnknown>()("JobUnknown", { name: Schema.String }) {}

/** Another runner is at it. */
export class JobBusy extends Schema.TaggedError<JobBusy>()("JobBusy", { name: Schema.String }) {}

/** The run failed; what it said is written down too. */
export class JobFailed extends Schema.TaggedError<JobFailed>()("JobFailed", {
  name: Schema.String,
  message: Schema.String
}) {}

/**
 * Runs the jobs: each by one server at a time, as often as it is due, and at
 * once when that was while no server ran.
 */
export class JobRunner extends Context.Service<
  JobRunner,
  {
    /** Runs what is due, for as long as it runs. */
    readonly run: Effect.Effect<never>
    /** Runs one job now, due or not; answers how many things it did. */
    readonly runNow: (name: string) => Effect.Effect<number, JobUnknown | JobBusy | JobFailed>
  }
>()("@agentos/core/jobs/JobRunner") {
  static readonly layer = Layer.effect(
    JobRunner,
    Effect.gen(function* () {
      const store = yield* JobStore
      const jobs = yield* Jobs

      /** Keeps the lease; ends when another runner has it. */
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
        // The outer failure is this fiber's own interruption; the inner one is the run's, whatever it looks like.
        const ended = yield* Effect.exit(restore(Effect.exit(Effect.raceFirst(job.run, keepLease(run)))))
        if (Exit.isFailure(ended)) {
          // A server that stops leaves the job to the next one at once.
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

      /** Runs a job if it can be taken. Once it is, its end is written down, also when this server is told to stop. */
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
          // What a run failed with is said already.
          Effect.ignore,
          // Whatever it was, a connection's own interruption included: the loop ends with its fiber and not before.
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
