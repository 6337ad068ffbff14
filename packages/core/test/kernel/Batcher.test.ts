import { Batcher } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, type Scheduler } from "effect"

describe("Batcher", () => {
  it.effect("lets the event loop turn between batches that never yield", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const batcher = Batcher.make<string, never>(
        {
          limit: 2,
          // Like a statement of the embedded database: its promise resolves without a turn of the event loop.
          work: (items) =>
            Effect.promise(async () => {
              order.push(items.join(" "))
              setImmediate(() => order.push("turn"))
            }),
          failed: (_, cause) => Effect.failCause(cause)
        },
        Effect.runFork
      )
      for (const item of ["a", "b", "c", "d", "e"]) batcher.offer(item)
      yield* batcher.idle
      assert.deepStrictEqual(order, ["a b", "turn", "c d", "turn", "e"])
    })
  )

  it.effect("processes an item that arrives at any step of the batch before it", () =>
    Effect.gen(function* () {
      for (let step = 0; step < 60; step++) {
        const done: Array<string> = []
        let checks = 0
        let isPaused = false
        /** Pauses the work at one step, as the runtime may at any, and lets another fiber offer an item meanwhile. */
        const scheduler: Scheduler.Scheduler = {
          executionMode: "async",
          shouldYield: () => (isPaused = checks++ === step),
          makeDispatcher: () => ({
            scheduleTask: (task) =>
              setImmediate(() => {
                if (isPaused) batcher.offer("b")
                isPaused = false
                task()
              }),
            flush: () => undefined
          })
        }
        const batcher = Batcher.make<string, never>(
          {
            limit: 5,
            work: (items) => Effect.sync(() => void done.push(...items)),
            failed: (_, cause) => Effect.failCause(cause)
          },
          (work) => void Effect.runFork(work, { scheduler })
        )
        batcher.offer("a")
        yield* batcher.idle
        // A pause after the batch was over ends within the next turns of the event loop.
        yield* Effect.repeat(
          Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
          { times: 2 }
        )
        yield* batcher.idle
        if (checks <= step) return assert.isAbove(step, 5, "each step was tried")
        assert.deepStrictEqual(done, ["a", "b"], `offered at step ${step}`)
      }
    })
  )

  /** A batcher whose batches wait for `proceed`. */
  const gated = (options: Partial<Batcher.BatcherOptions<string, string>> = {}) => {
    const batches: Array<string> = []
    const gate = Deferred.makeUnsafe<void>()
    const batcher = Batcher.make<string, string>(
      {
        limit: 5,
        work: (items) =>
          Effect.andThen(
            Effect.sync(() => void batches.push(items.join(" "))),
            Deferred.await(gate)
          ),
        failed: () => Effect.void,
        ...options
      },
      Effect.runFork
    )
    return { batcher, batches, proceed: Deferred.succeed(gate, undefined) }
  }

  it.effect("fills a batch up to the limit by the sizes of the items, and gives a larger item a batch of its own", () =>
    Effect.gen(function* () {
      const { batcher, batches, proceed } = gated({ sizeOf: (item) => item.length })
      for (const item of ["a", "bbb", "cc", "d", "eeeeeeee", "f"]) batcher.offer(item)
      yield* proceed
      yield* batcher.idle
      assert.deepStrictEqual(batches, ["a bbb", "cc d", "eeeeeeee", "f"])
    })
  )

  it.effect("processes a waiting item once, and not after it was removed", () =>
    Effect.gen(function* () {
      const { batcher, batches, proceed } = gated()
      batcher.offer("a")
      yield* Effect.yieldNow
      for (const item of ["b", "c", "b", "a"]) batcher.offer(item)
      batcher.remove("c")
      batcher.remove("unknown")
      yield* proceed
      yield* batcher.idle
      assert.deepStrictEqual(batches, ["a", "b a"])
    })
  )

  it.effect("rests after a large batch, and not after a small one", () =>
    Effect.gen(function* () {
      const batches: Array<string> = []
      const batcher = Batcher.make<string, never>(
        {
          limit: 2,
          pause: { size: 2, rest: Effect.sync(() => void batches.push("rest")) },
          work: (items) => Effect.sync(() => void batches.push(items.join(" "))),
          failed: (_, cause) => Effect.failCause(cause)
        },
        Effect.runFork
      )
      for (const item of ["a", "b", "c"]) batcher.offer(item)
      yield* batcher.idle
      batcher.offer("d")
      yield* batcher.idle
      assert.deepStrictEqual(batches, ["a b", "rest", "c", "d"])
    })
  )

  it.effect("reports the items of a failed batch, and continues with the next one", () =>
    Effect.gen(function* () {
      const failures: Array<string> = []
      const batches: Array<string> = []
      const { batcher } = gated({
        limit: 1,
        work: (items) => {
          batches.push(items.join(" "))
          if (items.includes("fails")) return Effect.fail("refused")
          return items.includes("dies") ? Effect.die("broken") : Effect.yieldNow
        },
        failed: (items, cause) =>
          Effect.sync(() => void failures.push(`${items.join(" ")}: ${String(Cause.squash(cause))}`))
      })
      for (const item of ["fails", "dies", "a"]) batcher.offer(item)
      yield* batcher.idle
      assert.deepStrictEqual(batches, ["fails", "dies", "a"])
      assert.deepStrictEqual(failures, ["fails: refused", "dies: broken"])
    })
  )
})
