import { CallGroup } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch } from "effect"

/** Groups of texts that wait for `proceed`, each with its items, and a step for each item. */
const recorded = (step: (item: string) => Effect.Effect<void, string>, limit = 10) =>
  Effect.gen(function* () {
    const groups: Array<ReadonlyArray<string>> = []
    const proceed = yield* Latch.make(false)
    const call = yield* CallGroup.make<string, string, string>({
      limit,
      sizeOf: () => 1,
      work: Effect.fnUntraced(function* (items, culprit) {
        groups.push(items)
        yield* proceed.await
        for (const item of items) yield* CallGroup.onBehalfOf(culprit, item)(step(item))
        return items.map((item) => Exit.succeed(`${item}!`))
      })
    })
    const calls = yield* Effect.forEach(["a", "b", "c", "d"], (item) =>
      Effect.tap(Effect.forkChild(call(item)), () => Effect.yieldNow)
    )
    return { groups, calls, proceed: proceed.open }
  })

const outcomes = (calls: ReadonlyArray<Fiber.Fiber<string, string>>) =>
  Effect.forEach(calls, (fiber) => Effect.match(Fiber.join(fiber), { onFailure: (e) => e, onSuccess: (a) => a }))

describe("calls that overlap", () => {
  it.effect("are processed together once the group before them has ended", () =>
    Effect.gen(function* () {
      const { calls, groups, proceed } = yield* recorded(() => Effect.void)
      yield* proceed
      assert.deepStrictEqual(yield* outcomes(calls), ["a!", "b!", "c!", "d!"])
      assert.deepStrictEqual(groups, [["a"], ["b", "c", "d"]])
    })
  )

  it.effect("are processed in groups of at most the limit", () =>
    Effect.gen(function* () {
      const { calls, groups, proceed } = yield* recorded(() => Effect.void, 2)
      yield* proceed
      yield* outcomes(calls)
      assert.deepStrictEqual(groups, [["a"], ["b", "c"], ["d"]])
    })
  )

  it.effect("do not fail because of another, which is tried once", () =>
    Effect.gen(function* () {
      const { calls, groups, proceed } = yield* recorded((item) => (item === "c" ? Effect.fail("broken") : Effect.void))
      yield* proceed
      assert.deepStrictEqual(yield* outcomes(calls), ["a!", "b!", "broken", "d!"])
      assert.deepStrictEqual(groups, [["a"], ["b", "c", "d"], ["b", "d"]])
    })
  )

  it.effect("are not processed if they are interrupted while they wait", () =>
    Effect.gen(function* () {
      const { calls, groups, proceed } = yield* recorded(() => Effect.void)
      yield* Fiber.interrupt(calls[2]!)
      yield* proceed
      yield* outcomes([calls[0]!, calls[1]!, calls[3]!])
      assert.deepStrictEqual(groups, [["a"], ["b", "d"]])
    })
  )
})

describe("a group that fails in a step for several items", () => {
  it.effect("is repeated item by item", () =>
    Effect.gen(function* () {
      const proceed = yield* Latch.make(false)
      const call = yield* CallGroup.make<string, string, string>({
        limit: 10,
        sizeOf: () => 1,
        work: (items) =>
          Effect.andThen(
            proceed.await,
            items.includes("c") ? Effect.fail("broken") : Effect.succeed(items.map((item) => Exit.succeed(`${item}!`)))
          )
      })
      const calls = yield* Effect.forEach(["a", "b", "c"], (item) =>
        Effect.tap(Effect.forkChild(call(item)), () => Effect.yieldNow)
      )
      yield* proceed.open
      assert.deepStrictEqual(yield* outcomes(calls), ["a!", "b!", "broken"])
    })
  )
})
