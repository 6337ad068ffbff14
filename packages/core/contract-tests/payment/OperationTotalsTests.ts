import { type Operation, type OperationState, OperationStore, type OperationTotal } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

/** Returns the totals of one token on all networks. */
const totalsOf = Effect.fnUntraced(function* (asset: string) {
  const store = yield* OperationStore
  return (yield* store.books).totals.filter((total) => total.asset === asset)
})

/** Stores an operation with a token, an amount and a state. */
const stored = Effect.fnUntraced(function* (
  token: Pick<OperationTotal, "asset" | "network">,
  amount: bigint,
  path: ReadonlyArray<OperationState>
) {
  const store = yield* OperationStore
  const tenant = yield* Fresh.tenant
  const base = yield* Sample.operation(tenant, { proof: yield* Sample.proof(tenant, token) })
  assert.isTrue(yield* store.claim({ ...base, terms: { ...base.terms, amount } }, Sample.LEASE))
  return yield* Sample.movedAlong(yield* Sample.found(base.operationId), path)
})

/** A paid operation with a unique transaction. */
const paid = Effect.gen(function* () {
  const store = yield* OperationStore
  const operation = yield* Sample.moved(yield* Sample.claimed(), "settling")
  const transaction = yield* Fresh.word
  const next = { kind: "leased", millis: Sample.LEASE } as const
  yield* store.advance(operation, { to: "settled", change: { transaction }, next })
  return yield* Sample.found(operation.operationId)
})

/** Returns all paid operations, read in pages of `limit`. */
const allPaid = Effect.fnUntraced(function* (limit: number) {
  const store = yield* OperationStore
  const operations: Array<Operation> = []
  for (let after: string | null = null; ;) {
    const page: ReadonlyArray<Operation> = yield* store.listPaid(after, limit)
    assert.isAtMost(page.length, limit)
    for (const operation of page) {
      assert.isTrue(after === null || operation.operationId > after, "in order, and strictly after")
      assert.isNotNull(operation.transaction)
      after = operation.operationId
    }
    operations.push(...page)
    if (page.length < limit) return operations
  }
})

/** Tests of the totals, `countOpen`, `openKeyIds` and `listPaid`. */
export const operationTotalsTests: ContractTests<OperationStore> = (it) => {
  describe("openKeyIds", () => {
    it.effect("returns the key of each open operation once, and none of a final one", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const claimedUnder = Effect.fnUntraced(function* (keyId: number) {
          const tenant = yield* Fresh.tenant
          const { terms } = yield* Sample.operation(tenant)
          return yield* Sample.claimed({ terms: { ...terms, extra: { ...terms.extra, keyId } } })
        })
        const [first, second, final] = [251, 252, 253]
        yield* claimedUnder(first)
        yield* claimedUnder(first)
        const settling = yield* Sample.moved(yield* claimedUnder(second), "settling")
        yield* Sample.moved(yield* claimedUnder(final), "unpaid")
        const open = yield* store.openKeyIds
        assert.deepStrictEqual(
          open.filter((id) => id > 250).toSorted((a, b) => a - b),
          [first, second]
        )
        yield* Sample.moved(settling, "unpaid")
        assert.notInclude(yield* store.openKeyIds, second)
      })
    )
  })

  describe("totals", () => {
    it.effect("count operations and sum their amounts, per state, network and asset", () =>
      Effect.gen(function* () {
        const { asset } = yield* Sample.proof(yield* Fresh.tenant)
        const [one, two] = [
          { asset, network: "eip155:196" },
          { asset, network: "eip155:42220" }
        ]
        const [fulfilled, unpaid, refunded] = Sample.FINAL_PATHS
        assert.deepStrictEqual(yield* totalsOf(asset), [])
        yield* stored(one, 20_000n, fulfilled!)
        yield* stored(one, 5_000_000n, fulfilled!)
        yield* stored(two, 7n, fulfilled!)
        yield* stored(one, 0n, unpaid!)
        yield* stored(one, 3n, refunded!)
        yield* stored(one, 11n, ["settling", "settled"])
        const last = yield* stored(one, 13n, ["settling"])
        const before: ReadonlyArray<OperationTotal> = [
          { state: "fulfilled", ...one, count: 2, amount: 5_020_000n },
          { state: "fulfilled", ...two, count: 1, amount: 7n },
          { state: "unpaid", ...one, count: 1, amount: 0n },
          { state: "refunded", ...one, count: 1, amount: 3n },
          { state: "settled", ...one, count: 1, amount: 11n }
        ]
        const settling: OperationTotal = { state: "settling", ...one, count: 1, amount: 13n }
        assert.sameDeepMembers([...(yield* totalsOf(asset))], [...before, settling])
        yield* Sample.moved(last, "settled")
        const settled: OperationTotal = { state: "settled", ...one, count: 2, amount: 24n }
        assert.sameDeepMembers([...(yield* totalsOf(asset))], [...before.slice(0, 4), settled])
      })
    )

    it.effect("are exact beyond every fixed width", () =>
      Effect.gen(function* () {
        const { asset, network } = yield* Sample.proof(yield* Fresh.tenant)
        const amounts = [1n, 2n ** 53n + 1n, 2n ** 64n + 1n, Sample.UINT256_MAX, Sample.UINT256_MAX]
        for (const amount of amounts) yield* stored({ asset, network }, amount, [])
        const amount = amounts.reduce((sum, each) => sum + each, 0n)
        assert.deepStrictEqual(yield* totalsOf(asset), [
          { state: "claimed", network, asset, count: amounts.length, amount }
        ])
      })
    )

    it.effect("name a token in lower case, like the ledger, in whatever case it was written", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const { asset, network } = yield* Sample.proof(yield* Fresh.tenant)
        const shouted = `0x${asset.slice(2).toUpperCase()}`
        const operation = yield* stored({ asset: shouted, network }, 2n, [])
        yield* stored({ asset, network }, 3n, [])
        assert.deepStrictEqual(yield* totalsOf(asset), [{ state: "claimed", network, asset, count: 2, amount: 5n }])
        const entry = { operationId: operation.operationId, network }
        yield* store.post([
          { ...entry, asset: shouted, account: "received", amount: -2n },
          { ...entry, asset, account: "inFlight", amount: 2n },
          { ...entry, asset, account: "received", amount: -3n },
          { ...entry, asset: shouted, account: "inFlight", amount: 3n }
        ])
        assert.sameDeepMembers(
          (yield* store.books).balances.filter((balance) => balance.asset.toLowerCase() === asset),
          [
            { account: "received", network, asset, amount: -5n },
            { account: "inFlight", network, asset, amount: 5n }
          ]
        )
      })
    )
  })

  describe("countOpen", () => {
    it.effect(
      "totals open operations by state and token, leased or not, with the time of the oldest, and prefers those due first",
      () =>
        Effect.gen(function* () {
          const store = yield* Sample.emptiedQueue
          const clock = yield* StoreClock
          const { asset } = yield* Sample.proof(yield* Fresh.tenant)
          const [one, two] = [
            { asset, network: "eip155:196" },
            { asset, network: "eip155:42220" }
          ]
          const first = yield* stored(one, 20n, [])
          yield* clock.advance(1_000)
          const second = yield* stored({ ...one, asset: `0x${asset.slice(2).toUpperCase()}` }, 3n, [])
          yield* clock.advance(1_000)
          const third = yield* stored(two, Sample.UINT256_MAX, [])
          const settling = yield* stored(one, 5n, ["settling"])
          for (const path of Sample.FINAL_PATHS) yield* stored(one, 7n, path)
          // Operations left open by other tests are due in the distant future.
          assert.sameDeepMembers(
            [...(yield* store.countOpen(4))],
            [
              { state: "claimed", ...one, count: 2, amount: 23n, oldestAt: first.createdAt },
              { state: "claimed", ...two, count: 1, amount: Sample.UINT256_MAX, oldestAt: third.createdAt },
              { state: "settling", ...one, count: 1, amount: 5n, oldestAt: settling.createdAt }
            ]
          )
          yield* store.setNextAttempt(first.operationId, first.fence, { kind: "scheduled", millis: 10 * Sample.LEASE })
          assert.deepStrictEqual(yield* store.countOpen(1), [
            { state: "claimed", ...one, count: 1, amount: 3n, oldestAt: second.createdAt }
          ])
          assert.deepStrictEqual(yield* store.countOpen(0), [])
        })
    )
  })

  describe("listPaid", () => {
    it.effect("returns all operations with a paying transaction page by page, ordered by operationId, each once", () =>
      Effect.gen(function* () {
        const settling = yield* Sample.moved(yield* Sample.claimed(), "settling")
        const operations = yield* Effect.forEach(Array.range(1, 7), () => paid)
        const refunded = yield* Sample.movedAlong(yield* paid, ["refund_due", "refunded"])
        const claimed = yield* Sample.claimed()
        const ours = new Set([...operations, refunded, settling, claimed].map(({ operationId }) => operationId))
        const expected = [...operations, refunded].toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1))
        for (const limit of [1, 3, 1_000]) {
          const found = yield* allPaid(limit)
          assert.deepStrictEqual(
            found.filter(({ operationId }) => ours.has(operationId)),
            expected
          )
        }
      })
    )

    it.effect("starts strictly after the given operation", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const ours = (yield* Effect.forEach(Array.range(1, 4), () => paid)).map(({ operationId }) => operationId)
        const [a, b, ...later] = ours.toSorted()
        const found = (yield* store.listPaid(b!, 100_000)).map(({ operationId }) => operationId)
        assert.includeMembers(found, later)
        assert.isFalse(found.includes(a!) || found.includes(b!))
        assert.deepStrictEqual(yield* store.listPaid("ffffffff-ffff-ffff-ffff-ffffffffffff", 10), [])
      })
    )
  })
}
