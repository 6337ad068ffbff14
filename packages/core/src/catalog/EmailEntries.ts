import type { CatalogEntry } from "./CatalogEntry.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"
import { fromDecimal } from "./Usdt.ts"

const MAILBOX_ID = {
  name: "mailboxId",
  in: "body",
  required: true,
  description: "Id of your mailbox."
} as const

const DISPLAY_NAME = {
  name: "displayName",
  in: "body",
  required: false,
  description: "Name that recipients see next to the address."
} as const

const SIGNATURE = {
  name: "outboundSignature",
  in: "body",
  required: false,
  description: "Text appended to every sent message."
} as const

export const EMAIL_ENTRIES = [
  {
    operationId: "createMailbox",
    serviceId: "email.mailbox.create",
    method: "POST",
    path: "/api/v1/email/mailboxes",
    price: fromDecimal("0.25"),
    authentication: "x402-bootstrap",
    capability: "email",
    guide: "/docs#mailboxes",
    purpose: "Creates a real mailbox for the paying wallet and returns the wallet's access token.",
    inputs: [
      {
        name: "localPart",
        in: "body",
        required: true,
        description: "The part before the @: a dot-atom of 1 to 64 characters, converted to lower case."
      },
      DISPLAY_NAME,
      SIGNATURE
    ],
    errors: PAID_ERRORS,
    nextActions: [
      { serviceId: "events.realtime-token", why: "Receive an event as soon as mail arrives." },
      { serviceId: "email.message.send", why: "Send from the new mailbox." }
    ]
  },
  {
    operationId: "listMailboxes",
    serviceId: "email.mailbox.list",
    method: "GET",
    path: "/api/v1/email/mailboxes/query",
    price: null,
    authentication: "bearer",
    capability: "email",
    guide: "/docs#mailboxes",
    purpose: "Lists your mailboxes.",
    inputs: [],
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "email.message.query", why: "Read the messages of a mailbox." }]
  },
  {
    operationId: "updateMailbox",
    serviceId: "email.mailbox.update",
    method: "POST",
    path: "/api/v1/email/mailboxes/update",
    price: fromDecimal("0.01"),
    authentication: "bearer",
    capability: "email",
    guide: "/docs#mailboxes",
    purpose: "Updates a mailbox: display name, signature, or whether it receives mail.",
    inputs: [
      MAILBOX_ID,
      DISPLAY_NAME,
      SIGNATURE,
      {
        name: "active",
        in: "body",
        required: false,
        description: "Whether the mailbox receives mail. Mail to an inactive mailbox is rejected."
      }
    ],
    errors: PAID_BEARER_ERRORS,
    nextActions: [{ serviceId: "email.mailbox.list", why: "List your mailboxes with the change." }]
  },
  {
    operationId: "deleteMailbox",
    serviceId: "email.mailbox.delete",
    method: "POST",
    path: "/api/v1/email/mailboxes/delete",
    price: fromDecimal("0.01"),
    authentication: "bearer",
    capability: "email",
    guide: "/docs#mailboxes",
    purpose: "Deletes a mailbox and all its messages. Its address stays reserved to your wallet.",
    inputs: [MAILBOX_ID],
    errors: PAID_BEARER_ERRORS,
    nextActions: [{ serviceId: "email.mailbox.create", why: "Create a mailbox with the same address, or another one." }]
  },
  {
    operationId: "sendMessage",
    serviceId: "email.message.send",
    method: "POST",
    path: "/api/v1/email/messages/send",
    price: fromDecimal("0.02"),
    authentication: "bearer",
    capability: "email",
    guide: "/docs#sending",
    purpose: "Sends one real email from your mailbox to at most 50 recipients.",
    inputs: [
      MAILBOX_ID,
      { name: "to", in: "body", required: true, description: "Addresses of the recipients." },
      { name: "cc", in: "body", required: false, description: "Addresses that receive a copy." },
      {
        name: "bcc",
        in: "body",
        required: false,
        description: "Addresses that receive a copy without being shown to other recipients."
      },
      { name: "subject", in: "body", required: true, description: "Subject on one line, up to 998 characters." },
      { name: "text", in: "body", required: true, description: "Body as plain text, up to 1 MiB." },
      { name: "html", in: "body", required: false, description: "Body as HTML, up to 1 MiB." }
    ],
    errors: PAID_BEARER_ERRORS,
    nextActions: [
      { serviceId: "email.message.query", why: "Check the delivery status of each recipient." },
      { serviceId: "events.realtime-token", why: "Receive an event when a reply arrives." }
    ]
  },
  {
    operationId: "queryMessages",
    serviceId: "email.message.query",
    method: "GET",
    path: "/api/v1/email/messages/query",
    price: null,
    authentication: "bearer",
    capability: "email",
    guide: "/docs#reading",
    purpose: "Lists messages, newest first, or returns one message with its body.",
    inputs: [
      { name: "mailboxId", in: "query", required: false, description: "Only messages of this mailbox." },
      {
        name: "messageId",
        in: "query",
        required: false,
        description: "Return this message with its body instead of a list."
      },
      { name: "limit", in: "query", required: false, description: "Page size, 1 to 100. The default is 50." },
      { name: "cursor", in: "query", required: false, description: "nextCursor of the previous page." }
    ],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "email.message.send", why: "Reply to a message." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
