import { AgentSessionStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

AgentSessionStoreContract(memoryHarness)
