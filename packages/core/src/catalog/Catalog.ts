import type { Authentication, CatalogRow } from "./CatalogRow.ts"
import { type OperationName, ROWS } from "./Rows.ts"
import type { ServiceId } from "./ServiceId.ts"
import * as Usdt from "./Usdt.ts"

/** One operation of the API. */
export interface CatalogEntry extends Omit<CatalogRow, "price"> {
  readonly operationId: OperationName
  readonly serviceId: ServiceId | null
  readonly price: Usdt.Usdt | null
  readonly nextActions: ReadonlyArray<{ readonly serviceId: ServiceId; readonly why: string }>
}

/**
 * The catalog. Routes, the OpenAPI document, the guides, rate limits, metrics and the command line are derived from it
 * and from the schemas of `@agentos/api`.
 */
export const CATALOG: ReadonlyArray<CatalogEntry> = ROWS.map((row) => ({
  ...row,
  price: row.price === null ? null : Usdt.fromDecimal(row.price)
}))

/** An entry with a service record of its own. */
export interface ServiceEntry extends CatalogEntry {
  readonly serviceId: ServiceId
}

const hasService = (entry: CatalogEntry): entry is ServiceEntry => entry.serviceId !== null

/** The entries that are services, in catalog order. */
export const SERVICES: ReadonlyArray<ServiceEntry> = CATALOG.filter(hasService)

const byService = new Map<string, ServiceEntry>(SERVICES.map((entry) => [entry.serviceId, entry]))
const byOperation = new Map<string, CatalogEntry>(CATALOG.map((entry) => [entry.operationId, entry]))

export const serviceEntry = (serviceId: ServiceId): ServiceEntry => byService.get(serviceId)!

/** Returns the entry of an unchecked service id, or undefined if no service has it. */
export const findService = (serviceId: string): ServiceEntry | undefined => byService.get(serviceId)

export const operationEntry = (operation: OperationName): CatalogEntry => byOperation.get(operation)!

/** Whether the entry is one of the three services with which a wallet without a token starts. */
export const isStartHere = (entry: CatalogEntry): boolean => entry.authentication === "x402-bootstrap"

const LISTED: ReadonlySet<Authentication> = new Set(["x402-bootstrap", "bearer"])

/** Whether the service is a marketplace listing: paid, and available on this server. */
export const isMarketplaceListing = (entry: CatalogEntry, available: boolean): boolean =>
  available && entry.price !== null && LISTED.has(entry.authentication)

/** The halves of the service that have a provider on this server, and the services that it does not sell now. */
export interface Capabilities {
  readonly email: boolean
  readonly phone: boolean
  /** The ids of services whose sale the operator has stopped. */
  readonly stopped?: { readonly has: (serviceId: ServiceId) => boolean } | undefined
}

export const isAvailable = (entry: CatalogEntry, capabilities: Capabilities): boolean => {
  if (entry.serviceId !== null && capabilities.stopped?.has(entry.serviceId) === true) return false
  switch (entry.capability) {
    case "always":
      return true
    case "never":
      return false
    default:
      return capabilities[entry.capability]
  }
}

/**
 * Returns the start-here service to which a client without a token is referred for an entry: that of its half if this
 * server offers it, otherwise any that this server offers. Returns undefined if it offers none.
 */
export const onboardingService = (entry: CatalogEntry | null, capabilities: Capabilities): ServiceEntry | undefined => {
  const offered = SERVICES.filter((service) => isStartHere(service) && isAvailable(service, capabilities))
  return offered.find(({ capability }) => capability === entry?.capability) ?? offered[0]
}
