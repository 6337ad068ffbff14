import { CALL_TRANSITIONS, CallMove, CallState, NUMBER_TRANSITIONS, NumberMove, NumberState } from "@agentos/core"
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

/** Returns the states that a number passes through with these moves. */
const path = (from: NumberState, moves: ReadonlyArray<NumberMove>): ReadonlyArray<NumberState> =>
  moves.reduce((states, by) => [...states, NUMBER_TRANSITIONS[states.at(-1)!][by] ?? states.at(-1)!], [from])

describe("NumberState", () => {
  it("allows these moves and no others", () => {
    const allowed = NumberState.literals.flatMap((state) =>
      NumberMove.literals.flatMap((by) => {
        const to = NUMBER_TRANSITIONS[state][by]
        return to === undefined ? [] : [`${state} ${by} ${to}`]
      })
    )
    assert.deepStrictEqual(allowed, [
      "active Renew active",
      "active Suspend suspended",
      "active ConfirmRelease released",
      "suspended ConfirmRelease released"
    ])
  })

  it.prop(
    "is never active again once it is suspended or released",
    [NumberState, Schema.Array(NumberMove)],
    ([from, moves]) => {
      const order = NumberState.literals
      const ranks = path(from, moves).map((state) => order.indexOf(state))
      assert.deepStrictEqual(
        ranks,
        ranks.toSorted((a, b) => a - b)
      )
    }
  )
})
