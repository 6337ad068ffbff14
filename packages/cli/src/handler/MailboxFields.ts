import { momentOf } from "../output/Wording.ts"
import type { DataOf } from "../server/ApiClient.ts"

type Mailbox = DataOf<"listMailboxes">["items"][number]

/** What people are shown of a mailbox. */
export const mailboxFields = (mailbox: Mailbox) =>
  [
    ["Address", mailbox.address],
    ["Mailbox", mailbox.mailboxId],
    ["Name", mailbox.displayName],
    ["Active", mailbox.active ? "yes" : "no"],
    ["Created", momentOf(mailbox.createdAt)]
  ] as const
