import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Batcher from "../../src/realtime/Batcher.ts"

describe("Batcher", () => {
  it.effect("lets the event loop turn between batches that never yield", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const batcher = Batcher.make<string>(
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
      assert.deepStrictEqual(order, ["a", "turn", "b c", "turn", "d e"])
    })
  )
})
