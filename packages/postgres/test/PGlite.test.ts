import { onPGlite, storesContract } from "./support/StoreHarness.ts"

storesContract(onPGlite)
