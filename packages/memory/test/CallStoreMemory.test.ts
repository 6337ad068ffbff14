import { CallStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

CallStoreContract(memoryHarness)
