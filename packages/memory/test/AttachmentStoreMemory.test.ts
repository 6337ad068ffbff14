import { AttachmentStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

AttachmentStoreContract(memoryHarness)
