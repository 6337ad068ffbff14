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

export const operationOf = ({ operationId }: CatalogEntry): ApiOperation => OPERATIONS[operationId]

/** Every operation in the order of the catalog. */
export const operations: ReadonlyArray<ApiOperation> = CATALOG.map(operationOf)
