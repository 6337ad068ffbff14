import { AttachmentStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

AttachmentStoreContract(memoryHarness)
