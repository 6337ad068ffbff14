import { Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"

/** Runs an effect in a transaction that fails afterwards. */
export const rolledBack = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const transactor = yield* Transactor
  const exit = yield* Effect.exit(transactor.transact(Effect.andThen(effect, Effect.fail("rolled back" as const))))
  assert.deepStrictEqual(exit, Exit.fail("rolled back" as const))
})
