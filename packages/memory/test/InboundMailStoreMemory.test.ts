import { InboundMailStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

InboundMailStoreContract(memoryHarness)
