import type { OperationName } from "@agentos/core"
import * as discovery from "./DiscoveryOperations.ts"
import * as email from "./EmailOperations.ts"
import * as events from "./EventOperations.ts"
import type { Operation } from "./Operation.ts"
import * as phone from "./PhoneOperations.ts"

/** Every operation by name: exactly those of the catalog. */
export const OPERATIONS = { ...discovery, ...email, ...phone, ...events } satisfies {
  readonly [Name in OperationName]: Operation<Name>
}
