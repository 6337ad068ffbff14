import type { OperationStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { ledgerTests } from "./LedgerTests.ts"
import { operationClaimTests } from "./OperationClaimTests.ts"
import { operationOverlapTests } from "./OperationOverlapTests.ts"
import { operationWorkTests } from "./OperationWorkTests.ts"

/** What every `OperationStore` does. */
export const OperationStoreContract = defineContract<OperationStore>("OperationStore", (it, capabilities) => {
  operationClaimTests(it, capabilities)
  operationWorkTests(it, capabilities)
  operationOverlapTests(it, capabilities)
  ledgerTests(it, capabilities)
})
