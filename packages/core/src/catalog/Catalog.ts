import type { Authentication, CatalogEntry } from "./CatalogEntry.ts"
import { DISCOVERY_ENTRIES, DOMAIN_ENTRIES } from "./DiscoveryEntries.ts"
import { EMAIL_ENTRIES } from "./EmailEntries.ts"
import { EVENT_ENTRIES } from "./EventEntries.ts"
import { PHONE_ENTRIES } from "./PhoneEntries.ts"
import type { ServiceId } from "./ServiceId.ts"

/**
 * The catalog: every operation of the API once, in the order of the specification. Routes, the OpenAPI document, the
 * guides and the command line are derived from it.
 */
export const CATALOG = [
  ...DISCOVERY_ENTRIES,
  ...EMAIL_ENTRIES,
  ...PHONE_ENTRIES,
  ...EVENT_ENTRIES,
  ...DOMAIN_ENTRIES
] as const satisfies ReadonlyArray<CatalogEntry>

/** The name of an operation in code and in the OpenAPI document. */
export type OperationName = (typeof CATALOG)[number]["operationId"]

/** An entry with a service record of its own. */
export interface ServiceEntry extends CatalogEntry {
  readonly serviceId: ServiceId
}

const hasService = (entry: CatalogEntry): entry is ServiceEntry => entry.serviceId !== null

const entries: ReadonlyArray<CatalogEntry> = CATALOG

/** The entries that are services, in catalog order. */
export const SERVICES: ReadonlyArray<ServiceEntry> = entries.filter(hasService)

const byService = new Map<string, ServiceEntry>(SERVICES.map((entry) => [entry.serviceId, entry]))
const byOperation = new Map<string, CatalogEntry>(entries.map((entry) => [entry.operationId, entry]))

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

/** The halves of the service that have a provider on this server. */
export interface Capabilities {
  readonly email: boolean
  readonly phone: boolean
}

export const isAvailable = (entry: CatalogEntry, capabilities: Capabilities): boolean => {
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
 * Returns the start-here service to which a client without a token is referred for an entry: that of its half,
 * otherwise the mailbox.
 */
export const onboardingService = (entry: CatalogEntry, capabilities: Capabilities): ServiceEntry =>
  serviceEntry(entry.capability === "phone" && capabilities.phone ? "phone.number.us.30d" : "email.mailbox.create")
