import {
  type Change,
  type ContractTests,
  defineContract,
  Fresh,
  type HarnessServices,
  undoneTest
} from "@agentos/core/contract-tests"
import { GasTransactionStore } from "@agentos/x402/GasTransactionStore"
import { describe } from "@effect/vitest"
import { Effect } from "effect"
import { gasClosingTests } from "./GasClosingTests.ts"
import { gasModelTests } from "./GasModelTests.ts"
import { gasOpeningTests } from "./GasOpeningTests.ts"
import * as Sample from "./GasTransactionSample.ts"

type R = GasTransactionStore | HarnessServices

/** A wallet with two open transactions, and an effect that reads all its open transactions. */
const wallet = Effect.gen(function* () {
  const store = yield* GasTransactionStore
  const wallet = yield* Sample.gasWallet
  const first = yield* Sample.opened(wallet)
  yield* Sample.opened(wallet)
  return { store, wallet, first, observe: store.listOpen(wallet, 10) }
})

const undoneTests: ContractTests<GasTransactionStore> = (it) => {
  const changes: Readonly<Record<string, Effect.Effect<Change<R>, unknown, R>>> = {
    open: Effect.gen(function* () {
      const { observe, wallet: own } = yield* wallet
      // Besides the open transactions, the next account nonce: found by a transaction that is rolled back.
      const next = Effect.flip(
        Effect.flatMap(Effect.all([GasTransactionStore, Fresh.word]), ([store, reference]) =>
          store.open({ wallet: own, reference, accountNonceMin: 0 }, (accountNonce) => Effect.fail(accountNonce))
        )
      )
      return { make: Sample.opened(own), observe: Effect.all([observe, next]) }
    }),
    reprice: Effect.gen(function* () {
      const { first, observe, store } = yield* wallet
      return { make: store.reprice(first, first.versions[0]!.hash, Sample.signed(0, "b")), observe }
    }),
    closeBelow: Effect.gen(function* () {
      const { observe, store, wallet: own } = yield* wallet
      return { make: store.closeBelow(own, 1), observe }
    })
  }
  describe("a change", () => {
    for (const [name, prepare] of Object.entries(changes)) undoneTest<GasTransactionStore, R>(it, name, prepare)
  })
}

/** The contract tests of `GasTransactionStore`. */
export const GasTransactionStoreContract = defineContract<GasTransactionStore>(
  "GasTransactionStore",
  (it, capabilities) => {
    gasOpeningTests(it, capabilities)
    gasClosingTests(it, capabilities)
    gasModelTests(it, capabilities)
    undoneTests(it, capabilities)
  }
)
