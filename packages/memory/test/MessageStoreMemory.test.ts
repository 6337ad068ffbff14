import { MessageStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MessageStoreContract(memoryHarness)
