/**
 * The declarations of all operations as plain data, without any import at run time, so that a client can read them
 * without loading the schemas.
 */
import {
  AUTH_ENTRIES,
  DISCOVERY_ENTRIES,
  DOMAIN_ENTRIES,
  LIMIT_EXTENSIONS,
  PAYMENT_EXTENSIONS
} from "./GeneralEntries.ts"
import { EMAIL_ENTRIES, EMAIL_EXTENSIONS } from "./EmailEntries.ts"
import { EVENT_ENTRIES, EVENT_EXTENSIONS } from "./EventEntries.ts"
import { PHONE_ENTRIES, PHONE_EXTENSIONS } from "./PhoneEntries.ts"

/** Every operation of the API once: those of the specification in its order, then the extensions. */
export const ROWS = [
  ...DISCOVERY_ENTRIES,
  ...EMAIL_ENTRIES,
  ...PHONE_ENTRIES,
  ...EVENT_ENTRIES,
  ...DOMAIN_ENTRIES,
  ...AUTH_ENTRIES,
  ...PHONE_EXTENSIONS,
  ...EVENT_EXTENSIONS,
  ...EMAIL_EXTENSIONS,
  ...PAYMENT_EXTENSIONS,
  ...LIMIT_EXTENSIONS
] as const

/** The name of an operation in code and in the OpenAPI document. */
export type OperationName = (typeof ROWS)[number]["operationId"]

type Row = (typeof ROWS)[number]

export type PaidServiceId = Extract<Row, { readonly serviceId: string; readonly price: string }>["serviceId"]

export type OperationOf<Id extends Row["serviceId"]> = Extract<Row, { readonly serviceId: Id }>["operationId"]
