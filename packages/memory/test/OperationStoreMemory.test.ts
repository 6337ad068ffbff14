import { OperationStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

OperationStoreContract(memoryHarness)
