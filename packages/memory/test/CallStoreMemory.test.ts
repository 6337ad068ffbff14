import { CallStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

CallStoreContract(memoryHarness)
