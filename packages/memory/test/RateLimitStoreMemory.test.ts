import { RateLimitStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

RateLimitStoreContract(memoryHarness)
