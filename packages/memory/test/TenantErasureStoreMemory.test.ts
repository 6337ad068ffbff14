import { TenantErasureStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

TenantErasureStoreContract(memoryHarness)
