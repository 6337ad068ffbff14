import { InboundMailStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

InboundMailStoreContract(memoryHarness)
