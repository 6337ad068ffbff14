import { type InboundMailStore, MailboxStore, type MessageStore } from "@agentos/core"
import { defineContract } from "../Contract.ts"
import { mailboxOverlapTests } from "./EmailOverlapTests.ts"
import { mailboxRecordTests } from "./MailboxRecordTests.ts"
import { mailboxRemovalTests } from "./MailboxRemovalTests.ts"
import { mailUsageTests } from "./MailUsageTests.ts"
import { reservationModelTests } from "./ReservationModelTests.ts"
import { reservationTests } from "./ReservationTests.ts"
import { senderTests } from "./SenderTests.ts"

/** The contract tests of `MailboxStore`, including the messages and raw mail of a mailbox. */
export const MailboxStoreContract = defineContract<MailboxStore | MessageStore | InboundMailStore>(
  "MailboxStore",
  (it, capabilities) => {
    mailboxRecordTests(it, capabilities)
    reservationTests(it, capabilities)
    reservationModelTests(it, capabilities)
    mailboxRemovalTests(it, capabilities)
    mailboxOverlapTests(it, capabilities)
    mailUsageTests(it, capabilities)
    senderTests(it, capabilities)
  }
)
