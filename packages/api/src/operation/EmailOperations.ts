import {
  CreateMailboxInput,
  DeleteMailboxInput,
  MailboxRecord,
  MessageRecord,
  MessageSummaryRecord,
  QueryMessagesInput,
  SendMessageInput,
  Timestamp,
  UpdateMailboxInput,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { DateTime } from "../event/DateTime.ts"
import { getEndpoint, postEndpoint } from "./Endpoint.ts"
import { ACCESS_TOKEN, MAILBOX, MESSAGE, OPERATION_ID } from "./Examples.ts"
import { bytes, NO_INPUT, operation } from "./Operation.ts"
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
    ...NO_INPUT,
    payload: CreateMailboxInput,
    data: provisionedData({ mailbox: MailboxRecord }),
    status: 201,
    example: {
      payload: { localPart: MAILBOX.localPart, displayName: "Ada" },
      data: { mailbox: MAILBOX, authentication: { accessToken: ACCESS_TOKEN }, operationId: OPERATION_ID }
    }
  }),

  listMailboxes: operation("listMailboxes", {
    ...NO_INPUT,
    data: Schema.Struct({ items: Schema.Array(MailboxRecord) }),
    status: 200
  }),

  updateMailbox: operation("updateMailbox", {
    ...NO_INPUT,
    payload: UpdateMailboxInput,
    data: paidData({ mailbox: MailboxRecord }),
    status: 200,
    example: {
      payload: { mailboxId: MAILBOX.mailboxId, displayName: "Ada" },
      data: { mailbox: MAILBOX, operationId: OPERATION_ID }
    }
  }),

  deleteMailbox: operation("deleteMailbox", {
    ...NO_INPUT,
    payload: DeleteMailboxInput,
    data: paidData({ mailboxId: Uuid.Uuid, deleted: Schema.Literal(true), messagesDeleted: Schema.Int }),
    status: 200,
    example: {
      payload: { mailboxId: MAILBOX.mailboxId },
      data: { mailboxId: MAILBOX.mailboxId, deleted: true, messagesDeleted: 12, operationId: OPERATION_ID }
    }
  }),

  sendMessage: operation("sendMessage", {
    ...NO_INPUT,
    payload: SendMessageInput,
    data: paidData({ message: MessageRecord }),
    status: 201,
    example: {
      payload: { mailboxId: MAILBOX.mailboxId, to: ["bob@example.com"], subject: "Hello", text: "Hello Bob" },
      data: { message: MESSAGE, operationId: OPERATION_ID }
    }
  }),

  /** Returns a page of messages, or a single message for a query with a messageId. */
  queryMessages: operation("queryMessages", {
    ...NO_INPUT,
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
        items: Schema.Array(MessageSummaryRecord),
        nextCursor: Schema.NullOr(Schema.String)
      }).annotate({ identifier: "MessagePage" }),
      Schema.Struct({ message: MessageRecord }).annotate({ identifier: "SingleMessage" })
    ]),
    status: 200
  }),

  getAttachment: operation("getAttachment", {
    ...NO_INPUT,
    params: Schema.Struct({ messageId, attachmentId }),
    data: bytes("application/octet-stream"),
    status: 200
  }),

  getRawMessage: operation("getRawMessage", {
    ...NO_INPUT,
    params: Schema.Struct({ messageId }),
    data: bytes("message/rfc822"),
    status: 200
  })
}

export const emailGroup = HttpApiGroup.make("email", { topLevel: true })
  .add(
    postEndpoint(EMAIL_OPERATIONS.createMailbox),
    getEndpoint(EMAIL_OPERATIONS.listMailboxes),
    postEndpoint(EMAIL_OPERATIONS.updateMailbox),
    postEndpoint(EMAIL_OPERATIONS.deleteMailbox),
    postEndpoint(EMAIL_OPERATIONS.sendMessage),
    getEndpoint(EMAIL_OPERATIONS.queryMessages),
    getEndpoint(EMAIL_OPERATIONS.getAttachment),
    getEndpoint(EMAIL_OPERATIONS.getRawMessage)
  )
  .annotate(OpenApi.Description, "Mailboxes and their messages.")
