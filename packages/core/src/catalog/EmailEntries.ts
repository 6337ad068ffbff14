import type { CatalogEntry } from "./CatalogEntry.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"
import { fromDecimal } from "./Usdt.ts"

const MAILBOX_ID = {
  name: "mailboxId",
  in: "body",
  required: true,
  description: "Id of a mailbox of yours."
} as const

const DISPLAY_NAME = {
  name: "displayName",
  in: "body",
  required: false,
  description: "The name that recipients see beside the address."
} as const

const SIGNATURE = {
  name: "outboundSignature",
  in: "body",
  required: false,
  description: "Text put below every message that is sent."
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
    purpose: "Creates a real mailbox for the paying wallet and gives the wallet's access token.",
    inputs: [
      {
        name: "localPart",
        in: "body",
        required: true,
        description: "What stands before the @: a dot-atom of 1 to 64 characters, folded to lower case."
      },
      DISPLAY_NAME,
      SIGNATURE
    ],
    errors: PAID_ERRORS,
    nextActions: [
      { serviceId: "events.realtime-token", why: "Be told of mail the moment it arrives." },
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
    purpose: "Changes a mailbox: its display name, its signature, or whether it takes mail.",
    inputs: [
      MAILBOX_ID,
      DISPLAY_NAME,
      SIGNATURE,
      {
        name: "active",
        in: "body",
        required: false,
        description: "Whether mail is taken for it. Mail to an inactive mailbox is refused at the door."
      }
    ],
    errors: PAID_BEARER_ERRORS,
    nextActions: [{ serviceId: "email.mailbox.list", why: "See the mailboxes as they are now." }]
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
    nextActions: [{ serviceId: "email.mailbox.create", why: "Take the same address again, or another." }]
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
    purpose: "Sends one real email from a mailbox of yours, to 50 recipients at most.",
    inputs: [
      MAILBOX_ID,
      { name: "to", in: "body", required: true, description: "Addresses of the recipients." },
      { name: "cc", in: "body", required: false, description: "Addresses that get a copy." },
      { name: "bcc", in: "body", required: false, description: "Addresses that get a copy unseen by the others." },
      { name: "subject", in: "body", required: true, description: "Up to 998 characters on one line." },
      { name: "text", in: "body", required: true, description: "The plain text, up to 1 MiB." },
      { name: "html", in: "body", required: false, description: "The same as HTML, up to 1 MiB." }
    ],
    errors: PAID_BEARER_ERRORS,
    nextActions: [
      { serviceId: "email.message.query", why: "See what became of it for each recipient." },
      { serviceId: "events.realtime-token", why: "Wait for the answer." }
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
    purpose: "Lists messages, newest first, or returns one whole message with its body.",
    inputs: [
      { name: "mailboxId", in: "query", required: false, description: "List the messages of this mailbox alone." },
      { name: "messageId", in: "query", required: false, description: "Return this one message, body included." },
      { name: "limit", in: "query", required: false, description: "Page size, 1 to 100; 50 when left out." },
      { name: "cursor", in: "query", required: false, description: "The nextCursor of the page before." }
    ],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "email.message.send", why: "Answer a message." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
