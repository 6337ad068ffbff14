import { AgentSessionStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

AgentSessionStoreContract(memoryHarness)
