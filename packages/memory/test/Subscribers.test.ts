import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Queue, Scope } from "effect"
import { Subscribers } from "../src/Subscribers.ts"

describe("Subscribers", () => {
  it.effect("keeps nothing of a subscriber whose scope has closed", () =>
    Effect.gen(function* () {
      const subscribers = new Subscribers()
      const scope = yield* Scope.make()
      yield* Scope.provide(subscribers.subscribe("one"), scope)
      yield* Scope.provide(subscribers.subscribe("one"), scope)
      const stays = yield* subscribers.subscribe("two")
      assert.strictEqual(subscribers.size, 3)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(subscribers.size, 1)
      subscribers.wake("one")
      subscribers.wake("two")
      assert.strictEqual(yield* Queue.size(stays), 1)
    })
  )
})
