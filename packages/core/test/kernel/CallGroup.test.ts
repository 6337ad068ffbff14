import { CallGroup } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Schema } from "effect"

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

/** A call of the property: its size, what its group does with it, and whether it is interrupted while it waits. */
const PlannedCall = Schema.Struct({
  size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })),
  outcome: Schema.Literals(["answered", "refused", "left"]),
  isInterrupted: Schema.Boolean
})

describe("calls that a group answers one by one", () => {
  it.effect.prop(
    "each receive their own answer, in groups within the limit, unless they are interrupted before",
    { plan: Schema.Array(PlannedCall).check(Schema.isMaxLength(12)), fails: Schema.Boolean },
    ({ fails, plan }) =>
      Effect.gen(function* () {
        const limit = 5
        const groups: Array<ReadonlyArray<number>> = []
        const proceed = yield* Latch.make(false)
        const call = CallGroup.answering<number, string, string, "failed">(
          {
            limit,
            sizeOf: (item) => plan[item]?.size ?? 1,
            work: Effect.fnUntraced(function* (calls) {
              groups.push(calls.map(({ item }) => item))
              yield* proceed.await
              for (const { answer, item } of calls) {
                const outcome = plan[item]?.outcome
                if (outcome === "left") continue
                answer(outcome === "refused" ? Exit.fail(`no ${item}`) : Exit.succeed(`yes ${item}`))
                answer(Exit.succeed("a second answer"))
              }
              if (fails) return yield* Effect.fail("failed" as const)
            }),
            failed: () => Exit.succeed("failed")
          },
          Effect.runFork
        )
        // The first call is in progress while the others arrive and some are interrupted.
        const first = yield* Effect.forkChild(call(-1), { startImmediately: true })
        while (groups.length === 0) yield* Effect.yieldNow
        const fibers = yield* Effect.forEach(plan, (_, item) =>
          Effect.forkChild(call(item), { startImmediately: true })
        )
        for (const [item, fiber] of fibers.entries()) if (plan[item]!.isInterrupted) yield* Fiber.interrupt(fiber)
        yield* proceed.open
        assert.strictEqual(yield* Fiber.join(first), "yes -1")

        for (const [item, fiber] of fibers.entries()) {
          const { isInterrupted, outcome } = plan[item]!
          const exit = yield* Fiber.await(fiber)
          if (isInterrupted) assert.isTrue(Exit.hasInterrupts(exit))
          else if (outcome === "answered") assert.deepStrictEqual(exit, Exit.succeed(`yes ${item}`))
          else if (outcome === "refused") assert.deepStrictEqual(exit, Exit.fail(`no ${item}`))
          else if (fails) assert.deepStrictEqual(exit, Exit.succeed("failed"))
          else assert.isTrue(Exit.hasDies(exit), "a group has left it without an answer")
        }
        const processed = plan.flatMap(({ isInterrupted }, item) => (isInterrupted ? [] : [item]))
        assert.deepStrictEqual(groups.flat(), [-1, ...processed], "each once, in order")
        for (const group of groups) {
          const size = group.reduce((sum, item) => sum + (plan[item]?.size ?? 1), 0)
          assert.isTrue(size <= limit || group.length === 1)
        }
      })
  )

  it.effect("receive it before the group has ended", () =>
    Effect.gen(function* () {
      const proceed = yield* Latch.make(false)
      const call = CallGroup.answering<string, string, never, never>(
        {
          limit: 10,
          work: ([first, ...others]) => {
            first?.answer(Exit.succeed("early"))
            return Effect.andThen(
              proceed.await,
              Effect.sync(() => others.forEach(({ answer }) => answer(Exit.succeed("late"))))
            )
          },
          failed: Exit.failCause
        },
        Effect.runFork
      )
      const calls = yield* Effect.forEach(["a", "b"], (item) =>
        Effect.forkChild(call(item), { startImmediately: true })
      )
      assert.strictEqual(yield* Fiber.join(calls[0]!), "early")
      assert.isUndefined(calls[1]!.pollUnsafe())
      yield* proceed.open
      assert.strictEqual(yield* Fiber.join(calls[1]!), "late")
    })
  )

  it.effect("are finished by their group if they are interrupted after it has begun", () =>
    Effect.gen(function* () {
      const [begun, proceed, ended] = yield* Effect.all([Latch.make(false), Latch.make(false), Latch.make(false)])
      const call = CallGroup.answering<string, string, never, never>(
        {
          limit: 10,
          work: (calls) =>
            begun.open.pipe(
              Effect.andThen(proceed.await),
              Effect.andThen(Effect.sync(() => calls.forEach(({ answer }) => answer(Exit.succeed("done"))))),
              Effect.andThen(ended.open)
            ),
          failed: Exit.failCause
        },
        Effect.runFork
      )
      const fiber = yield* Effect.forkChild(call("a"), { startImmediately: true })
      yield* begun.await
      yield* Fiber.interrupt(fiber)
      yield* proceed.open
      yield* ended.await
      assert.strictEqual(yield* call("b"), "done")
    })
  )
})
