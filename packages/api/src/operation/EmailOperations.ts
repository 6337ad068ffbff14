import {
  CancelMessageInput,
  CreateMailboxInput,
  DateTime,
  DeleteMailboxInput,
  LiftSuppressionInput,
  MailboxRecord,
  MessageRecord,
  MessageSummaryRecord,
  QueryMessagesInput,
  QuerySuppressionsInput,
  QueryThreadsInput,
  SendMessageInput,
  SuppressionRecord,
  ThreadRecord,
  Timestamp,
  UpdateMailboxInput,
  UpdateMessagesInput,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"
import {
  ACCESS_TOKEN,
  ATTACHMENT,
  ATTACHMENT_TEXT,
  MAILBOX,
  MESSAGE,
  OPERATION_ID,
  RAW_MESSAGE,
  RECEIVED,
  RECEIVED_SUMMARY,
  CANCELED,
  SCHEDULED,
  THREAD
} from "../example/ResourceExamples.ts"
import { bytes, operation } from "./ApiOperation.ts"
import { nextCursor } from "./NextCursor.ts"
import { paidData, provisionedData } from "./PaidData.ts"

const messageId = Uuid.GivenUuid.annotateKey({
  description: "Id of your message.",
  examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
})
const attachmentId = Uuid.GivenUuid.annotateKey({
  description: "Id of an attachment, from the message.",
  examples: ["019ab1c4-0d7b-8e0f-9c3c-64a9d1c1b0e7"]
})

const time = Timestamp.Timestamp.make(Date.UTC(2026, 0, 31, 12))

export const EMAIL_OPERATIONS = {
  createMailbox: operation("createMailbox", {
    tag: "Mailboxes",
    summary: "Create a mailbox",
    payload: CreateMailboxInput,
    data: provisionedData({ mailbox: MailboxRecord.annotateKey({ description: "The new mailbox." }) }),
    status: 201,
    description:
      "The address is `localPart` at the domain of the server. Mail to it arrives at once, as `email.received` events. The response to the first purchase of a wallet contains its access token: store it. A later purchase returns the token only if the request carried it; otherwise sign in to get it. A local part stays reserved to the wallet that first had it, also after a deletion.",
    example: {
      payload: { localPart: MAILBOX.localPart, displayName: "Ada" },
      data: { mailbox: MAILBOX, authentication: { accessToken: ACCESS_TOKEN }, operationId: OPERATION_ID }
    }
  }),

  listMailboxes: operation("listMailboxes", {
    tag: "Mailboxes",
    summary: "List mailboxes",
    data: Schema.Struct({ items: Schema.Array(MailboxRecord).annotateKey({ description: "All mailboxes." }) }),
    description: "Returns all mailboxes of the wallet, active and inactive ones, with their sender policies.",
    example: { data: { items: [MAILBOX] } }
  }),

  updateMailbox: operation("updateMailbox", {
    tag: "Mailboxes",
    summary: "Update a mailbox",
    payload: UpdateMailboxInput,
    data: paidData({ mailbox: MailboxRecord.annotateKey({ description: "The mailbox after the change." }) }),
    description:
      "Omitted fields stay as they are, and an empty text clears a field. `senderPolicy` replaces the whole policy. An inactive mailbox refuses mail; its messages can still be read.",
    example: {
      payload: { mailboxId: MAILBOX.mailboxId, displayName: "Ada" },
      data: { mailbox: MAILBOX, operationId: OPERATION_ID }
    }
  }),

  deleteMailbox: operation("deleteMailbox", {
    tag: "Mailboxes",
    summary: "Delete a mailbox",
    payload: DeleteMailboxInput,
    data: paidData({
      mailboxId: Uuid.Uuid.annotateKey({ description: "Id of the deleted mailbox." }),
      deleted: Schema.Literal(true).annotateKey({ description: "Always true." }),
      messagesDeleted: Schema.Int.annotateKey({ description: "Number of messages that were deleted with it." })
    }),
    description:
      "Deletes the mailbox, its messages and their files permanently, and expires its open events. Only the same wallet can create the address again.",
    example: {
      payload: { mailboxId: MAILBOX.mailboxId },
      data: { mailboxId: MAILBOX.mailboxId, deleted: true, messagesDeleted: 12, operationId: OPERATION_ID }
    }
  }),

  sendMessage: operation("sendMessage", {
    tag: "Messages",
    summary: "Send a message",
    payload: SendMessageInput,
    data: paidData({ message: MessageRecord.annotateKey({ description: "The sent message." }) }),
    status: 201,
    description:
      "The response has the outcome for each recipient: some may be refused while others are accepted. Recipients that are refused temporarily are `queued` and retried for 24 hours without charge. `inReplyTo` makes the message a reply, with the headers and the thread of the message that it answers; recipients and subject then have defaults. `sendAt` schedules it: it is `scheduled`, sent when it is due, and can be canceled until then for a refund; it is refunded too if it reaches no relay. Repeating the request never sends the message twice.",
    example: {
      payload: { mailboxId: MAILBOX.mailboxId, to: ["bob@example.com"], subject: "Hello", text: "Hello Bob" },
      data: { message: MESSAGE, operationId: OPERATION_ID }
    }
  }),

  /** Returns a page of messages, or a single message for a query with a messageId. */
  queryMessages: operation("queryMessages", {
    tag: "Messages",
    summary: "List or read messages",
    query: Schema.Struct({
      ...QueryMessagesInput.fields,
      after: Schema.optionalKey(DateTime).annotateKey({
        description: "Only messages received or sent at or after this time.",
        examples: [time]
      }),
      before: Schema.optionalKey(DateTime).annotateKey({
        description: "Only messages received or sent before this time.",
        examples: [time]
      })
    }),
    data: Schema.Union([
      Schema.Struct({
        items: Schema.Array(MessageSummaryRecord).annotateKey({
          description: "The messages of this page, newest first, without bodies."
        }),
        nextCursor
      }).annotate({ identifier: "MessagePage" }),
      Schema.Struct({
        message: MessageRecord.annotateKey({ description: "The message with its bodies." })
      }).annotate({ identifier: "SingleMessage" })
    ]),
    description:
      "With `messageId`, returns that message with its text and HTML. Otherwise returns a page of messages without bodies, which match all given filters; pass `nextCursor` as `cursor` to read on. To wait for mail, use the events instead of polling.",
    example: {
      query: { mailboxId: MAILBOX.mailboxId, limit: 10 },
      data: { items: [RECEIVED_SUMMARY], nextCursor: null }
    },
    variants: { message: { query: { messageId: RECEIVED.messageId }, data: { message: RECEIVED } } }
  }),

  /** Returns a page of threads, or a single thread with a page of its messages for a query with a threadId. */
  queryThreads: operation("queryThreads", {
    tag: "Threads",
    summary: "List or read threads",
    query: QueryThreadsInput,
    data: Schema.Union([
      Schema.Struct({
        items: Schema.Array(ThreadRecord).annotateKey({
          description: "The threads of this page, newest activity first."
        }),
        nextCursor
      }).annotate({ identifier: "ThreadPage" }),
      Schema.Struct({
        thread: ThreadRecord.annotateKey({ description: "The thread." }),
        messages: Schema.Array(MessageSummaryRecord).annotateKey({
          description: "The messages of this page, oldest first, without bodies."
        }),
        nextCursor
      }).annotate({ identifier: "SingleThread" })
    ]),
    description:
      "A thread is the messages of one mailbox with the same `threadId`. With `threadId`, returns that thread with a page of its messages; without `mailboxId`, that of the mailbox in which it began first. Otherwise returns a page of threads that match all given filters. Pass `nextCursor` as `cursor` to read on: a thread with new activity moves to the beginning of the list.",
    example: { query: { mailboxId: MAILBOX.mailboxId, limit: 10 }, data: { items: [THREAD], nextCursor: null } },
    variants: {
      thread: {
        query: { threadId: THREAD.threadId },
        data: { thread: THREAD, messages: [RECEIVED_SUMMARY], nextCursor: null }
      }
    }
  }),

  updateMessages: operation("updateMessages", {
    tag: "Messages",
    summary: "Label or mark messages",
    payload: UpdateMessagesInput,
    data: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          messageId: MessageSummaryRecord.fields.messageId,
          labels: MessageSummaryRecord.fields.labels,
          unread: MessageSummaryRecord.fields.unread
        })
      ).annotateKey({ description: "The messages after the change, in the order in which they were given." })
    }),
    description:
      "Changes all of the messages, or none if one is not yours or would have too many labels. Labels are compared in lower case and need no setup. Received messages are unread until you mark them: reading a message by the API, or acknowledging its event, changes nothing.",
    example: {
      payload: { messageIds: [RECEIVED.messageId], addLabels: ["invoice"], unread: false },
      data: { items: [{ messageId: RECEIVED.messageId, labels: ["invoice"], unread: false }] }
    }
  }),

  cancelMessage: operation("cancelMessage", {
    tag: "Messages",
    summary: "Cancel a scheduled message",
    payload: CancelMessageInput,
    data: Schema.Struct({ message: MessageRecord.annotateKey({ description: "The canceled message." }) }),
    description:
      "A message with the status `scheduled` becomes `canceled`: it is never sent, and its payment is refunded once, to the wallet that paid. Canceling it again changes nothing. Once it is being sent, the answer is 409, and nothing is refunded.",
    example: { payload: { messageId: SCHEDULED.messageId }, data: { message: CANCELED } }
  }),

  getAttachment: operation("getAttachment", {
    tag: "Attachments",
    summary: "Download an attachment",
    params: Schema.Struct({ messageId, attachmentId }),
    data: bytes("application/octet-stream", "*/*"),
    description:
      "Returns the file as it was sent or received. Its Content-Type is `contentType` of the attachment if no browser runs files of that type as a program, such as application/pdf, image/png and text/csv; otherwise application/octet-stream. Compare the bytes with `sha256` of the attachment. The sender of a received file chose its name, type and content: treat it as hostile. Some servers delete raw mail after a time; the answer is then 404.",
    example: {
      params: { messageId: RECEIVED.messageId, attachmentId: ATTACHMENT.attachmentId },
      data: ATTACHMENT_TEXT
    }
  }),

  getRawMessage: operation("getRawMessage", {
    tag: "Messages",
    summary: "Download a raw message",
    params: Schema.Struct({ messageId }),
    data: bytes("message/rfc822"),
    description:
      "Returns the mail in the format of RFC 5322, for your own parser or for an archive. A message that you sent has no raw form, and some servers delete raw mail after a time: the answer is then 404.",
    example: { params: { messageId: RECEIVED.messageId }, data: RAW_MESSAGE }
  }),

  listSuppressions: operation("listSuppressions", {
    tag: "Suppressions",
    summary: "List suppressions",
    query: QuerySuppressionsInput,
    data: Schema.Struct({
      items: Schema.Array(SuppressionRecord).annotateKey({ description: "The suppressions of this page, by address." }),
      nextCursor
    }),
    description:
      "An address is suppressed for your wallet when it does not exist (`bounced`) or marked your mail as spam (`complained`). Sending to it is then refused before anything is charged. The list is sorted by address; pass `nextCursor` as `cursor` to read on.",
    example: {
      query: { limit: 10 },
      data: {
        items: [{ address: "bob@example.com", reason: "bounced", createdAt: "2026-01-31T12:00:00.000Z" }],
        nextCursor: null
      }
    }
  }),

  liftSuppression: operation("liftSuppression", {
    tag: "Suppressions",
    summary: "Lift a suppression",
    payload: LiftSuppressionInput,
    data: Schema.Struct({
      address: Schema.String.annotateKey({ description: "The address." }),
      lifted: Schema.Boolean.annotateKey({ description: "Whether the address was suppressed before." })
    }),
    description:
      "Lift it when you know that the address exists, or that its owner wants your mail. If it bounces or complains again, it is suppressed again, and counts towards a pause of your sending.",
    example: { payload: { address: "bob@example.com" }, data: { address: "bob@example.com", lifted: true } }
  })
}
