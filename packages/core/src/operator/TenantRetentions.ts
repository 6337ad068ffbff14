import { Context, Effect, Layer, Option, Schema } from "effect"
import { invalid, type InvalidRequest, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { RetainedData, RETENTION_DAYS_MAX, RETENTION_DAYS_MIN, RetentionStore } from "../tenancy/Retention.ts"
import { type TenantId, walletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordChange } from "./Audit.ts"

/** Days; `default` is the period of all tenants, which the operator configures. */
export const RetentionPeriod = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: RETENTION_DAYS_MAX })),
  Schema.Literals(["permanent", "default"])
])
export type RetentionPeriod = typeof RetentionPeriod.Type

export const SetRetentionInput = Schema.Struct({ data: RetainedData, keep: RetentionPeriod })
export type SetRetentionInput = typeof SetRetentionInput.Type

/** The periods of a tenant, one for each kind of data. */
export interface RetentionReport {
  readonly tenantId: TenantId
  readonly items: ReadonlyArray<SetRetentionInput>
}

/** How long the data of a tenant is kept. The jobs use a change from their next run on. */
export class TenantRetentions extends Context.Service<
  TenantRetentions,
  {
    readonly show: (tenant: string) => Effect.Effect<RetentionReport, ResourceNotFound>
    readonly set: (
      tenant: string,
      input: SetRetentionInput
    ) => Effect.Effect<RetentionReport, ResourceNotFound | InvalidRequest>
  }
>()("@agentos/core/operator/TenantRetentions") {
  static readonly layer = Layer.effect(
    TenantRetentions,
    Effect.gen(function* () {
      const store = yield* RetentionStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const find = Effect.fnUntraced(function* (name: string) {
        const found = yield* name.startsWith("0x") ? tenants.findByWallet(walletAddress(name)) : tenants.find(name)
        return Option.isSome(found) ? found.value : yield* new ResourceNotFound({ kind: "tenant", id: name })
      })

      const report = Effect.fnUntraced(function* (tenantId: TenantId): Effect.fn.Return<RetentionReport> {
        const own = yield* store.listOfTenant(tenantId)
        const items = RetainedData.literals.map((data): SetRetentionInput => {
          const period = own.find((each) => each.data === data)
          if (period === undefined) return { data, keep: "default" }
          return { data, keep: period.age === null ? "permanent" : period.age / Timestamp.DAY }
        })
        return { tenantId, items }
      })

      return TenantRetentions.of({
        show: (name) => Effect.flatMap(find(name), ({ tenantId }) => report(tenantId)),
        set: Effect.fnUntraced(function* (name, { data, keep }) {
          const least = RETENTION_DAYS_MIN[data]
          if (typeof keep === "number" && keep < least) {
            return yield* invalid("keep", `must be at least ${least} days for ${data}`)
          }
          const { tenantId } = yield* find(name)
          const change = Effect.gen(function* () {
            yield* tenants.lock([tenantId])
            const before = yield* report(tenantId)
            if (keep === "default") yield* store.remove(tenantId, data)
            else yield* store.put({ tenantId, data, age: keep === "permanent" ? null : keep * Timestamp.DAY })
            yield* recordChange(
              before.items.find((item) => item.data === data),
              { data, keep }
            )
            return yield* report(tenantId)
          })
          return yield* transact(change)
        })
      })
    })
  )
}
