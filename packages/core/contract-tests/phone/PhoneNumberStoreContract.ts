import type { PhoneNumberStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { numberReservationTests } from "./NumberReservationTests.ts"
import { numberDueTests } from "./NumberDueTests.ts"
import { numberOverlapTests } from "./NumberOverlapTests.ts"
import { numberRecordTests } from "./NumberRecordTests.ts"
import { numberChangeTests } from "./PhoneChangeTests.ts"

/** The contract tests of `PhoneNumberStore`. */
export const PhoneNumberStoreContract = defineContract<PhoneNumberStore>("PhoneNumberStore", (it, capabilities) => {
  numberRecordTests(it, capabilities)
  numberDueTests(it, capabilities)
  numberReservationTests(it, capabilities)
  numberOverlapTests(it, capabilities)
  numberChangeTests(it, capabilities)
})
