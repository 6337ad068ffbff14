import type { EventSignal, EventStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { eventAcknowledgeAllTests } from "./EventAcknowledgeAllTests.ts"
import { eventAcknowledgeTests } from "./EventAcknowledgeTests.ts"
import { eventAppendTests } from "./EventAppendTests.ts"
import { eventBatchTests } from "./EventBatchTests.ts"
import { eventEndingTests } from "./EventEndingTests.ts"
import { eventFailureTests } from "./EventFailureTests.ts"
import { eventLeaseTests } from "./EventLeaseTests.ts"
import { eventModelTests } from "./EventModelTests.ts"
import { eventOverlapTests } from "./EventOverlapTests.ts"
import { eventReadTests } from "./EventReadTests.ts"
import { eventSignalTests } from "./EventSignalTests.ts"

/** The contract tests of `EventStore`, including the `EventSignal` that it wakes. */
export const EventStoreContract = defineContract<EventStore | EventSignal>("EventStore", (it, capabilities) => {
  eventAppendTests(it, capabilities)
  eventReadTests(it, capabilities)
  eventLeaseTests(it, capabilities)
  eventFailureTests(it, capabilities)
  eventAcknowledgeTests(it, capabilities)
  eventAcknowledgeAllTests(it, capabilities)
  eventBatchTests(it, capabilities)
  eventEndingTests(it, capabilities)
  eventOverlapTests(it, capabilities)
  eventSignalTests(it, capabilities)
  eventModelTests(it, capabilities)
})
