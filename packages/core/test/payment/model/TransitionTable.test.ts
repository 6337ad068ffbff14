import {
  isFinal,
  Ledger,
  move,
  OPERATION_TRANSITIONS,
  OperationMove,
  OperationState,
  PAYMENT_STATES,
  type PaymentState
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const State = Schema.Literals(OperationState.literals)
/** For each step: which of the allowed moves comes next, and a move that is tried before it and may not be allowed. */
const Moves = Schema.Array(
  Schema.Struct({
    choice: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
    tried: Schema.Literals(OperationMove.literals)
  })
).check(Schema.isMaxLength(8))

/** Returns the states of an operation under these moves. A move that is not allowed leaves the state unchanged. */
const wayOf = (moves: (typeof Moves)["Type"]): ReadonlyArray<OperationState> => {
  const way: Array<OperationState> = ["claimed"]
  const go = (by: OperationMove) => {
    const to = move(way.at(-1)!, by)
    if (to !== undefined) way.push(to)
  }
  for (const { choice, tried } of moves) {
    const allowed = OperationMove.literals.filter((by) => move(way.at(-1)!, by) !== undefined)
    if (!allowed.includes(tried)) go(tried)
    if (allowed.length > 0) go(allowed[choice % allowed.length]!)
  }
  return way
}

const operation = (amount: bigint) => ({
  operationId: "01900000-0000-7000-8000-000000000001",
  terms: {
    scheme: "exact" as const,
    network: "eip155:1",
    asset: "0x0000000000000000000000000000000000000001",
    amount,
    payTo: "0x0000000000000000000000000000000000000002",
    maxTimeoutSeconds: 30,
    extra: {}
  }
})

/** Payment states that may follow each payment state: a reported payment or refund is never retracted. */
const TELLABLE: Readonly<Record<PaymentState, ReadonlyArray<PaymentState>>> = {
  pending: ["unknown", "none", "refund_due"],
  unknown: ["unknown", "settled", "none", "refund_due"],
  none: [],
  settled: ["settled", "refund_due"],
  refund_due: ["refunded"],
  refunded: []
}

/** Enough runs to cover every path through the table. */
const THOROUGH = { arbitrary: { runs: 600, size: 100 } }

describe("OPERATION_TRANSITIONS", () => {
  it.prop(
    "allows exactly the listed transitions",
    [State, Schema.Literals(OperationMove.literals)],
    ([from, by]) => {
      const listed = Object.entries(OPERATION_TRANSITIONS[from]).find(([name]) => name === by)
      assert.strictEqual(move(from, by), listed?.[1])
      if (isFinal(from) && by !== "Revoke") assert.isUndefined(move(from, by))
    },
    THOROUGH
  )

  it.prop(
    "never enters a state twice, and leaves a final state only to refund a fulfilled operation",
    [Moves],
    ([moves]) => {
      const way = wayOf(moves)
      assert.strictEqual(new Set(way).size, way.length)
      assert.deepStrictEqual(
        way.slice(0, -1).filter(isFinal),
        way.includes("fulfilled") && way.at(-1) !== "fulfilled" ? ["fulfilled"] : []
      )
    },
    THOROUGH
  )

  it.prop(
    "reaches fulfillment and refund only through their proofs",
    [Moves],
    ([moves]) => {
      const way = wayOf(moves)
      const before = (state: OperationState) => way[way.indexOf(state) - 1]
      if (way.includes("fulfilled")) {
        const begun = way.slice(1, way.indexOf("fulfilled")).join()
        assert.include(["settling", "settling,settled,fulfilling"], begun)
      }
      if (way.includes("refunded")) assert.strictEqual(before("refunded"), "refund_due")
      if (way.includes("refund_due"))
        assert.include(["claimed", "settled", "fulfilling", "fulfilled", "refused"], before("refund_due"))
      if (way.includes("unpaid")) assert.include(["claimed", "settling", "refused"], before("unpaid"))
      assert.isFalse(way.includes("unpaid") && (way.includes("settled") || way.includes("refund_due")))
    },
    THOROUGH
  )

  it.prop(
    "never retracts a reported payment state",
    [Moves],
    ([moves]) => {
      const told = wayOf(moves).map((state) => PAYMENT_STATES[state])
      told.slice(1).forEach((state, index) => assert.include(TELLABLE[told[index]!], state))
    },
    THOROUGH
  )

  it.prop(
    "moves the whole amount with each transition, or nothing, for any amount",
    [Moves, Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 30n }))],
    ([moves, amount]) => {
      const way = wayOf(moves)
      way.slice(1).forEach((to, index) => {
        const entries = Ledger.entriesOf(operation(amount), way[index]!, to)
        assert.include([0, 2], entries.length)
        assert.deepStrictEqual(
          entries.map((entry) => entry.amount),
          entries.length === 0 ? [] : [-amount, amount]
        )
      })
    },
    THOROUGH
  )

  it.prop(
    "posts the entries that the two states define, even for transitions that are not allowed",
    [State, State],
    ([from, to]) => {
      const entries = Ledger.entriesOf(operation(7n), from, to)
      const [source, target] = [Ledger.accountOf(from) ?? "received", Ledger.accountOf(to)]
      assert.deepStrictEqual(
        entries.map(({ account, amount }) => [account, amount]),
        target === null || source === target
          ? []
          : [
              [source, -7n],
              [target, 7n]
            ]
      )
    },
    THOROUGH
  )
})
