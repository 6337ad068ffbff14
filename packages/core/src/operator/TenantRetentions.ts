import { Context, Data, Effect, Layer, Schema } from "effect"
import { makeRemovals } from "../jobs/StoreUpkeep.ts"
import { invalid, type InvalidRequest, type ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { RetainedData, RETENTION_DAYS_MAX, RETENTION_DAYS_MIN, RetentionStore } from "../tenancy/Retention.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordChange } from "./Audit.ts"
import { requireNamedTenant } from "./TenantDirectory.ts"

/** Days; `default` is the period of all tenants, which the operator configures. */
export const RetentionPeriod = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: RETENTION_DAYS_MAX })),
  Schema.Literals(["permanent", "default"])
])
export type RetentionPeriod = typeof RetentionPeriod.Type

export const SetRetentionInput = Schema.Struct({ data: RetainedData, keep: RetentionPeriod })
export type SetRetentionInput = typeof SetRetentionInput.Type

/** A period in days, whose effect is to be seen before it is set. */
export const PreviewRetentionInput = Schema.Struct({
  data: RetainedData,
  keep: Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: RETENTION_DAYS_MAX }))
})
export type PreviewRetentionInput = typeof PreviewRetentionInput.Type

/** How many rows a period would delete at once; `hasMore` if there are more than `rows`, which is 1,000 then. */
export interface RetentionPreview extends PreviewRetentionInput {
  readonly tenantId: TenantId
  readonly rows: number
  readonly hasMore: boolean
}

const PREVIEW_ROWS_MAX = 1_000

/** Rolls back the deletion that a preview counts. */
class Previewed extends Data.TaggedError("Previewed")<{ readonly rows: number }> {}

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
    /** Counts the rows that a period would delete, by deleting them in a transaction that is rolled back. */
    readonly preview: (
      tenant: string,
      input: PreviewRetentionInput
    ) => Effect.Effect<RetentionPreview, ResourceNotFound | InvalidRequest>
    readonly set: (
      tenant: string,
      input: SetRetentionInput
    ) => Effect.Effect<RetentionReport, ResourceNotFound | InvalidRequest>
  }
>()("@agentos/core/operator/TenantRetentions") {
  static readonly layer = Layer.effect(
    TenantRetentions,
    Effect.gen(function* () {
      const removals = yield* makeRemovals
      const store = yield* RetentionStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const report = Effect.fnUntraced(function* (tenantId: TenantId): Effect.fn.Return<RetentionReport> {
        const own = yield* store.listOfTenant(tenantId)
        const items = RetainedData.literals.map((data): SetRetentionInput => {
          const period = own.find((each) => each.data === data)
          if (period === undefined) return { data, keep: "default" }
          return { data, keep: period.age === null ? "permanent" : period.age / Timestamp.DAY }
        })
        return { tenantId, items }
      })

      const checkLeast = (data: RetainedData, keep: RetentionPeriod): Effect.Effect<void, InvalidRequest> => {
        const least = RETENTION_DAYS_MIN[data]
        const isShort = typeof keep === "number" && keep < least
        return isShort ? invalid("keep", `must be at least ${least} days for ${data}`) : Effect.void
      }

      return TenantRetentions.of({
        preview: Effect.fnUntraced(function* (name, { data, keep }) {
          yield* checkLeast(data, keep)
          const { tenantId } = yield* requireNamedTenant(tenants, name)
          const remove = removals[data]({ tenantId, age: keep * Timestamp.DAY, limit: PREVIEW_ROWS_MAX + 1 })
          const removing = Effect.andThen(tenants.lock([tenantId]), remove)
          const { rows } = yield* Effect.flip(
            transact(Effect.flatMap(removing, (count) => new Previewed({ rows: count })))
          )
          return { tenantId, data, keep, rows: Math.min(rows, PREVIEW_ROWS_MAX), hasMore: rows > PREVIEW_ROWS_MAX }
        }),
        show: (name) => Effect.flatMap(requireNamedTenant(tenants, name), ({ tenantId }) => report(tenantId)),
        set: Effect.fnUntraced(function* (name, { data, keep }) {
          yield* checkLeast(data, keep)
          const { tenantId } = yield* requireNamedTenant(tenants, name)
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
