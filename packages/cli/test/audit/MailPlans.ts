import { paid, TOKEN } from "../support/PaidAnswers.ts"
import {
  ADDRESS,
  AT,
  FILE_PATH,
  fileReply,
  ID,
  mailbox,
  message,
  OPERATION,
  sent,
  withFile
} from "../support/Samples.ts"
import { asking, NO_TOKEN, NOT_YOURS, paying, type Plans } from "./Plan.ts"

const MESSAGES = "GET /api/v1/email/messages/query"
const THREADS = "GET /api/v1/email/threads/query"
const UPDATE = "POST /api/v1/email/messages/update"
const thread = {
  threadId: ID,
  mailboxId: ID,
  subject: "Hello",
  participants: ["bob@outside.example", ADDRESS],
  messageCount: 2,
  unreadCount: 1,
  hasAttachments: false,
  labels: ["invoice"],
  lastMessageId: ID,
  snippet: "Your code is 482 913.",
  firstMessageAt: AT,
  lastMessageAt: AT
}
const page = (...items: ReadonlyArray<typeof message>) => ({ data: { items, nextCursor: null } })
const mailboxes = { "GET /api/v1/email/mailboxes/query": [{ data: { items: [mailbox] } }] }
const SEND = ["mail", "send", "--to", "bob@outside.example", "--subject", "Hello", "--text", "Are you there?"]
const WAIT = ["mail", "wait", "--subject", "hello"]

export const MAIL_PLANS: Plans<
  | "mailbox create"
  | "mailbox list"
  | "mailbox update"
  | "mailbox delete"
  | "mail send"
  | "mail reply"
  | "mail forward"
  | "mail list"
  | "mail read"
  | "mail threads"
  | "mail thread"
  | "mail mark"
  | "mail label"
  | "mail cancel"
  | "mail attachments"
  | "mail raw"
  | "mail wait"
  | "mail suppressions list"
  | "mail suppressions lift"
> = {
  "mailbox create": paying(
    ["mailbox", "create", "ada"],
    "email/mailboxes",
    paid({ mailbox, operationId: OPERATION, authentication: { accessToken: TOKEN } })
  ),
  "mailbox list": asking(
    ["mailbox", "list"],
    "GET /api/v1/email/mailboxes/query",
    { data: { items: [mailbox] } },
    NO_TOKEN
  ),
  "mailbox update": paying(
    ["mailbox", "update", ADDRESS, "--display-name", "Ada L."],
    "email/mailboxes/update",
    paid({ mailbox: { ...mailbox, displayName: "Ada L." }, operationId: OPERATION }),
    mailboxes
  ),
  "mailbox delete": paying(
    ["mailbox", "delete", ADDRESS],
    "email/mailboxes/delete",
    paid({ mailboxId: ID, deleted: true, messagesDeleted: 2, operationId: OPERATION }),
    { ...mailboxes, [MESSAGES]: [page(message, sent)] }
  ),
  "mail send": paying(SEND, "email/messages/send", paid({ message: sent, operationId: OPERATION }), mailboxes),
  "mail reply": paying(
    ["mail", "reply", ID, "--text", "Yes."],
    "email/messages/send",
    paid({ message: { ...sent, subject: "Re: Hello" }, operationId: OPERATION }),
    { ...mailboxes, [MESSAGES]: [{ data: { message } }] }
  ),
  "mail forward": paying(
    ["mail", "forward", ID, "--to", "carol@outside.example", "--text", "Is this for you?"],
    "email/messages/send",
    paid({ message: { ...sent, to: ["carol@outside.example"], subject: "Fwd: Hello" }, operationId: OPERATION }),
    { [MESSAGES]: [{ data: { message: withFile } }], [`GET ${FILE_PATH}`]: [fileReply("INVOICE 7\n")] }
  ),
  "mail list": asking(["mail", "list"], MESSAGES, page(message, sent), NO_TOKEN),
  "mail read": asking(["mail", "read", ID], MESSAGES, { data: { message } }, NOT_YOURS),
  "mail threads": asking(
    ["mail", "threads"],
    THREADS,
    { data: { items: [thread, { ...thread, subject: "Bye", unreadCount: 0, labels: [] }], nextCursor: null } },
    NO_TOKEN
  ),
  "mail thread": asking(
    ["mail", "thread", ID],
    THREADS,
    { data: { thread, messages: [message, sent], nextCursor: null } },
    NOT_YOURS
  ),
  "mail mark": asking(
    ["mail", "mark", ID, "--read"],
    UPDATE,
    { data: { items: [{ messageId: ID, labels: ["invoice"], unread: false }] } },
    NOT_YOURS
  ),
  "mail label": asking(
    ["mail", "label", ID, "--add", "invoice", "--remove", "inbox"],
    UPDATE,
    { data: { items: [{ messageId: ID, labels: ["invoice"], unread: true }] } },
    NOT_YOURS
  ),
  "mail cancel": asking(
    ["mail", "cancel", ID],
    "POST /api/v1/email/messages/cancel",
    { data: { message: { ...sent, status: "canceled" } } },
    NOT_YOURS
  ),
  "mail attachments": asking(["mail", "attachments", ID], MESSAGES, { data: { message: withFile } }, NOT_YOURS),
  "mail raw": asking(
    ["mail", "raw", ID],
    `GET /api/v1/email/messages/${ID}/raw`,
    fileReply("Subject: \u001b]0;Hello\u0007\r\n\r\nYour code is 482 913.\r\n"),
    NOT_YOURS
  ),
  "mail wait": {
    success: { args: WAIT, exit: 0, server: { [MESSAGES]: [page(), page(message), { data: { message } }] } },
    failure: { args: [...WAIT, "--otp"], exit: 5, server: { [MESSAGES]: [page(message)] } },
    interrupt: { args: WAIT, exit: 130, server: { [MESSAGES]: [page()] }, interrupt: "asleep" }
  },
  "mail suppressions list": asking(
    ["mail", "suppressions", "list"],
    "GET /api/v1/email/suppressions/query",
    {
      data: {
        items: [{ address: "bob@outside.example", reason: "bounced", createdAt: AT }],
        nextCursor: null
      }
    },
    NO_TOKEN
  ),
  "mail suppressions lift": asking(
    ["mail", "suppressions", "lift", "bob@outside.example"],
    "POST /api/v1/email/suppressions/lift",
    { data: { address: "bob@outside.example", lifted: true } },
    NO_TOKEN
  )
}
