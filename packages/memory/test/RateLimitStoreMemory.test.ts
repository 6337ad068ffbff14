import { RateLimitStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

RateLimitStoreContract(memoryHarness)
