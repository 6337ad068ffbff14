import { JobStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

JobStoreContract(memoryHarness)
