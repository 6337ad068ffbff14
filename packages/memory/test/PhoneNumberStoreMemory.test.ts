import { PhoneNumberStoreContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

PhoneNumberStoreContract(memoryHarness)
