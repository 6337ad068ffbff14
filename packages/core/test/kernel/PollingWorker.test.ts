import { PollingWorker } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"

/** A queue of due items, and a worker of two slots that takes one second for each. */
const queueOf = (items: Array<string>) => {
  const polls: Array<number> = []
  const handled: Array<string> = []
  const work: PollingWorker.Work<string, string, never> = {
    name: "items",
    concurrency: 2,
    interval: "10 seconds",
    take: (limit) =>
      Effect.sync(() => {
        polls.push(limit)
        return items.splice(0, limit)
      }),
    handle: (item) =>
      Effect.andThen(
        Effect.sleep("1 second"),
        Effect.sync(() => void handled.push(item))
      ),
    failed: () => Effect.void
  }
  return { handled, items, polls, work }
}

describe("PollingWorker.run", () => {
  it.effect("handles as many items concurrently as it may, and takes the next as soon as one ends", () =>
    Effect.gen(function* () {
      const { handled, polls, work } = queueOf(["a", "b", "c", "d", "e"])
      yield* Effect.forkChild(PollingWorker.run(work))
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual([handled, polls], [[], [2]])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["a", "b"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(handled, ["a", "b", "c", "d", "e"])
      assert.isTrue(
        polls.every((limit) => limit === 1 || limit === 2),
        String(polls)
      )
    })
  )

  it.effect("polls again after the interval, or when it is woken", () =>
    Effect.gen(function* () {
      const { handled, items, polls, work } = queueOf([])
      const wakes = yield* Queue.dropping<void>(1)
      yield* Effect.forkChild(PollingWorker.run({ ...work, wake: Queue.take(wakes) }))
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(polls, 1)
      yield* TestClock.adjust("2 seconds")
      assert.lengthOf(polls, 2)
      items.push("late")
      yield* Queue.offer(wakes, undefined)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["late"])
    })
  )

  it.effect("continues after failures, defects and interruptions of a poll or an item, and frees their slots", () =>
    Effect.gen(function* () {
      const { handled, items, work } = queueOf(["fails", "dies", "interrupts", "a"])
      const failures: Array<string> = []
      let breaks = 3
      const running = yield* Effect.forkChild(
        PollingWorker.run({
          ...work,
          take: (limit) =>
            Effect.suspend(() => {
              breaks--
              if (breaks >= 0) return breaks === 1 ? Effect.die(new Error("no database")) : Effect.interrupt
              return work.take(limit)
            }),
          handle: (item) => {
            if (item === "fails") return Effect.fail("refused")
            if (item === "dies") return Effect.die(new Error("broken"))
            return item === "interrupts" ? Effect.interrupt : work.handle(item)
          },
          failed: (item, error) => Effect.sync(() => void failures.push(`${item}: ${error}`))
        })
      )
      yield* TestClock.adjust("1 minute")
      items.push("b", "c", "d")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(handled, ["a", "b", "c", "d"])
      assert.deepStrictEqual(failures, ["fails: refused"])
      assert.isUndefined(running.pollUnsafe())
    })
  )

  it.effect("interrupts the items in progress when it ends, and none before it was started", () =>
    Effect.gen(function* () {
      const { work } = queueOf(["a", "b"])
      const ended: Array<string> = []
      const running = yield* Effect.forkChild(
        PollingWorker.run({
          ...work,
          take: (limit) => Effect.andThen(Effect.sleep("1 second"), work.take(limit)),
          handle: (item) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(item)))
        })
      )
      yield* TestClock.adjust("500 millis")
      const interruption = yield* Effect.forkChild(Fiber.interrupt(running))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(interruption)
      assert.deepStrictEqual(ended, ["a", "b"])
    })
  )
})

describe("PollingWorker.HandOver", () => {
  it.effect("hands items to the free slots of a worker, and to none that does not run", () =>
    Effect.gen(function* () {
      const handOver = new PollingWorker.HandOver<string>()
      assert.isUndefined(handOver.reserve())
      const { handled, items, work } = queueOf([])
      const running = yield* Effect.forkChild(PollingWorker.run({ ...work, handOver }))
      yield* TestClock.adjust("1 millis")
      const [first, second] = [handOver.reserve(), handOver.reserve()]
      assert.isUndefined(handOver.reserve())
      assert.isTrue(first!.start("a"))
      second!.cancel()
      const third = handOver.reserve()
      assert.isUndefined(handOver.reserve())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["a"])
      items.push("b")
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(handled, ["a", "b"])
      yield* Fiber.interrupt(running)
      assert.isFalse(third!.start("c"))
      assert.isUndefined(handOver.reserve())
    })
  )
})

describe("PollingWorker.whileLeased", () => {
  it.effect("renews the lease every third of its duration until the effect ends", () =>
    Effect.gen(function* () {
      let renewals = 0
      const renew = Effect.sync(() => ++renewals > 0)
      const leased = PollingWorker.whileLeased({ millis: 3_000, renew })
      const running = yield* Effect.forkChild(leased(Effect.as(Effect.sleep("10500 millis"), "done")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(running), "done")
      assert.strictEqual(renewals, 10)
    })
  )

  it.effect("renews the lease again after a renewal has failed, while the effect continues", () =>
    Effect.gen(function* () {
      let renewals = 0
      const renew = Effect.suspend(() => (++renewals === 2 ? Effect.die(new Error("no answer")) : Effect.succeed(true)))
      const leased = PollingWorker.whileLeased({ millis: 3_000, renew })
      const running = yield* Effect.forkChild(leased(Effect.as(Effect.sleep("4500 millis"), "done")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(running), "done")
      assert.strictEqual(renewals, 4)
    })
  )

  it.effect("stops renewing a lost lease, and lets the effect continue unless told otherwise", () =>
    Effect.gen(function* () {
      let renewals = 0
      const lease = { millis: 3_000, renew: Effect.sync(() => ++renewals < 3) }
      const effect = Effect.as(Effect.sleep("10 seconds"), "done")
      const continued = yield* Effect.forkChild(PollingWorker.whileLeased(lease)(effect))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(continued), "done")
      assert.strictEqual(renewals, 3)
      renewals = 0
      const lost = Effect.die(new Error("lost"))
      const ended = yield* Effect.forkChild(Effect.exit(PollingWorker.whileLeased({ ...lease, lost })(effect)))
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(ended)))
    })
  )
})
