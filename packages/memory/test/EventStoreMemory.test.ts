import { EventStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

EventStoreContract(memoryHarness)
