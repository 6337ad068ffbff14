import { OperationStoreContract } from "@agentos/contract-tests"
import { harnesses } from "./support/StoreHarness.ts"

for (const harness of harnesses) OperationStoreContract(harness)
