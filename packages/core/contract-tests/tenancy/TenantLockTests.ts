import { TenantStore, Transactor } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Option } from "effect"
import { type ContractTests, needing } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"

export const lockTests: ContractTests<TenantStore> = (it, capabilities) => {
  describe("lock", () => {
    it.effect("accepts no tenant, one twice, and one that does not exist", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        yield* transactor.transact(store.lock([]))
        yield* transactor.transact(
          Effect.gen(function* () {
            yield* store.lock([tenantId, yield* Fresh.id, tenantId])
            yield* store.lock([tenantId])
          })
        )
      })
    )

    it.effect("returns the tenants that exist, in ascending order, as they are now", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const { transact } = yield* Transactor
        const tenants = yield* Effect.forEach(Array.range(1, 3), () => Fresh.tenant)
        const [first, second, third] = tenants.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))
        yield* store.setSuspension(second!.tenantId, { at: second!.createdAt, reason: "spam" })
        const ids = [third!.tenantId, first!.tenantId, yield* Fresh.id, second!.tenantId, first!.tenantId]
        assert.deepStrictEqual(yield* transact(store.lock(ids)), [
          first!,
          Option.getOrThrow(yield* store.find(second!.tenantId)),
          third!
        ])
        assert.deepStrictEqual(yield* transact(store.lock([])), [])
      })
    )

    it.effect("admits one transaction at a time until it ends, in whatever order tenants are given", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const tenants = yield* Effect.forEach(Array.range(1, 3), () => Fresh.tenant)
        const ids = tenants.map(({ tenantId }) => tenantId)
        let inside = 0
        let most = 0
        yield* Effect.forEach(
          Array.range(1, 18),
          (n) =>
            transactor.transact(
              Effect.gen(function* () {
                const turned = [...ids.slice(n % 3), ...ids.slice(0, n % 3)]
                yield* store.lock(n % 2 === 0 ? turned : turned.toReversed())
                most = Math.max(most, ++inside)
                yield* store.find(ids[0]!)
                for (const _ of Array.range(1, 5)) yield* Effect.yieldNow
                inside--
              })
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(most, 1)
      })
    )

    it.effect("is also held by the transaction that ensured the tenant", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        let inside = 0
        let most = 0
        yield* Effect.forEach(
          Array.range(1, 12),
          () =>
            Effect.gen(function* () {
              const candidate = yield* Fresh.candidate
              yield* transactor.transact(
                Effect.gen(function* () {
                  const ensured = yield* store.ensure({ ...candidate, wallet: tenant.wallet })
                  assert.strictEqual(ensured.tenantId, tenant.tenantId)
                  most = Math.max(most, ++inside)
                  yield* store.find(ensured.tenantId)
                  for (const _ of Array.range(1, 5)) yield* Effect.yieldNow
                  inside--
                })
              )
            }),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(most, 1)
      })
    )

    const apart = needing(capabilities.concurrentTransactions, "keeps no other tenant waiting")
    it.effect.skipIf(apart.missing)(apart.name, () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const [held, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const holder = yield* Effect.forkChild(
          transactor.transact(
            Effect.andThen(
              store.lock([one.tenantId]),
              Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(proceed))
            )
          )
        )
        yield* Deferred.await(held)
        yield* transactor.transact(store.lock([two.tenantId]))
        assert.deepStrictEqual(yield* store.find(one.tenantId), Option.some(one), "readers do not wait either")
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(holder)
      })
    )
  })
}
