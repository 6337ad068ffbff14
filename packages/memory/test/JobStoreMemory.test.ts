import { JobStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

JobStoreContract(memoryHarness)
