import { CALL_TRANSITIONS, CallMove, CallState } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("CallState", () => {
  it("allows these moves and no others", () => {
    const allowed = CallState.literals.flatMap((state) =>
      CallMove.literals.flatMap((by) => {
        const to = CALL_TRANSITIONS[state][by]
        return to === undefined ? [] : [`${state} ${by} ${to}`]
      })
    )
    assert.deepStrictEqual(allowed, [
      "queued Ring ringing",
      "queued Answer in_progress",
      "queued End ended",
      "ringing Answer in_progress",
      "ringing End ended",
      "in_progress Extend in_progress",
      "in_progress End ended"
    ])
  })

  it.prop("only moves forward, and can end from every state", [CallState, Schema.Array(CallMove)], ([from, moves]) => {
    let state = from
    for (const by of moves) {
      const to = CALL_TRANSITIONS[state][by] ?? state
      assert.isAtLeast(CallState.literals.indexOf(to), CallState.literals.indexOf(state))
      state = to
    }
    assert.strictEqual(CALL_TRANSITIONS[state].End ?? state, "ended")
  })
})
