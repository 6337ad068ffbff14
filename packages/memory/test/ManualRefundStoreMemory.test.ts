import { ManualRefundStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

ManualRefundStoreContract(memoryHarness)
