import { TenantStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

TenantStoreContract(memoryHarness)
