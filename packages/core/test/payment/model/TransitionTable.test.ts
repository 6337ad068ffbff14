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
/** Which of the moves that are allowed then comes next, and which one that may not be is tried before it. */
const Moves = Schema.Array(
  Schema.Struct({
    choice: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
    tried: Schema.Literals(OperationMove.literals)
  })
).check(Schema.isMaxLength(8))

/** The way of an operation under these moves, where every one that is not allowed leaves it as it is. */
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

/** What may be told of the money after what was told: nothing takes back that it was paid, or that it went back. */
const TELLABLE: Readonly<Record<PaymentState, ReadonlyArray<PaymentState>>> = {
  pending: ["unknown", "none", "refund_due"],
  unknown: ["unknown", "settled", "none", "refund_due"],
  none: [],
  settled: ["settled", "refund_due"],
  refund_due: ["refunded"],
  refunded: []
}

/** Enough for every way through the table to be gone. */
const THOROUGH = { arbitrary: { runs: 600, size: 100 } }

describe("OPERATION_TRANSITIONS", () => {
  it.prop(
    "allows what it lists, and nothing else",
    [State, Schema.Literals(OperationMove.literals)],
    ([from, by]) => {
      const listed = Object.entries(OPERATION_TRANSITIONS[from]).find(([name]) => name === by)
      assert.strictEqual(move(from, by), listed?.[1])
      if (isFinal(from)) assert.isUndefined(move(from, by))
    },
    THOROUGH
  )

  it.prop(
    "never comes to a state twice, nor out of an end",
    [Moves],
    ([moves]) => {
      const way = wayOf(moves)
      assert.strictEqual(new Set(way).size, way.length)
      assert.isFalse(way.slice(0, -1).some(isFinal))
    },
    THOROUGH
  )

  it.prop(
    "comes to goods and to a refund by their proofs alone",
    [Moves],
    ([moves]) => {
      const way = wayOf(moves)
      const before = (state: OperationState) => way[way.indexOf(state) - 1]
      if (way.includes("fulfilled"))
        assert.deepStrictEqual(way.slice(1), ["settling", "settled", "fulfilling", "fulfilled"])
      if (way.includes("refunded")) assert.strictEqual(before("refunded"), "refund_due")
      if (way.includes("refund_due"))
        assert.include(["claimed", "settled", "fulfilling", "refused"], before("refund_due"))
      if (way.includes("unpaid")) assert.include(["claimed", "settling", "refused"], before("unpaid"))
      assert.isFalse(way.includes("unpaid") && (way.includes("settled") || way.includes("refund_due")))
    },
    THOROUGH
  )

  it.prop(
    "tells of the money nothing that it takes back",
    [Moves],
    ([moves]) => {
      const told = wayOf(moves).map((state) => PAYMENT_STATES[state])
      told.slice(1).forEach((state, index) => assert.include(TELLABLE[told[index]!], state))
    },
    THOROUGH
  )

  it.prop(
    "carries the whole amount with each move, or nothing, whatever the amount",
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
    "posts for a move what its two states say, also for moves that are not allowed",
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
