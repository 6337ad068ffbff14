import { OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./OperationSample.ts"

/** Transfers with unique ids, all in one transaction. */
const candidates = (count: number) =>
  Effect.forEach(Array.range(1, count), () =>
    Effect.map(Effect.all([Fresh.id, Fresh.id]), (ids) => ({
      transferId: ids.join("").replaceAll("-", ""),
      transaction: `0x${"7a".repeat(32)}`
    }))
  )

/** Tests of the transfers that prove operations. */
export const operationTransferTests: ContractTests<OperationStore> = (it, capabilities) => {
  describe("claimTransfer", () => {
    it.effect("assigns the first transfer that no other operation has", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const [one, two, three] = yield* Effect.all([Sample.claimed(), Sample.claimed(), Sample.claimed()])
        const transfers = yield* candidates(2)
        const [first, second] = transfers
        assert.deepStrictEqual(yield* store.claimTransfer(one.operationId, transfers), Option.some(first))
        assert.deepStrictEqual(yield* store.claimTransfer(two.operationId, transfers), Option.some(second))
        assert.deepStrictEqual(yield* store.claimTransfer(three.operationId, transfers), Option.none())
        assert.deepStrictEqual(yield* store.claimTransfer(three.operationId, []), Option.none())
      })
    )

    it.effect("returns an operation its own transfer again", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const { operationId } = yield* Sample.claimed()
        const transfers = yield* candidates(2)
        const claim = store.claimTransfer(operationId, transfers)
        assert.deepStrictEqual(yield* claim, yield* claim)
      })
    )

    it.effect("undoes an assignment with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const [one, two] = yield* Effect.all([Sample.claimed(), Sample.claimed()])
        const transfers = yield* candidates(1)
        yield* rolledBack(store.claimTransfer(one.operationId, transfers))
        assert.deepStrictEqual(yield* store.claimTransfer(two.operationId, transfers), Option.some(transfers[0]))
      })
    )

    it.effect("assigns a transfer once to two transactions: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const [one, two] = yield* Effect.all([Sample.claimed(), Sample.claimed()])
          const transfers = yield* candidates(2)
          const [first, second] = yield* overlapping(capabilities, {
            first: store.claimTransfer(one.operationId, transfers),
            second: store.claimTransfer(two.operationId, transfers),
            firstEnds
          })
          assert.deepStrictEqual(first, Option.some(transfers[0]))
          assert.deepStrictEqual(second, Option.some(transfers[firstEnds === "committed" ? 1 : 0]))
        }
      })
    )
  })

  describe("findFreeTransfer", () => {
    it.effect("returns the first transfer that no operation has", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const transfers = yield* candidates(2)
        for (const free of transfers) {
          assert.deepStrictEqual(yield* store.findFreeTransfer(transfers), Option.some(free))
          yield* store.claimTransfer((yield* Sample.claimed()).operationId, [free])
        }
        assert.deepStrictEqual(yield* store.findFreeTransfer(transfers), Option.none())
        assert.deepStrictEqual(yield* store.findFreeTransfer([]), Option.none())
      })
    )
  })
}
