import type { OperationStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { ledgerTests } from "./LedgerTests.ts"
import { operationAnswerTests } from "./OperationAnswerTests.ts"
import { operationClaimTests } from "./OperationClaimTests.ts"
import { operationListTests } from "./OperationListTests.ts"
import { operationNextAttemptTests } from "./OperationNextAttemptTests.ts"
import { operationOverlapTests } from "./OperationOverlapTests.ts"
import { operationQueueModelTests } from "./OperationQueueModelTests.ts"
import { operationQueueTests } from "./OperationQueueTests.ts"
import { operationTotalsTests } from "./OperationTotalsTests.ts"
import { operationTransferTests } from "./OperationTransferTests.ts"
import { operationWorkTests } from "./OperationWorkTests.ts"

/** The contract tests of `OperationStore`. */
export const OperationStoreContract = defineContract<OperationStore>("OperationStore", (it, capabilities) => {
  operationClaimTests(it, capabilities)
  operationWorkTests(it, capabilities)
  operationNextAttemptTests(it, capabilities)
  operationOverlapTests(it, capabilities)
  operationQueueTests(it, capabilities)
  operationQueueModelTests(it, capabilities)
  operationTransferTests(it, capabilities)
  ledgerTests(it, capabilities)
  operationTotalsTests(it, capabilities)
  operationListTests(it, capabilities)
  operationAnswerTests(it, capabilities)
})
