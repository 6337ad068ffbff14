import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"

/** Does what no store lets happen: it dies, since whoever asks for it is broken. */
export const refused = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const exit = yield* Effect.exit(effect)
  assert.isTrue(Exit.hasDies(exit), "expected a defect")
})
