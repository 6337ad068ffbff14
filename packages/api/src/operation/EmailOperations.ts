import {
  CreateMailboxInput,
  DeleteMailboxInput,
  MailboxRecord,
  MessageRecord,
  MessageSummaryRecord,
  plainText,
  SendMessageInput,
  UpdateMailboxInput,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"
import { NO_INPUT, operation } from "./Operation.ts"
import { paidData, provisionedData } from "./PaidData.ts"

const PAGE_LIMIT = 100
const CURSOR_LIMIT = 256

export const createMailbox = operation("createMailbox", {
  ...NO_INPUT,
  payload: CreateMailboxInput,
  data: provisionedData({ mailbox: MailboxRecord }),
  status: 201
})

export const listMailboxes = operation("listMailboxes", {
  ...NO_INPUT,
  data: Schema.Struct({ items: Schema.Array(MailboxRecord) }),
  status: 200
})

export const updateMailbox = operation("updateMailbox", {
  ...NO_INPUT,
  payload: UpdateMailboxInput,
  data: paidData({ mailbox: MailboxRecord }),
  status: 200
})

export const deleteMailbox = operation("deleteMailbox", {
  ...NO_INPUT,
  payload: DeleteMailboxInput,
  data: paidData({ mailboxId: Uuid.Uuid, deleted: Schema.Literal(true), messagesDeleted: Schema.Int }),
  status: 200
})

export const sendMessage = operation("sendMessage", {
  ...NO_INPUT,
  payload: SendMessageInput,
  data: paidData({ message: MessageRecord }),
  status: 201
})

/** Returns a page of messages, or a single message for a query with a messageId. */
export const queryMessages = operation("queryMessages", {
  ...NO_INPUT,
  query: Schema.Struct({
    mailboxId: Schema.optionalKey(Uuid.GivenUuid),
    messageId: Schema.optionalKey(Uuid.GivenUuid),
    limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: PAGE_LIMIT }))),
    cursor: Schema.optionalKey(plainText(CURSOR_LIMIT))
  }),
  data: Schema.Union([
    Schema.Struct({ items: Schema.Array(MessageSummaryRecord), nextCursor: Schema.NullOr(Schema.String) }),
    Schema.Struct({ message: MessageRecord })
  ]),
  status: 200
})
