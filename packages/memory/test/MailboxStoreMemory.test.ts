import { MailboxStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MailboxStoreContract(memoryHarness)
