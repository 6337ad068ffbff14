import { MessageStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MessageStoreContract(memoryHarness)
