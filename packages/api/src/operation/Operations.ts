import { CATALOG, type CatalogEntry, type OperationName } from "@agentos/core"
import { AUTH_OPERATIONS } from "./AuthOperations.ts"
import { DISCOVERY_OPERATIONS, DOMAIN_OPERATIONS } from "./DiscoveryOperations.ts"
import { EMAIL_OPERATIONS } from "./EmailOperations.ts"
import { EVENT_OPERATIONS } from "./EventOperations.ts"
import type { Operation } from "./Operation.ts"
import { PAYMENT_OPERATIONS } from "./PaymentOperations.ts"
import { PHONE_OPERATIONS } from "./PhoneOperations.ts"

/** Every operation by name: exactly those of the catalog. */
export const OPERATIONS = {
  ...DISCOVERY_OPERATIONS,
  ...EMAIL_OPERATIONS,
  ...PHONE_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...DOMAIN_OPERATIONS,
  ...AUTH_OPERATIONS,
  ...PAYMENT_OPERATIONS
} satisfies { readonly [Name in OperationName]: Operation<Name> }

/** Returns the operation of a catalog entry. */
export const operationOf = ({ operationId }: CatalogEntry): Operation => OPERATIONS[operationId]

/** Every operation in the order of the catalog. */
export const operations: ReadonlyArray<Operation> = CATALOG.map(operationOf)
