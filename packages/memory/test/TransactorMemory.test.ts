import { TransactorContract } from "@agentos/core/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

TransactorContract(memoryHarness)
