import { MailboxStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

MailboxStoreContract(memoryHarness)
