import { OperationStore, Transactor } from "@agentos/core"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Readiness } from "../../src/health/Readiness.ts"

it.effect("asks for no new payment after an outage, while older ones are under way, for at most 3 s", () => {
  const store = { isReady: true, open: 0 }
  const totals = { tokenAmount: 1n, count: 1, oldestMillis: 0 }
  const stores = Layer.mergeAll(
    Layer.succeed(Transactor, { transact: (effect) => effect, ready: Effect.sync(() => store.isReady) }),
    Layer.mock(OperationStore, {
      countOpen: () =>
        Effect.sync(() => [
          { ...totals, state: "refund_due" } as never,
          ...(store.open > 0 ? [{ ...totals, state: "settling" } as never] : [])
        ])
    })
  )
  return Effect.gen(function* () {
    const { check, require } = yield* Readiness
    const asks = Effect.match(require, { onFailure: () => false, onSuccess: () => true })
    const outage = Effect.gen(function* () {
      store.isReady = false
      yield* TestClock.adjust("3 seconds")
      assert.isFalse(yield* asks)
      store.isReady = true
      yield* TestClock.adjust("3 seconds")
    })
    store.open = 1
    assert.isTrue(yield* asks, "payments hold nothing without an outage")

    yield* outage
    assert.isFalse(yield* asks)
    assert.isTrue(yield* check, "the store is ready meanwhile")
    yield* TestClock.adjust("2 seconds")
    assert.isFalse(yield* asks)
    store.open = 0
    assert.isFalse(yield* asks, "known for a moment")
    yield* TestClock.adjust("250 millis")
    assert.isTrue(yield* asks)

    store.open = 1
    yield* TestClock.adjust("3 seconds")
    assert.isTrue(yield* asks)
    yield* outage
    assert.isFalse(yield* asks)
    yield* TestClock.adjust("3 seconds")
    assert.isTrue(yield* asks)
  }).pipe(Effect.provide(Layer.provideMerge(Readiness.layer, stores)))
})
