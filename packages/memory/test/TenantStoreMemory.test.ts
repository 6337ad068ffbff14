import { TenantStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

TenantStoreContract(memoryHarness)
