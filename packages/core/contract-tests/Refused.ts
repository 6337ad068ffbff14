import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"

/** Runs an effect that every store must reject: it must die, since only a programming error can request it. */
export const refused = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const exit = yield* Effect.exit(effect)
  assert.isTrue(Exit.hasDies(exit), "expected a defect")
})
