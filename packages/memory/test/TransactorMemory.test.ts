import { TransactorContract } from "@agentos/contract-tests"
import { memoryHarness } from "./MemoryHarness.ts"

TransactorContract(memoryHarness)
