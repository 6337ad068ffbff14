import { RetentionStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey, requireTenant } from "./Tables.ts"

/** The periods of single tenants in memory. */
export const layer = Layer.effect(
  RetentionStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { retentions } = tables
    return RetentionStore.of({
      listOfData: (data) =>
        run(() =>
          retentions
            .rows()
            .filter((each) => each.data === data)
            .toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))
        ),
      listOfTenant: (tenantId) =>
        run(() =>
          retentions
            .rows()
            .filter((each) => each.tenantId === tenantId)
            .toSorted((a, b) => (a.data < b.data ? -1 : 1))
        ),
      put: (retention) =>
        run(() => {
          requireTenant(tables, retention.tenantId)
          retentions.set(compositeKey(retention.tenantId, retention.data), retention)
        }),
      remove: (tenantId, data) => run(() => retentions.delete(compositeKey(tenantId, data)))
    })
  })
)
