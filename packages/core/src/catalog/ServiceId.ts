import { Schema } from "effect"
import { DISCOVERY_ENTRIES, DOMAIN_ENTRIES } from "./DiscoveryEntries.ts"
import { EMAIL_ENTRIES } from "./EmailEntries.ts"
import { EVENT_ENTRIES } from "./EventEntries.ts"
import { PHONE_ENTRIES } from "./PhoneEntries.ts"

/** Every operation of the API once, in the order of the specification. */
export const ROWS = [
  ...DISCOVERY_ENTRIES,
  ...EMAIL_ENTRIES,
  ...PHONE_ENTRIES,
  ...EVENT_ENTRIES,
  ...DOMAIN_ENTRIES
] as const

/** The name of an operation in code and in the OpenAPI document. */
export type OperationName = (typeof ROWS)[number]["operationId"]

/** The id of a service: of an operation with a service record. */
export type ServiceId = NonNullable<(typeof ROWS)[number]["serviceId"]>
export const ServiceId = Schema.Literals(
  ROWS.flatMap(({ serviceId }): ReadonlyArray<ServiceId> => (serviceId === null ? [] : [serviceId]))
)
