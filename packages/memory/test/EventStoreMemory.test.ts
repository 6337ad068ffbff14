import { EventStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

EventStoreContract(memoryHarness)
