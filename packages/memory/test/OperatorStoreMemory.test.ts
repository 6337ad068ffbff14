import { OperatorStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

OperatorStoreContract(memoryHarness)
