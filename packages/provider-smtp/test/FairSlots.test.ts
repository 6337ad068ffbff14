import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { FairSlots } from "../src/FairSlots.ts"

/** Starts work in the order given. Returns the names in the order in which they got slots, and what ends them. */
const start = Effect.fnUntraced(function* (slots: FairSlots, names: ReadonlyArray<string>) {
  const begun: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  const fibers = new Map<string, Fiber.Fiber<void>>()
  for (const name of names) {
    const gate = yield* Deferred.make<void>()
    gates.set(name, gate)
    const work = Effect.andThen(
      Effect.sync(() => begun.push(name)),
      Deferred.await(gate)
    )
    fibers.set(name, yield* Effect.forkChild(slots.use(name[0]!, work), { startImmediately: true }))
  }
  const end = Effect.fnUntraced(function* (name: string) {
    yield* Deferred.succeed(gates.get(name)!, undefined)
    yield* Fiber.await(fibers.get(name)!)
    yield* Effect.yieldNow
  })
  return { begun, end, interrupt: (name: string) => Fiber.interrupt(fibers.get(name)!) }
})

describe("slots that groups share", () => {
  it.effect("go to the group that uses the fewest, however many of another wait", () =>
    Effect.gen(function* () {
      const { begun, end } = yield* start(new FairSlots(2), ["a1", "a2", "a3", "a4", "b1", "c1"])
      assert.deepStrictEqual(begun, ["a1", "a2"])
      yield* end("a1")
      assert.deepStrictEqual(begun, ["a1", "a2", "b1"])
      yield* end("b1")
      assert.deepStrictEqual(begun, ["a1", "a2", "b1", "c1"])
      yield* end("a2")
      yield* end("c1")
      assert.deepStrictEqual(begun, ["a1", "a2", "b1", "c1", "a3", "a4"])
    })
  )

  it.effect("are left free when a group has reached its own limit", () =>
    Effect.gen(function* () {
      const { begun, end } = yield* start(new FairSlots(3, 1), ["a1", "a2", "b1"])
      assert.deepStrictEqual(begun, ["a1", "b1"])
      yield* end("a1")
      assert.deepStrictEqual(begun, ["a1", "b1", "a2"])
    })
  )

  it.effect("are not given to work that was interrupted while it waited, and are free after it", () =>
    Effect.gen(function* () {
      const { begun, end, interrupt } = yield* start(new FairSlots(1), ["a1", "a2", "a3"])
      yield* interrupt("a2")
      yield* end("a1")
      assert.deepStrictEqual(begun, ["a1", "a3"])
      yield* interrupt("a3")
    })
  )
})
