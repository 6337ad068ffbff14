import { type Job, Jobs, JobRunner, JobStore } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

const MINUTE = 60_000

/** Makes a runner with its own jobs on the provided store, like one of several servers. */
const runnerOf = (...jobs: ReadonlyArray<Job>) =>
  Effect.provide(JobRunner, Layer.fresh(JobRunner.layer).pipe(Layer.provide(Layer.succeed(Jobs, jobs))))

/** Makes a job that counts its runs. Each run processes one item. */
const counting = (name: string, every = 10 * MINUTE) => {
  const state = { runs: 0 }
  return { state, job: { name, every, run: Effect.sync(() => ++state.runs).pipe(Effect.as(1)) } satisfies Job }
}

const recordOf = (name: string) =>
  Effect.map(
    Effect.flatMap(JobStore, (store) => store.list),
    (jobs) => jobs.find((job) => job.name === name)
  )

const onMemory = <A, E>(test: Effect.Effect<A, E, JobStore>) => Effect.provide(test, Memory.layer)

describe("JobRunner", () => {
  it.effect("runs a job at once, and then whenever it is due", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("count")
        yield* Effect.forkChild((yield* runnerOf(job)).run)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(state.runs, 1)
        yield* TestClock.adjust("9 minutes")
        assert.strictEqual(state.runs, 1)
        yield* TestClock.adjust("51 minutes")
        assert.approximately(state.runs, 7, 1)
        assert.deepInclude(yield* recordOf("count"), { runs: state.runs, done: state.runs, failures: 0 })
      })
    )
  )

  it.effect("runs each due job on only one of several servers", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("shared")
        for (let servers = 0; servers < 3; servers++) yield* Effect.forkChild((yield* runnerOf(job)).run)
        yield* TestClock.adjust("1 hour")
        assert.approximately(state.runs, 7, 1)
        assert.strictEqual((yield* recordOf("shared"))?.runs, state.runs)
      })
    )
  )

  it.effect("catches up once after a time without servers", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("late")
        const first = yield* Effect.forkChild((yield* runnerOf(job)).run)
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(state.runs, 1)
        yield* Effect.forkChild((yield* runnerOf(job)).run)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(state.runs, 2)
      })
    )
  )

  it.effect("keeps the lease of a long run, and releases the job of a stopped server at once", () =>
    onMemory(
      Effect.gen(function* () {
        let begun = 0
        const slow: Job = {
          name: "slow",
          every: MINUTE,
          run: Effect.andThen(
            Effect.sync(() => ++begun),
            Effect.as(Effect.sleep("1 hour"), 1)
          )
        }
        const first = yield* Effect.forkChild((yield* runnerOf(slow)).run)
        yield* Effect.forkChild((yield* runnerOf(slow)).run)
        yield* TestClock.adjust("30 minutes")
        assert.strictEqual(begun, 1, "its lease is renewed")
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(begun, 2)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual((yield* recordOf("slow"))?.done, 1)
      })
    )
  )

  it.effect("retries a failed job soon, stores the reason, and keeps running the others", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("other")
        const broken: Job = { name: "broken", every: 60 * MINUTE, run: Effect.die(new Error("the disk is full")) }
        const costly: Job = { ...broken, name: "costly", retryAfter: 4 * MINUTE }
        yield* Effect.forkChild((yield* runnerOf(broken, costly, job)).run)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* recordOf("costly"))?.failures, 3)
        const record = yield* recordOf("broken")
        assert.isAtLeast(record?.failures ?? 0, 10)
        assert.include(record?.failure ?? "", "the disk is full")
        assert.isAtLeast(state.runs, 1)
      })
    )
  )

  for (const method of ["take", "renew", "finish"] as const) {
    it.effect(`continues when the store's \`${method}\` is interrupted by itself`, () =>
      onMemory(
        Effect.gen(function* () {
          const store = yield* JobStore
          let breaks = 3
          const broken = JobStore.of({
            ...store,
            [method]: (...parameters: ReadonlyArray<never>) =>
              Effect.suspend((): Effect.Effect<unknown> => {
                if (breaks-- > 0) return Effect.interrupt
                const call: (...given: ReadonlyArray<never>) => Effect.Effect<unknown> = store[method]
                return call(...parameters)
              })
          })
          const { job, state } = counting("steady", MINUTE)
          const other = counting("other", MINUTE)
          const slow: Job = { ...job, run: Effect.andThen(Effect.sleep("15 seconds"), job.run) }
          const runner = yield* Effect.provideService(runnerOf(slow, other.job), JobStore, broken)
          const running = yield* Effect.forkChild(runner.run)
          yield* TestClock.adjust("10 minutes")
          assert.isUndefined(running.pollUnsafe())
          assert.isAtMost(breaks, 0)
          assert.isAtLeast(state.runs, 5)
          assert.isAtLeast(other.state.runs, 5)
        })
      )
    )
  }

  it.effect("treats a run that interrupts itself as failed", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("other")
        let begun = 0
        const broken: Job = {
          name: "broken",
          every: 60 * MINUTE,
          run: Effect.suspend(() => (++begun, Effect.interrupt))
        }
        const runner = yield* runnerOf(broken, job)
        yield* Effect.forkChild(runner.run)
        yield* TestClock.adjust("10 minutes")
        assert.approximately(begun, 20, 5)
        assert.strictEqual((yield* recordOf("broken"))?.failures, begun)
        assert.notInclude((yield* recordOf("broken"))?.failure ?? "", "server")
        assert.isAtLeast(state.runs, 1)
        assert.strictEqual((yield* Effect.flip(runner.runNow("broken")))._tag, "JobFailed")
      })
    )
  )

  it.effect("interrupts a run whose job another server has taken over", () =>
    onMemory(
      Effect.gen(function* () {
        let finished = 0
        const slow: Job = {
          name: "stolen",
          every: MINUTE,
          run: Effect.as(
            Effect.tap(Effect.sleep("25 seconds"), () => Effect.sync(() => ++finished)),
            1
          )
        }
        const runner = yield* runnerOf(slow)
        const running = yield* Effect.forkChild(Effect.flip(runner.runNow("stolen")))
        yield* TestClock.adjust("1 second")
        // Another server takes the job once the lease has expired; here a jump of the clock expires it.
        const store = yield* JobStore
        const lapsed = yield* store.list
        assert.isNotNull(lapsed[0]?.leasedUntil ?? null)
        yield* store.finish({ name: "stolen", fence: 1 }, { _tag: "Failed", message: "lost" }, 0)
        assert.isTrue(Option.isSome(yield* store.take("stolen", "due", MINUTE)))
        yield* TestClock.adjust("30 seconds")
        assert.include((yield* Fiber.join(running)).message, "another server took over")
        assert.strictEqual(finished, 0)
      })
    )
  )

  it.effect("runs a job on request, due or not, and reports why it can't", () =>
    onMemory(
      Effect.gen(function* () {
        const { job, state } = counting("asked")
        const slow: Job = { name: "slow", every: MINUTE, run: Effect.as(Effect.sleep("1 minute"), 1) }
        const broken: Job = { name: "broken", every: MINUTE, run: Effect.die(new Error("no")) }
        const runner = yield* runnerOf(job, slow, broken)
        assert.strictEqual(yield* runner.runNow("asked"), 1)
        assert.strictEqual(yield* runner.runNow("asked"), 1)
        assert.strictEqual(state.runs, 2)
        assert.strictEqual((yield* Effect.flip(runner.runNow("unknown")))._tag, "JobUnknown")
        assert.strictEqual((yield* Effect.flip(runner.runNow("broken")))._tag, "JobFailed")
        yield* Effect.forkChild(runner.runNow("slow"))
        yield* Effect.yieldNow
        assert.strictEqual((yield* Effect.flip(runner.runNow("slow")))._tag, "JobBusy")
      })
    )
  )
})
