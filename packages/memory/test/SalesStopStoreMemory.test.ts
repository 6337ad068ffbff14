import { SalesStopStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

SalesStopStoreContract(memoryHarness)
