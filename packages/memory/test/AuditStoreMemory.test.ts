import { AuditStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

AuditStoreContract(memoryHarness)
