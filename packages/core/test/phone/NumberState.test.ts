import { NUMBER_TRANSITIONS, NumberMove, NumberState } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

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
      "active ProveReleased released",
      "suspended ProveReleased released"
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
