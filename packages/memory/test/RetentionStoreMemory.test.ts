import { RetentionStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

RetentionStoreContract(memoryHarness)
