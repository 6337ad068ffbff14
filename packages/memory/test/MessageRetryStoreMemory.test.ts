import { MessageRetryStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MessageRetryStoreContract(memoryHarness)
