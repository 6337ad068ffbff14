import { onPostgres, storesContract } from "./support/StoreHarness.ts"

storesContract(onPostgres)
