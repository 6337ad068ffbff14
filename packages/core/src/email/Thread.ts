import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { foldAddress } from "./EmailAddress.ts"
import type { MessageSummary } from "./Message.ts"

/** The maximum number of addresses that a thread lists. */
export const PARTICIPANT_LIMIT = 20
const ADDRESS_CHARACTERS = 320

const shared = {
  threadId: Uuid.Uuid.annotateKey({ description: "Id of the thread: the messageId of its first message." }),
  mailboxId: Uuid.Uuid.annotateKey({ description: "Id of the mailbox of its messages." }),
  subject: Schema.String.annotateKey({ description: "Subject of the first message." }),
  participants: Schema.Array(Schema.String).annotateKey({
    description: `Addresses of authors and recipients, in lower case, in the order in which they joined; the first ${PARTICIPANT_LIMIT}.`
  }),
  messageCount: Schema.Int.annotateKey({ description: "Number of messages." }),
  unreadCount: Schema.Int.annotateKey({ description: "Number of unread messages." }),
  hasAttachments: Schema.Boolean.annotateKey({ description: "Whether a message has an attachment." }),
  labels: Schema.Array(Schema.String).annotateKey({ description: "The labels of its messages, each once, sorted." }),
  lastMessageId: Uuid.Uuid.annotateKey({ description: "Id of the newest message." }),
  snippet: Schema.String.annotateKey({ description: "Snippet of the newest message." })
}

/**
 * The messages of a mailbox with the same threadId. A reply that is sent from another mailbox is in a thread of the same
 * id there.
 */
export const Thread = Schema.Struct({ ...shared, firstMessageAt: Timestamp, lastMessageAt: Timestamp })
export type Thread = typeof Thread.Type

/** A thread as clients see it. */
export const ThreadRecord = Schema.Struct({
  ...shared,
  firstMessageAt: IsoTimestamp.annotateKey({ description: "When the first message was received or sent." }),
  lastMessageAt: IsoTimestamp.annotateKey({ description: "When the newest message was received or sent." })
}).annotate({ identifier: "Thread" })
export type ThreadRecord = typeof ThreadRecord.Type

export const toThreadRecord = (thread: Thread): ThreadRecord => ({
  ...thread,
  firstMessageAt: toIso(thread.firstMessageAt),
  lastMessageAt: toIso(thread.lastMessageAt)
})

/** Selects threads: each given part must match. */
export interface ThreadFilter {
  readonly mailboxId?: string | undefined
  /** Folded. A message of the thread must have it. */
  readonly label?: string | undefined
  /** Whether the thread has an unread message. */
  readonly unread?: boolean | undefined
}

/** Returns the addresses that a message adds to its thread: those of its fields From, To and Cc, each on one line. */
export const participantsOf = ({ cc, from, to }: Pick<MessageSummary, "from" | "to" | "cc">): ReadonlyArray<string> => {
  const folded = [from, ...to.slice(0, PARTICIPANT_LIMIT), ...cc.slice(0, PARTICIPANT_LIMIT)].map((address) =>
    foldAddress(address).replace(/\s/g, " ").slice(0, ADDRESS_CHARACTERS)
  )
  return [...new Set(folded)].filter((address) => address !== "").slice(0, PARTICIPANT_LIMIT)
}

/** Returns the thread of these messages of one mailbox, of which there is at least one. */
export const threadOf = (messages: ReadonlyArray<MessageSummary>): Thread => {
  const sorted = messages.toSorted((a, b) => a.createdAt - b.createdAt || (a.messageId < b.messageId ? -1 : 1))
  const [first, last] = [sorted[0]!, sorted.at(-1)!]
  return {
    threadId: first.threadId,
    mailboxId: first.mailboxId,
    subject: first.subject,
    participants: [...new Set(sorted.flatMap(participantsOf))].slice(0, PARTICIPANT_LIMIT),
    messageCount: sorted.length,
    unreadCount: sorted.filter(({ unread }) => unread).length,
    hasAttachments: sorted.some(({ attachments }) => attachments.length > 0),
    labels: [...new Set(sorted.flatMap(({ labels }) => labels))].toSorted(),
    firstMessageAt: first.createdAt,
    lastMessageAt: last.createdAt,
    lastMessageId: last.messageId,
    snippet: last.snippet
  }
}
