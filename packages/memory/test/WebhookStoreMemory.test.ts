import { WebhookStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

WebhookStoreContract(memoryHarness)
