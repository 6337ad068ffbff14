import { IncidentStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

IncidentStoreContract(memoryHarness)
