import { type ContractTests, Fresh, overlapping, StoreClock } from "@agentos/core/contract-tests"
import { GasTransactionStore } from "@agentos/x402/GasTransactionStore"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import * as Sample from "./GasTransactionSample.ts"

const { opened, openNonces, signed } = Sample

const repriceTests: ContractTests<GasTransactionStore> = (it, capabilities) => {
  describe("reprice", () => {
    it.effect("adds a version to an open transaction, signed now, and changes nothing else of it", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const clock = yield* StoreClock
        const wallet = yield* Sample.gasWallet
        const transaction = yield* opened(wallet)
        const versions = ["a", "b", "c"].map((version) => signed(0, version))
        for (const [n, version] of versions.slice(1).entries()) {
          yield* clock.advance(30_000)
          const before = yield* clock.now
          assert.isTrue(yield* store.reprice(transaction, versions[n]!.hash, version))
          const after = yield* clock.now
          const [stored] = yield* store.listOpen(wallet, 10)
          const { signedAt } = stored!
          assert.deepStrictEqual(stored, { ...transaction, versions: versions.slice(0, n + 2), signedAt })
          assert.isTrue(before <= signedAt && signedAt <= after, "signedAt is the store's clock")
        }
      })
    )

    it.effect("adds nothing after a version that is not the newest, or to a transaction that is not open", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const [closed, open] = [yield* opened(wallet), yield* opened(wallet)]
        yield* store.closeBelow(wallet, open.accountNonce)
        yield* store.reprice(open, signed(1).hash, signed(1, "b"))
        const before = yield* store.listOpen(wallet, 10)
        const version = signed(1, "c")
        assert.isFalse(yield* store.reprice(open, signed(1).hash, version), "an older version")
        assert.isFalse(yield* store.reprice(open, "", version))
        assert.isFalse(yield* store.reprice(closed, signed(0).hash, version), "closed")
        const newest = signed(1, "b").hash
        assert.isFalse(yield* store.reprice({ wallet, accountNonce: 2 }, newest, version))
        const elsewhere = [yield* Sample.gasWallet, { ...wallet, network: "eip155:42220" }]
        for (const other of elsewhere) {
          assert.isFalse(yield* store.reprice({ wallet: other, accountNonce: 1 }, newest, version))
        }
        assert.deepStrictEqual(yield* store.listOpen(wallet, 10), before)
      })
    )

    it.effect("adds the version of one of many concurrent calls, and only that", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const transaction = yield* opened(wallet)
        const versions = Array.range(1, 10).map((n) => signed(0, `rival${n}`))
        const answers = yield* Effect.forEach(
          versions,
          (version) => store.reprice(transaction, signed(0).hash, version),
          { concurrency: "unbounded" }
        )
        const won = versions.filter((_, index) => answers[index])
        assert.strictEqual(won.length, 1)
        const [stored] = yield* store.listOpen(wallet, 10)
        assert.deepStrictEqual(stored?.versions, [signed(0), ...won])
      })
    )

    it.effect("waits for the outcome of a version that another transaction has added", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const transaction = yield* opened(yield* Sample.gasWallet)
          const answers = yield* overlapping(capabilities, {
            first: store.reprice(transaction, signed(0).hash, signed(0, "b")),
            second: store.reprice(transaction, signed(0).hash, signed(0, "c")),
            firstEnds
          })
          assert.deepStrictEqual(answers, [true, firstEnds === "rolled back"])
        }
      })
    )
  })
}

const closeTests: ContractTests<GasTransactionStore> = (it) => {
  describe("listOpen", () => {
    it.effect("lists up to `limit` open transactions of a wallet, by ascending account nonce", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const nonces = [8, 9, 10, 11, 99, 100, 101, 2 ** 33]
        for (const accountNonceMin of nonces) yield* opened(wallet, { accountNonceMin })
        for (const other of [yield* Sample.gasWallet, { ...wallet, network: "eip155:1" }]) yield* opened(other)
        const listed = (yield* store.listOpen(wallet, 100)).map(({ accountNonce }) => accountNonce)
        assert.deepStrictEqual(listed, nonces)
        for (const limit of [0, 1, 3]) {
          const some = (yield* store.listOpen(wallet, limit)).map(({ accountNonce }) => accountNonce)
          assert.deepStrictEqual(some, nonces.slice(0, limit))
        }
        assert.deepStrictEqual(yield* store.listOpen(yield* Sample.gasWallet, 100), [])
      })
    )
  })

  describe("closeBelow", () => {
    it.effect("closes the transactions below the account nonce, of that wallet only", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const others = [yield* Sample.gasWallet, { ...wallet, network: "eip155:42220" }]
        for (const each of [wallet, ...others]) yield* Effect.replicateEffect(opened(each), 12)
        yield* store.closeBelow(wallet, 0)
        assert.deepStrictEqual(yield* openNonces(wallet), Array.range(0, 11))
        yield* store.closeBelow(wallet, 10)
        assert.deepStrictEqual(yield* openNonces(wallet), [10, 11])
        yield* store.closeBelow(wallet, 10)
        yield* store.closeBelow(wallet, 5)
        assert.deepStrictEqual(yield* openNonces(wallet), [10, 11])
        yield* store.closeBelow(wallet, 1_000)
        assert.deepStrictEqual(yield* openNonces(wallet), [])
        for (const other of others) assert.deepStrictEqual(yield* openNonces(other), Array.range(0, 11))
      })
    )

    it.effect("frees the reference, but never the account nonce", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const reference = yield* Fresh.word
        for (const accountNonce of [0, 1, 2]) {
          const transaction = yield* opened(wallet, { reference })
          assert.strictEqual(transaction.accountNonce, accountNonce)
          yield* store.closeBelow(wallet, accountNonce + 1)
        }
      })
    )

    it.effect("does nothing for an unused wallet", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        yield* store.closeBelow(wallet, 10)
        assert.strictEqual((yield* opened(wallet)).accountNonce, 0)
      })
    )
  })
}

/** Tests of `reprice`, `listOpen` and `closeBelow`. */
export const gasClosingTests: ContractTests<GasTransactionStore> = (it, capabilities) => {
  repriceTests(it, capabilities)
  closeTests(it, capabilities)
}
