import { StorageContract } from "@agentos/contract-tests"
import { onPostgres } from "./support/StoreHarness.ts"

StorageContract(onPostgres)
