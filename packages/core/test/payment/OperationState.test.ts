import {
  isFinal,
  Ledger,
  move,
  OpenState,
  OPERATION_TRANSITIONS,
  OperationMove,
  OperationState,
  PAYMENT_STATES
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const operation = {
  operationId: "01900000-0000-7000-8000-000000000001",
  terms: {
    scheme: "exact",
    network: "eip155:1",
    asset: "0x0000000000000000000000000000000000000001",
    amount: 250_000n,
    payTo: "0x0000000000000000000000000000000000000002",
    maxTimeoutSeconds: 30,
    extra: {}
  }
} as const

describe("OperationState", () => {
  it("has three final states, each with one payment state", () => {
    const ends = OperationState.literals.filter(isFinal)
    assert.deepStrictEqual(ends, ["fulfilled", "unpaid", "refunded"])
    assert.deepStrictEqual(
      ends.map((state) => PAYMENT_STATES[state]),
      ["settled", "none", "refunded"]
    )
  })

  it("lists the states that are not final as open", () => {
    const open = OperationState.literals.filter((state) => !isFinal(state))
    assert.sameOrderedMembers([...OpenState.literals], open)
  })

  it("leaves a final state only by the revocation of a fulfilled operation", () => {
    const moves = OperationState.literals.filter(isFinal).flatMap((from) => Object.entries(OPERATION_TRANSITIONS[from]))
    assert.deepStrictEqual(moves, [["Revoke", "refund_due"]])
    assert.strictEqual(move("fulfilled", "Revoke"), "refund_due")
  })

  it("reaches a final state from every state, and never moves backward", () => {
    const rank = new Map<OperationState, number>()
    const depth = (state: OperationState): number => {
      const known = rank.get(state)
      if (known !== undefined) return known
      const next = Object.values(OPERATION_TRANSITIONS[state])
      const found = next.length === 0 ? 0 : 1 + Math.max(...next.map(depth))
      rank.set(state, found)
      return found
    }
    for (const state of OperationState.literals) {
      for (const to of Object.values(OPERATION_TRANSITIONS[state])) assert.isBelow(depth(to), depth(state))
      if (depth(state) === 0) assert.isTrue(isFinal(state))
    }
  })

  it.prop(
    "balances the ledger along every path, with the amount in at most one account",
    [Schema.Array(Schema.Literals(OperationMove.literals))],
    ([moves]) => {
      const accounts = new Map<string, bigint>()
      let state: OperationState = "claimed"
      for (const by of moves) {
        const to = move(state, by)
        if (to === undefined) continue
        const entries = Ledger.entriesOf(operation, state, to)
        assert.strictEqual(
          entries.reduce((sum, { amount }) => sum + amount, 0n),
          0n
        )
        for (const { account, amount } of entries) accounts.set(account, (accounts.get(account) ?? 0n) + amount)
        state = to
      }
      const received = -(accounts.get("received") ?? 0n)
      const held = [...accounts].filter(([account, amount]) => account !== "received" && amount !== 0n)
      assert.deepStrictEqual(
        held.map(([, amount]) => amount),
        received === 0n ? [] : [operation.terms.amount]
      )
      const charged = ["settled", "fulfilling", "fulfilled", "refund_due", "refunded"].includes(state)
      assert.strictEqual(received, charged ? operation.terms.amount : 0n)
    }
  )
})
