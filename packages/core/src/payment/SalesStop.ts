import { Schema } from "effect"
import { SERVICES } from "../catalog/Catalog.ts"
import { ServiceId } from "../catalog/ServiceId.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** Maximum length of the reason for a stop, in characters. */
export const SALES_STOP_REASON_LIMIT = 200

/** The services that can be bought. */
const PAID_SERVICE_IDS = SERVICES.filter(({ capability, price }) => price !== null && capability !== "never").map(
  ({ serviceId }) => serviceId
)

/** What a stop covers: one paid service, or all of them. */
export const SalesScope = Schema.Literals(["all", ...PAID_SERVICE_IDS])
export type SalesScope = typeof SalesScope.Type

/** The operator has stopped the sale of a service, or of all services. */
export interface SalesStop {
  readonly service: SalesScope
  /** Start of the stop. */
  readonly at: Timestamp
  /** Shown to customers. */
  readonly reason: string
}

export const StopSalesInput = Schema.Struct({
  service: Schema.optionalKey(SalesScope),
  reason: Schema.String.check(
    Schema.isPattern(/^(?=.*\S)\P{Cc}+$/u, { expected: "a line of text that is not blank" }),
    Schema.isMaxLength(SALES_STOP_REASON_LIMIT)
  )
})

export const StartSalesInput = Schema.Struct({ service: Schema.optionalKey(SalesScope) })

/** The operator has stopped the sale of the service. Nothing was claimed and nothing charged. */
export class SaleStopped extends Schema.TaggedError<SaleStopped>()("SaleStopped", {
  serviceId: ServiceId,
  reason: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** Returns the stop of each paid service that can't be bought. Its own stop precedes that of all services. */
export const stopsByService = (stops: ReadonlyArray<SalesStop>): ReadonlyMap<ServiceId, SalesStop> => {
  const byScope = new Map(stops.map((stop) => [stop.service, stop]))
  return new Map(
    PAID_SERVICE_IDS.flatMap((serviceId) => {
      const stop = byScope.get(serviceId) ?? byScope.get("all")
      return stop === undefined ? [] : [[serviceId, stop]]
    })
  )
}
