import { MessageRetryStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MessageRetryStoreContract(memoryHarness)
