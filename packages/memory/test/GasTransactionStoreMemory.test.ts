import { GasTransactionStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

GasTransactionStoreContract(memoryHarness)
