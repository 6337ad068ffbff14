import { Transactor } from "@agentos/core"
import {
  AWKWARD_TEXTS,
  type ContractTests,
  Fresh,
  needing,
  overlapping,
  refused,
  StoreClock
} from "@agentos/core/contract-tests"
import { type GasTransaction, GasTransactionStore } from "@agentos/x402/GasTransactionStore"
import { assert, describe } from "@effect/vitest"
import { Array, Cause, Deferred, Effect, Exit, Fiber } from "effect"
import * as Sample from "./GasTransactionSample.ts"

const { opened, openNonces, signed } = Sample

const noncesOf = (transactions: ReadonlyArray<GasTransaction>) => transactions.map(({ accountNonce }) => accountNonce)

const givenOutTests: ContractTests<GasTransactionStore> = (it) => {
  describe("open", () => {
    it.effect("assigns the account nonce, has it signed, and returns the stored transaction", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const clock = yield* StoreClock
        const wallet = yield* Sample.gasWallet
        const reference = yield* Fresh.word
        const before = yield* clock.now
        const transaction = yield* opened(wallet, { reference, accountNonceMin: 7 })
        const after = yield* clock.now
        const { createdAt } = transaction
        assert.deepStrictEqual<unknown>(transaction, {
          wallet,
          accountNonce: 7,
          reference,
          versions: [signed(7)],
          createdAt,
          signedAt: createdAt
        })
        assert.isTrue(before <= createdAt && createdAt <= after, "createdAt is the store's clock")
        assert.deepStrictEqual(yield* store.listOpen(wallet, 10), [transaction])
      })
    )

    it.effect("assigns consecutive account nonces", () =>
      Effect.gen(function* () {
        const wallet = yield* Sample.gasWallet
        const transactions = yield* Effect.forEach(Array.range(0, 11), () => opened(wallet))
        assert.deepStrictEqual(noncesOf(transactions), Array.range(0, 11))
      })
    )

    it.effect("continues from the chain's next account nonce if that is higher, and never goes back", () =>
      Effect.gen(function* () {
        const wallet = yield* Sample.gasWallet
        const given: Array<number> = []
        for (const accountNonceMin of [5, 0, 6, 9, 2, 2 ** 40, 0]) {
          given.push((yield* opened(wallet, { accountNonceMin })).accountNonce)
        }
        assert.deepStrictEqual(given, [5, 6, 7, 9, 10, 2 ** 40, 2 ** 40 + 1])
      })
    )

    it.effect("returns the open transaction with the reference, and signs nothing", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const first = yield* opened(wallet)
        yield* opened(wallet)
        yield* store.reprice(first, first.versions[0]!.hash, signed(0, "b"))
        const again = yield* store.open({ wallet, reference: first.reference, accountNonceMin: 50 }, () =>
          Effect.die("nothing is to be signed")
        )
        assert.deepStrictEqual(again.versions, [signed(0), signed(0, "b")])
        assert.deepStrictEqual(yield* store.listOpen(wallet, 1), [again])
        assert.strictEqual((yield* opened(wallet)).accountNonce, 2)
      })
    )

    it.effect("counts separately for each wallet on each network, references included", () =>
      Effect.gen(function* () {
        const wallet = yield* Sample.gasWallet
        const others = [yield* Sample.gasWallet, { ...wallet, network: "eip155:42220" }]
        const { reference } = yield* opened(wallet, { accountNonceMin: 100 })
        for (const other of others) {
          const given = [yield* opened(other, { reference }), yield* opened(other)]
          assert.deepStrictEqual(noncesOf(given), [0, 1])
        }
        assert.deepStrictEqual(yield* openNonces(wallet), [100])
      })
    )

    it.effect("keeps references and bytes exactly", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        for (const text of AWKWARD_TEXTS) {
          const reference = text.length < 200 ? text : yield* Fresh.word
          const version = { hash: text, bytes: text }
          const transaction = yield* store.open({ wallet, reference, accountNonceMin: 0 }, () =>
            Effect.succeed(version)
          )
          assert.strictEqual(transaction.reference, reference)
          assert.isTrue(yield* store.reprice(transaction, text, { hash: `${text}'`, bytes: "" }))
          const stored = (yield* store.listOpen(wallet, 100)).at(-1)
          assert.deepStrictEqual(stored?.versions, [version, { hash: `${text}'`, bytes: "" }])
        }
      })
    )

    it.effect("dies if the wallet is not in lower case, which would be counted separately", () =>
      Effect.gen(function* () {
        const wallet = yield* Sample.gasWallet
        const shouted = { ...wallet, address: `0x${"AB".repeat(20)}` }
        yield* refused(opened(shouted))
        assert.deepStrictEqual(yield* openNonces(shouted), [])
      })
    )
  })
}

const givenBackTests: ContractTests<GasTransactionStore> = (it) => {
  const ways = {
    "its signing fails": Effect.fail("no key"),
    "its signing dies": Effect.die("broken"),
    "its signing is interrupted from within": Effect.interrupt
  }
  describe("the account nonce is reused when", () => {
    for (const [way, end] of Object.entries(ways)) {
      it.effect(way, () =>
        Effect.gen(function* () {
          const store = yield* GasTransactionStore
          const wallet = yield* Sample.gasWallet
          yield* opened(wallet)
          const reference = yield* Fresh.word
          const exit = yield* Effect.exit(store.open({ wallet, reference, accountNonceMin: 4 }, () => end))
          assert.isTrue(Exit.isFailure(exit))
          if (way === "its signing fails") assert.deepStrictEqual(exit, Exit.failCause(Cause.fail("no key")))
          assert.deepStrictEqual(yield* openNonces(wallet), [0])
          assert.strictEqual((yield* opened(wallet, { reference })).accountNonce, 1)
        })
      )
    }

    it.effect("its caller is interrupted while it is signed", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const signing = yield* Deferred.make<number>()
        const fiber = yield* Effect.forkChild(
          store.open({ wallet, reference: yield* Fresh.word, accountNonceMin: 3 }, (accountNonce) =>
            Effect.andThen(Deferred.succeed(signing, accountNonce), Effect.never)
          )
        )
        const given = yield* Effect.raceFirst(
          Deferred.await(signing),
          Effect.map(Fiber.join(fiber), () => -1)
        )
        assert.strictEqual(given, 3)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* openNonces(wallet), [])
        assert.strictEqual((yield* opened(wallet, { accountNonceMin: 3 })).accountNonce, 3)
      })
    )

    it.effect("its signing fails within a transaction that continues", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const { transact } = yield* Transactor
        const wallet = yield* Sample.gasWallet
        const transaction = yield* transact(
          Effect.gen(function* () {
            const reference = yield* Fresh.word
            yield* Effect.exit(store.open({ wallet, reference, accountNonceMin: 6 }, () => Effect.fail("no key")))
            return yield* opened(wallet, { reference })
          })
        )
        assert.strictEqual(transaction.accountNonce, 0)
        assert.deepStrictEqual(yield* store.listOpen(wallet, 10), [transaction])
      })
    )
  })
}

const manyTests: ContractTests<GasTransactionStore> = (it, capabilities) => {
  describe("concurrent calls of open", () => {
    it.effect("get consecutive account nonces without a gap, even if some fail", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const exits = yield* Effect.forEach(
          Array.range(1, 30),
          (n) =>
            Effect.exit(
              store.open({ wallet, reference: `${n}`, accountNonceMin: 10 }, (accountNonce) =>
                Effect.andThen(
                  Effect.yieldNow,
                  n % 3 === 0 ? Effect.fail("no key") : Effect.succeed(signed(accountNonce))
                )
              )
            ),
          { concurrency: "unbounded" }
        )
        const given = exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
        assert.sameMembers(noncesOf(given), Array.range(10, 29))
        for (const { accountNonce, versions } of given) assert.deepStrictEqual(versions, [signed(accountNonce)])
        assert.deepStrictEqual(yield* openNonces(wallet), Array.range(10, 29))
      })
    )

    it.effect("sign once for one reference, and all return that", () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const reference = yield* Fresh.word
        let signings = 0
        const answers = yield* Effect.forEach(
          Array.range(1, 12),
          () =>
            store.open({ wallet, reference, accountNonceMin: 0 }, (accountNonce) =>
              Effect.sync(() => signed(accountNonce, `${++signings}`))
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(signings, 1)
        const stored = yield* store.listOpen(wallet, 10)
        for (const answer of answers) assert.deepStrictEqual([answer], stored)
      })
    )

    it.effect("wait for the one before, and reuse its account nonce if that fails", () =>
      Effect.gen(function* () {
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const wallet = yield* Sample.gasWallet
          const [first, second] = yield* overlapping(capabilities, {
            first: opened(wallet),
            second: opened(wallet),
            firstEnds
          })
          assert.deepStrictEqual(noncesOf([first, second]), [0, firstEnds === "committed" ? 1 : 0])
          assert.deepStrictEqual(yield* openNonces(wallet), firstEnds === "committed" ? [0, 1] : [0])
        }
      })
    )

    const apart = needing(capabilities.concurrentTransactions, "waits for no other wallet, nor network")
    it.effect.skipIf(apart.missing)(apart.name, () =>
      Effect.gen(function* () {
        const store = yield* GasTransactionStore
        const wallet = yield* Sample.gasWallet
        const [signing, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const slow = yield* Effect.forkChild(
          store.open({ wallet, reference: yield* Fresh.word, accountNonceMin: 0 }, (accountNonce) =>
            Deferred.succeed(signing, undefined).pipe(
              Effect.andThen(Deferred.await(proceed)),
              Effect.as(signed(accountNonce))
            )
          )
        )
        yield* Effect.raceFirst(Deferred.await(signing), Effect.asVoid(Fiber.join(slow)))
        const others = [yield* Sample.gasWallet, { ...wallet, network: "eip155:42220" }]
        for (const other of others) assert.strictEqual((yield* opened(other)).accountNonce, 0)
        assert.deepStrictEqual(yield* openNonces(wallet), [])
        yield* Deferred.succeed(proceed, undefined)
        assert.strictEqual((yield* Fiber.join(slow)).accountNonce, 0)
      })
    )
  })
}

/** Tests of `open`. */
export const gasOpeningTests: ContractTests<GasTransactionStore> = (it, capabilities) => {
  givenOutTests(it, capabilities)
  givenBackTests(it, capabilities)
  manyTests(it, capabilities)
}
