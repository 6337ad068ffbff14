import { Transactor } from "@agentos/core"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Liveness } from "../../src/health/Liveness.ts"

/** A store whose transactions end like this one. */
const storeOf = (transaction: Effect.Effect<never>) =>
  Layer.provide(
    Liveness.layer,
    Layer.succeed(Transactor, { transact: () => transaction, ready: Effect.succeed(false) })
  )

it.effect("a store whose transactions fail is live: a restart would not repair the database", () =>
  Effect.gen(function* () {
    const { isLive, stalled } = yield* Liveness
    const waiting = yield* Effect.forkChild(stalled)
    yield* TestClock.adjust("10 minutes")
    assert.isTrue(yield* isLive)
    assert.isUndefined(waiting.pollUnsafe())
  }).pipe(Effect.provide(storeOf(Effect.die("the database can't be reached"))))
)

it.effect("a store in which no transaction ends for a minute has stalled", () =>
  Effect.gen(function* () {
    const { isLive, stalled } = yield* Liveness
    const waiting = yield* Effect.forkChild(stalled)
    yield* TestClock.adjust("59 seconds")
    assert.isTrue(yield* isLive)
    yield* TestClock.adjust("10 seconds")
    assert.isFalse(yield* isLive)
    yield* Fiber.join(waiting)
  }).pipe(Effect.provide(storeOf(Effect.never)))
)
