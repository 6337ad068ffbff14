import { WebhookStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

WebhookStoreContract(memoryHarness)
