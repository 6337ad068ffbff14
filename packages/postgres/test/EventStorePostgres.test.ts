import { EventStoreContract } from "@agentos/contract-tests"
import { harnesses } from "./support/StoreHarness.ts"

for (const harness of harnesses) EventStoreContract(harness)
