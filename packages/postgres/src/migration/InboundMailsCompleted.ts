import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** Serves the job that deletes raw mail: it contains the delivered mails, oldest first. */
export const inboundMailsCompleted: ConcurrentIndex = {
  name: "inbound_mails_completed",
  definition: "on inbound_mails (received_at, inbound_mail_id) where completed"
}
