import { OperationStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

OperationStoreContract(memoryHarness)
