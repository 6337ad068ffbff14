import { Ledger, type LedgerBalance, type Operation, OPERATION_TRANSITIONS, OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./OperationSample.ts"

type Account = LedgerBalance["account"]

/** Returns the balances of one asset, without empty accounts. */
const balancesOf = Effect.fnUntraced(function* (asset: string, network?: string) {
  const store = yield* OperationStore
  const balances = (yield* store.books).balances.filter(
    (balance) => balance.asset === asset && balance.amount !== 0n && (network ?? balance.network) === balance.network
  )
  const byAccount = new Map<Account, bigint>(balances.map(({ account, amount }) => [account, amount]))
  assert.strictEqual(byAccount.size, balances.length, "one sum per account, network and asset")
  return byAccount
})

/** Returns the entries that move an amount of the operation's asset. */
const entries = (
  operation: Operation,
  amount: bigint,
  from: Account,
  to: Account
): ReadonlyArray<Ledger.LedgerEntry> => {
  const { asset, network } = operation.terms
  const entry = { operationId: operation.operationId, network, asset }
  return [
    { ...entry, account: from, amount: -amount },
    { ...entry, account: to, amount }
  ]
}

/** Tests of `post` and of the balances. */
export const ledgerTests: ContractTests<OperationStore> = (it, capabilities) => {
  describe("the ledger", () => {
    it.effect("receives the entries of a transition if the operation moves, and none if it does not", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.moved(yield* Sample.claimed(), "settling")
        const { fence, terms } = operation
        const posted = entries(operation, 250_000n, "received", "inFlight")
        const next = { kind: "scheduled", millis: 0 } as const
        const move = { to: "settled", change: {}, entries: posted, next } as const
        assert.isTrue(Option.isNone(yield* store.advance({ ...operation, fence: fence + 1 }, move)))
        assert.strictEqual((yield* balancesOf(terms.asset, terms.network)).size, 0)
        assert.isTrue(Option.isSome(yield* store.advance(operation, move)))
        assert.deepStrictEqual(
          yield* balancesOf(terms.asset, terms.network),
          new Map<Account, bigint>([
            ["received", -250_000n],
            ["inFlight", 250_000n]
          ])
        )
      })
    )

    it.effect("sums the entries per account, network and asset", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const one = yield* Sample.claimed()
        const two = yield* Sample.claimed({ proof: { ...one.proof, network: "eip155:42220" } })
        yield* store.post(entries(one, 250_000n, "received", "inFlight"))
        yield* store.post(entries(one, 250_000n, "inFlight", "fulfilled"))
        yield* store.post([
          ...entries(two, 5_000_000n, "received", "inFlight"),
          ...entries(one, 20_000n, "received", "inFlight")
        ])
        assert.deepStrictEqual(
          yield* balancesOf(one.terms.asset, one.terms.network),
          new Map<Account, bigint>([
            ["received", -270_000n],
            ["inFlight", 20_000n],
            ["fulfilled", 250_000n]
          ])
        )
        assert.deepStrictEqual(
          yield* balancesOf(two.terms.asset, two.terms.network),
          new Map<Account, bigint>([
            ["received", -5_000_000n],
            ["inFlight", 5_000_000n]
          ])
        )
      })
    )

    it.effect("is exact beyond every fixed width", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        const amounts = [1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n + 1n, 10n ** 30n + 1n, Sample.UINT256_MAX]
        for (const amount of amounts) yield* store.post(entries(operation, amount, "received", "refundDue"))
        yield* store.post(entries(operation, Sample.UINT256_MAX, "received", "refundDue"))
        const total = amounts.reduce((sum, amount) => sum + amount, Sample.UINT256_MAX)
        assert.deepStrictEqual(
          yield* balancesOf(operation.terms.asset),
          new Map<Account, bigint>([
            ["received", -total],
            ["refundDue", total]
          ])
        )
      })
    )

    it.effect("accepts an empty list, and entries of zero", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        yield* store.post([])
        yield* store.post(entries(operation, 0n, "received", "inFlight"))
        assert.deepStrictEqual(yield* balancesOf(operation.terms.asset), new Map<Account, bigint>())
      })
    )

    it.effect("forgets entries that were rolled back", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        yield* rolledBack(store.post(entries(operation, 7n, "received", "inFlight")))
        assert.deepStrictEqual(yield* balancesOf(operation.terms.asset), new Map<Account, bigint>())
      })
    )

    it.effect("loses no concurrent entries", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        yield* Effect.forEach(
          Array.range(1, 40),
          (n) => store.post(entries(operation, BigInt(n), "received", "inFlight")),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* balancesOf(operation.terms.asset)).get("inFlight"), 820n)
      })
    )

    const PATHS = [
      ["settling", "settled", "fulfilling", "fulfilled"],
      ["settling", "settled", "refund_due", "refunded"],
      ["settling", "refused", "refund_due"],
      ["settling", "refused", "unpaid"],
      ["unpaid"],
      ["settling", "settled"]
    ] as const
    it.effect.prop(
      "adds up to zero and accounts for all money, whatever path operations take",
      {
        operations: Schema.Array(
          Schema.Struct({
            path: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: PATHS.length - 1 })),
            steps: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
            amount: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 30n }))
          })
        ).check(Schema.isMaxLength(6))
      },
      ({ operations }) =>
        Effect.gen(function* () {
          const store = yield* OperationStore
          const tenant = yield* Fresh.tenant
          const { asset, network } = yield* Sample.proof(tenant)
          const expected = new Map<Account, bigint>()
          for (const { amount, path, steps } of operations) {
            const base = yield* Sample.operation(tenant, { proof: yield* Sample.proof(tenant, { asset, network }) })
            assert.isTrue(yield* store.claim({ ...base, terms: { ...base.terms, amount } }, Sample.LEASE))
            let operation = yield* Sample.found(base.operationId)
            for (const to of PATHS[path]!.slice(0, steps)) {
              assert.include(Object.values(OPERATION_TRANSITIONS[operation.state]), to)
              const posted = Ledger.entriesOf(operation, operation.state, to)
              operation = yield* Sample.moved(operation, to)
              yield* store.post(posted)
              for (const entry of posted) {
                expected.set(entry.account, (expected.get(entry.account) ?? 0n) + entry.amount)
              }
            }
          }
          const balances = yield* balancesOf(asset)
          for (const [account, amount] of expected) assert.strictEqual(balances.get(account) ?? 0n, amount, account)
          assert.strictEqual(
            Array.fromIterable(balances.values()).reduce((sum, amount) => sum + amount, 0n),
            0n
          )
        }),
      propertyOptions(capabilities)
    )
  })
}
