import { Effect, Schema } from "effect"
import { SERVICES } from "../catalog/Catalog.ts"
import { NUMBER_PURCHASES, NumberCountry } from "../catalog/NumberCountry.ts"
import { ServiceId } from "../catalog/ServiceId.ts"
import { invalid, type InvalidRequest } from "../kernel/ResourceError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** Maximum length of the reason for a stop, in characters. */
export const SALES_STOP_REASON_LIMIT = 200

/** The services that can be bought. */
const PAID_SERVICE_IDS = SERVICES.filter(({ capability, price }) => price !== null && capability !== "never").map(
  ({ serviceId }) => serviceId
)

/** The services that a stop can name: one that is paid, or all of them. */
export const StoppedService = Schema.Literals(["all", ...PAID_SERVICE_IDS])

/** A network by its id (CAIP-2), on which payments can be stopped. */
export const StoppedNetwork = Schema.TemplateLiteral([Schema.String, ":", Schema.String]).check(
  Schema.isPattern(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/, { expected: "a CAIP-2 id, for example eip155:56" })
)
export type StoppedNetwork = typeof StoppedNetwork.Type

/** The scope of a stop: a paid service, all of them, or payments on a network. */
export type SalesScope = typeof StoppedService.Type | StoppedNetwork

export const isNetwork = (scope: SalesScope): scope is StoppedNetwork => scope.includes(":")

/** The operator has stopped the sale of a service or of all, or payments on a network. */
export interface SalesStop {
  readonly scope: SalesScope
  /** Start of the stop. */
  readonly at: Timestamp
  /** Shown to customers. */
  readonly reason: string
}

const SCOPES = {
  service: Schema.optionalKey(StoppedService),
  network: Schema.optionalKey(StoppedNetwork),
  country: Schema.optionalKey(NumberCountry)
}

type NamedScope = { readonly [Name in keyof typeof SCOPES]?: (typeof SCOPES)[Name]["Type"] }

const ONE_SCOPE = Schema.makeFilter(
  ({ country, network, service }: NamedScope) =>
    [country, network, service].filter((named) => named !== undefined).length <= 1 ||
    "must have only one of service, network and country"
)

export const StopSalesInput = Schema.Struct({
  ...SCOPES,
  reason: Schema.String.check(
    Schema.isPattern(/^(?=.*\S)\P{Cc}+$/u, { expected: "a line of text that is not blank" }),
    Schema.isMaxLength(SALES_STOP_REASON_LIMIT)
  )
}).check(ONE_SCOPE)

export const StartSalesInput = Schema.Struct(SCOPES).check(ONE_SCOPE)

/** Returns the scope that an operator names: all services, unless it names one. A country means the numbers it sells. */
export const scopeOf = ({ country, network, service = "all" }: NamedScope): SalesScope =>
  network ?? (country === undefined ? service : NUMBER_PURCHASES[country])

/** Fails if a network is named that is not one of those on which the server accepts payments. */
export const requireKnown = (
  { network }: NamedScope,
  accepted: ReadonlyArray<{ readonly network: string }>
): Effect.Effect<void, InvalidRequest> => {
  const known = [...new Set(accepted.map((each) => each.network))]
  if (network === undefined || known.includes(network)) return Effect.void
  return invalid("network", `must be one on which this server accepts payments: ${known.join(", ")}`)
}

/** The operator has stopped the sale of the service, or payments on the network. Nothing was claimed and nothing charged. */
export class SaleStopped extends Schema.TaggedError<SaleStopped>()("SaleStopped", {
  serviceId: ServiceId,
  /** The network of the payment, if only payments on it are stopped. */
  network: Schema.optionalKey(Schema.String),
  reason: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** Returns the stop of each paid service that can't be bought. Its own stop precedes that of all services. */
export const stopsByService = (stops: ReadonlyArray<SalesStop>): ReadonlyMap<ServiceId, SalesStop> => {
  const byScope = new Map(stops.map((stop) => [stop.scope, stop]))
  return new Map(
    PAID_SERVICE_IDS.flatMap((serviceId) => {
      const stop = byScope.get(serviceId) ?? byScope.get("all")
      return stop === undefined ? [] : [[serviceId, stop]]
    })
  )
}

/** Returns the stop of each network on which payments are stopped. */
export const stopsByNetwork = (stops: ReadonlyArray<SalesStop>): ReadonlyMap<string, SalesStop> =>
  new Map(stops.filter(({ scope }) => isNetwork(scope)).map((stop) => [stop.scope, stop]))
