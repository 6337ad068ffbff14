import { PhoneNumberStoreContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

PhoneNumberStoreContract(memoryHarness)
