import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** What the job that deletes raw mail reads: the mails that were delivered, the oldest first. */
export const inboundMailsCompleted: ConcurrentIndex = {
  name: "inbound_mails_completed",
  definition: "on inbound_mails (received_at, inbound_mail_id) where completed"
}
