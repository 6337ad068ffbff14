import { type OperationQuery, OperationStore, type OperationSummary, summaryOf, type Tenant } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const idsOf = (operations: ReadonlyArray<{ readonly operationId: string }>) =>
  operations.map(({ operationId }) => operationId)

const newestFirst = (operations: ReadonlyArray<{ readonly operationId: string }>) =>
  idsOf(operations).toSorted().toReversed()

/** Stores an operation of the tenant and moves it along a path of states. */
const paidBy = Effect.fnUntraced(function* (
  tenant: Tenant,
  path: Parameters<typeof Sample.movedAlong>[1] = [],
  parts?: Parameters<typeof Sample.operation>[1]
) {
  const store = yield* OperationStore
  const made = yield* Sample.operation(tenant, parts)
  assert.isTrue(yield* store.claim(made, Sample.LEASE))
  return yield* Sample.movedAlong(yield* Sample.found(made.operationId), path)
})

/** Reads a list to its end in pages of `limit`. */
const readList = Effect.fnUntraced(function* (query: Omit<OperationQuery, "before" | "limit">, limit: number) {
  const store = yield* OperationStore
  const items: Array<OperationSummary> = []
  for (;;) {
    const page = yield* store.list({ ...query, before: items.at(-1)?.operationId, limit })
    assert.isAtMost(page.length, limit)
    items.push(...page)
    assert.strictEqual(new Set(idsOf(items)).size, items.length, "no operation comes twice")
    if (page.length < limit) return items
  }
})

/** Tests of `list` and `makeDue`. */
export const operationListTests: ContractTests<OperationStore> = (it) => {
  describe("list", () => {
    it.effect("returns the operations of all payers page by page, newest first, each once", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenants = [yield* Fresh.tenant, yield* Fresh.tenant]
        const ours: Array<Effect.Success<ReturnType<typeof paidBy>>> = []
        for (const path of [...Sample.FINAL_PATHS, ["settling"] as const, []]) {
          ours.push(yield* paidBy(tenants[ours.length % 2]!, path))
        }
        const [a, b, ...older] = newestFirst(ours)
        for (const limit of [7, 100]) {
          const all = idsOf(yield* readList({}, limit))
          assert.deepStrictEqual(all, all.toSorted().toReversed())
          assert.deepStrictEqual(
            all.filter((id) => newestFirst(ours).includes(id)),
            [a, b, ...older]
          )
        }
        const rest = idsOf(yield* store.list({ before: b, limit: 100_000 }))
        assert.includeMembers(rest, older)
        assert.isFalse(rest.includes(a!) || rest.includes(b!))
        assert.deepStrictEqual(yield* store.list({ limit: 0 }), [])
      })
    )

    it.effect("returns the operations of one payer", () =>
      Effect.gen(function* () {
        const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
        const ours = [yield* paidBy(tenant), yield* paidBy(tenant, Sample.FINAL_PATHS[0]), yield* paidBy(tenant)]
        yield* paidBy(other)
        for (const limit of [1, 2, 3, 100]) {
          assert.deepStrictEqual(idsOf(yield* readList({ payer: tenant.wallet }, limit)), newestFirst(ours))
        }
        assert.deepStrictEqual(yield* readList({ payer: yield* Fresh.wallet }, 10), [])
      })
    )

    it.effect("returns the open operations, all or in one state, of one payer or of all", () =>
      Effect.gen(function* () {
        const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
        for (const path of Sample.FINAL_PATHS) yield* paidBy(tenant, path)
        const claimed = yield* paidBy(tenant)
        const settling = [yield* paidBy(tenant, ["settling"]), yield* paidBy(other, ["settling"])]
        const owed = yield* paidBy(tenant, ["refund_due"])
        const listed = Effect.fnUntraced(function* (query: Omit<OperationQuery, "before" | "limit">) {
          const all = yield* readList(query, 100)
          assert.deepStrictEqual(yield* readList(query, 7), all)
          return idsOf(all.filter(({ tenantId }) => [tenant.tenantId, other.tenantId].includes(tenantId)))
        })
        assert.deepStrictEqual(yield* listed({ state: "open" }), newestFirst([claimed, ...settling, owed]))
        assert.deepStrictEqual(yield* listed({ state: "settling" }), newestFirst(settling))
        const payer = tenant.wallet
        assert.deepStrictEqual(yield* listed({ state: "open", payer }), newestFirst([claimed, settling[0]!, owed]))
        assert.deepStrictEqual(yield* listed({ state: "refund_due", payer }), [owed.operationId])
        assert.deepStrictEqual(yield* listed({ state: "fulfilling", payer }), [])
      })
    )

    it.effect("returns each operation as its summary, with addresses in lower case and exact amounts", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const proof = yield* Sample.proof(tenant)
        const { terms } = yield* Sample.operation(tenant)
        const claimed = yield* paidBy(tenant, ["settling"], {
          proof: { ...proof, asset: `0x${proof.asset.slice(2).toUpperCase()}` },
          terms: { ...terms, amount: Sample.UINT256_MAX }
        })
        yield* store.advance(claimed, {
          to: "refund_due",
          change: { transaction: "0x01", failure: { kind: "gone", message: "The mailbox no longer existed." } },
          next: { kind: "scheduled", millis: Sample.LEASE }
        })
        const stored = yield* Sample.found(claimed.operationId)
        const [listed] = yield* store.list({ payer: tenant.wallet, limit: 1 })
        assert.deepStrictEqual(listed, summaryOf(stored))
        assert.deepInclude(listed, { asset: proof.asset, payer: tenant.wallet, amount: Sample.UINT256_MAX })
      })
    )
  })

  describe("makeDue", () => {
    it.effect("makes a scheduled operation due now, and changes nothing else", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const { fence, operationId } = yield* Sample.claimed()
        yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 10 * Sample.LEASE })
        const scheduled = yield* Sample.found(operationId)
        yield* clock.advance(10_000)
        const before = yield* clock.now
        assert.isTrue(yield* store.makeDue(operationId))
        const made = yield* Sample.found(operationId)
        assert.isTrue(before <= made.dueAt! && made.dueAt! <= (yield* clock.now), "dueAt")
        assert.deepStrictEqual({ ...made, dueAt: scheduled.dueAt }, scheduled)
        assert.deepStrictEqual(idsOf(yield* store.takeDue(10, Sample.LEASE)), [operationId])
      })
    )

    it.effect("leaves an operation that is due already in its place of the queue", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const first = yield* Sample.claimed()
        yield* clock.advance(1_000)
        const second = yield* Sample.claimed()
        yield* clock.advance(Sample.LEASE)
        assert.isTrue(yield* store.makeDue(first.operationId))
        assert.deepStrictEqual(yield* Sample.found(first.operationId), first)
        assert.deepStrictEqual(idsOf(yield* store.takeDue(10, Sample.LEASE)), idsOf([first, second]))
      })
    )

    it.effect("does nothing while a worker holds a lease, nor to a final or unknown operation", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const leased = yield* Sample.claimed()
        const final = yield* Sample.moved(yield* Sample.claimed(), "unpaid")
        for (const operation of [leased, final]) {
          assert.isFalse(yield* store.makeDue(operation.operationId))
          assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
        }
        assert.isFalse(yield* store.makeDue(yield* Fresh.id))
      })
    )
  })
}
