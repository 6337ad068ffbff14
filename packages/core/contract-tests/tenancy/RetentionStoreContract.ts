import { RetentionStore, TenantErasureStore, type TenantRetention, Timestamp } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"

const ofTenant = (tenantId: string) => Effect.flatMap(RetentionStore, (store) => store.listOfTenant(tenantId))
const ofAll = Effect.flatMap(RetentionStore, (store) => store.listOfData("messages"))

/** The contract tests of `RetentionStore`. */
export const RetentionStoreContract = defineContract<RetentionStore | TenantErasureStore>("RetentionStore", (it) => {
  it.effect("stores a period for each tenant and data, replaces it, and removes it", () =>
    Effect.gen(function* () {
      const store = yield* RetentionStore
      const [one, two] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const messages: TenantRetention = { tenantId: one.tenantId, data: "messages", age: 30 * Timestamp.DAY }
      const calls: TenantRetention = { tenantId: one.tenantId, data: "calls", age: 36_500 * Timestamp.DAY }
      const others: TenantRetention = { tenantId: two.tenantId, data: "messages", age: null }
      yield* Effect.forEach([others, messages, calls], store.put)
      assert.deepStrictEqual(yield* ofTenant(one.tenantId), [calls, messages])
      assert.deepStrictEqual(yield* ofTenant(two.tenantId), [others])
      const listed = (yield* ofAll).filter(({ tenantId }) => tenantId === one.tenantId || tenantId === two.tenantId)
      assert.deepStrictEqual(listed, [messages, others])
      yield* store.put({ ...messages, age: null })
      assert.deepStrictEqual(yield* ofTenant(one.tenantId), [calls, { ...messages, age: null }])
      yield* store.remove(one.tenantId, "messages")
      yield* store.remove(one.tenantId, "messages")
      assert.deepStrictEqual(yield* ofTenant(one.tenantId), [calls])
    })
  )

  it.effect("forgets the periods of an erased tenant", () =>
    Effect.gen(function* () {
      const store = yield* RetentionStore
      const tenant = yield* Fresh.tenant
      yield* store.put({ tenantId: tenant.tenantId, data: "answers", age: null })
      yield* (yield* TenantErasureStore).erase(tenant, 10)
      assert.deepStrictEqual(yield* ofTenant(tenant.tenantId), [])
    })
  )
})
