import { GasTransactionStoreContract } from "@agentos/x402/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

GasTransactionStoreContract(memoryHarness)
