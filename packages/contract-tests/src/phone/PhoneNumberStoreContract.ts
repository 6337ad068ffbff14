import type { PhoneNumberStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { numberReservationModelTests } from "./NumberReservationModelTests.ts"
import { numberReservationTests } from "./NumberReservationTests.ts"
import { numberBatchTests } from "./NumberBatchTests.ts"
import { numberDueTests } from "./NumberDueTests.ts"
import { numberOverlapTests } from "./NumberOverlapTests.ts"
import { numberRecordTests } from "./NumberRecordTests.ts"
import { numberChangeTests } from "./PhoneChangeTests.ts"

/** The contract tests of `PhoneNumberStore`. */
export const PhoneNumberStoreContract = defineContract<PhoneNumberStore>("PhoneNumberStore", (it, capabilities) => {
  numberRecordTests(it, capabilities)
  numberBatchTests(it, capabilities)
  numberDueTests(it, capabilities)
  numberReservationTests(it, capabilities)
  numberReservationModelTests(it, capabilities)
  numberOverlapTests(it, capabilities)
  numberChangeTests(it, capabilities)
})
