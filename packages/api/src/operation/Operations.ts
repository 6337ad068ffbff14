import { CATALOG, type CatalogEntry, type OperationName } from "@agentos/core"
import {
  AUTH_OPERATIONS,
  DISCOVERY_OPERATIONS,
  DOMAIN_OPERATIONS,
  LIMIT_OPERATIONS,
  PAYMENT_OPERATIONS
} from "./DiscoveryOperations.ts"
import { EMAIL_OPERATIONS } from "./EmailOperations.ts"
import { EVENT_OPERATIONS } from "./EventOperations.ts"
import type { ApiOperation } from "./ApiOperation.ts"
import { PHONE_OPERATIONS } from "./PhoneOperations.ts"

/** The tags of the OpenAPI document, each with its operations. */
export const TAGS = [
  { name: "discovery", description: "Services, prices and how to start.", operations: DISCOVERY_OPERATIONS },
  { name: "email", description: "Mailboxes and their messages.", operations: EMAIL_OPERATIONS },
  { name: "phone", description: "Phone numbers and calls.", operations: PHONE_OPERATIONS },
  { name: "events", description: "The durable events of a tenant.", operations: EVENT_OPERATIONS },
  { name: "domains", description: "Reserved in this version and never available.", operations: DOMAIN_OPERATIONS },
  { name: "auth", description: "Access tokens, for the wallet that owns them.", operations: AUTH_OPERATIONS },
  { name: "payments", description: "The state of payments.", operations: PAYMENT_OPERATIONS },
  { name: "limits", description: "The quotas of your wallet.", operations: LIMIT_OPERATIONS }
] as const

/** Every operation by name: exactly those of the catalog. */
export const OPERATIONS = {
  ...DISCOVERY_OPERATIONS,
  ...EMAIL_OPERATIONS,
  ...PHONE_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...DOMAIN_OPERATIONS,
  ...AUTH_OPERATIONS,
  ...PAYMENT_OPERATIONS,
  ...LIMIT_OPERATIONS
} satisfies { readonly [Name in OperationName]: ApiOperation<Name> }

/** Returns the operation of a catalog entry. */
export const operationOf = ({ operationId }: CatalogEntry): ApiOperation => OPERATIONS[operationId]

/** Every operation in the order of the catalog. */
export const operations: ReadonlyArray<ApiOperation> = CATALOG.map(operationOf)
