import type { CallStore, PhoneNumberStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { callOverlapTests } from "./CallOverlapTests.ts"
import { callRecordTests } from "./CallRecordTests.ts"
import { callRetentionTests } from "./CallRetentionTests.ts"
import { declinedTests } from "./DeclinedTests.ts"
import { extensionTests } from "./ExtensionTests.ts"
import { callChangeTests } from "./PhoneChangeTests.ts"
import { relayTests } from "./RelayTests.ts"
import { turnTests } from "./TurnTests.ts"
import { watchTests } from "./WatchTests.ts"

/** The contract tests of `CallStore`, with the numbers of its calls. */
export const CallStoreContract = defineContract<CallStore | PhoneNumberStore>("CallStore", (it, capabilities) => {
  callRecordTests(it, capabilities)
  extensionTests(it, capabilities)
  declinedTests(it, capabilities)
  watchTests(it, capabilities)
  relayTests(it, capabilities)
  turnTests(it, capabilities)
  callOverlapTests(it, capabilities)
  callChangeTests(it, capabilities)
  callRetentionTests(it, capabilities)
})
