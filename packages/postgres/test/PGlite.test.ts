import { StorageContract } from "@agentos/contract-tests"
import { onPGlite } from "./support/StoreHarness.ts"

StorageContract(onPGlite)
