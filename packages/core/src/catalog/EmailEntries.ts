import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"

/** A free operation of a tenant that reads, one that changes something, and a paid one. */
const READ = { method: "GET", price: null, authentication: "bearer", capability: "email" } as const
const WRITE = { ...READ, method: "POST" } as const
const PAID = { method: "POST", authentication: "bearer", capability: "email" } as const

export const EMAIL_ENTRIES = [
  {
    operationId: "createMailbox",
    serviceId: "email.mailbox.create",
    method: "POST",
    path: "/api/v1/email/mailboxes",
    price: "0.25",
    authentication: "x402-bootstrap",
    capability: "email",
    guide: "/docs#mailboxes",
    purpose: "Creates a real mailbox for the paying wallet and returns the wallet's access token.",
    errors: PAID_ERRORS,
    nextActions: [
      { serviceId: "events.realtime-token", why: "Receive an event as soon as mail arrives." },
      { serviceId: "email.message.send", why: "Send from the new mailbox." }
    ]
  },
  {
    ...READ,
    operationId: "listMailboxes",
    serviceId: "email.mailbox.list",
    path: "/api/v1/email/mailboxes/query",
    guide: "/docs#mailboxes",
    purpose: "Lists your mailboxes.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "email.message.query", why: "Read the messages of a mailbox." }]
  },
  {
    ...PAID,
    operationId: "updateMailbox",
    serviceId: "email.mailbox.update",
    path: "/api/v1/email/mailboxes/update",
    price: "0.01",
    guide: "/docs#mailboxes",
    purpose: "Updates a mailbox: display name, signature, or whether it receives mail.",
    errors: PAID_BEARER_ERRORS,
    nextActions: [{ serviceId: "email.mailbox.list", why: "List your mailboxes with the change." }]
  },
  {
    ...PAID,
    operationId: "deleteMailbox",
    serviceId: "email.mailbox.delete",
    path: "/api/v1/email/mailboxes/delete",
    price: "0.01",
    guide: "/docs#mailboxes",
    purpose: "Deletes a mailbox and all its messages. Its address stays reserved to your wallet.",
    errors: PAID_BEARER_ERRORS,
    nextActions: [{ serviceId: "email.mailbox.create", why: "Create a mailbox with the same address, or another one." }]
  },
  {
    ...PAID,
    operationId: "sendMessage",
    serviceId: "email.message.send",
    path: "/api/v1/email/messages/send",
    price: "0.02",
    guide: "/docs#sending",
    purpose: "Sends one real email from your mailbox to at most 50 recipients.",
    errors: [...PAID_BEARER_ERRORS, "QUOTA_EXCEEDED"],
    nextActions: [
      { serviceId: "email.message.query", why: "Check the delivery status of each recipient." },
      { serviceId: "events.realtime-token", why: "Receive an event when a reply arrives." }
    ]
  },
  {
    ...READ,
    operationId: "queryMessages",
    serviceId: "email.message.query",
    path: "/api/v1/email/messages/query",
    guide: "/docs#reading",
    purpose: "Lists messages, newest first, or returns one message with its body.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "email.message.send", why: "Reply to a message." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** Rows beyond the specification. */
export const EMAIL_EXTENSIONS = [
  {
    ...READ,
    operationId: "queryThreads",
    serviceId: "email.thread.query",
    path: "/api/v1/email/threads/query",
    guide: "/docs#threads",
    purpose: "Lists conversations, newest activity first, or returns one with its messages.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    extension: true,
    nextActions: [{ serviceId: "email.message.query", why: "Read a message with its body." }]
  },
  {
    ...WRITE,
    operationId: "updateMessages",
    serviceId: "email.message.update",
    path: "/api/v1/email/messages/update",
    guide: "/docs#labels",
    purpose: "Marks messages as read or unread, and adds or removes their labels.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    extension: true,
    nextActions: [{ serviceId: "email.message.query", why: "List the messages with a label, or the unread ones." }]
  },
  {
    ...WRITE,
    operationId: "cancelMessage",
    serviceId: "email.message.cancel",
    path: "/api/v1/email/messages/cancel",
    guide: "/docs#sending",
    purpose: "Cancels a scheduled message before it is sent, and refunds its payment.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "CONFLICT"],
    extension: true,
    nextActions: [{ serviceId: "payment.status", why: "See the refund." }]
  },
  {
    ...READ,
    operationId: "getAttachment",
    serviceId: "email.message.attachment",
    path: "/api/v1/email/messages/{messageId}/attachments/{attachmentId}",
    guide: "/docs#reading",
    purpose: "Returns the bytes of an attachment.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    extension: true,
    nextActions: [{ serviceId: "email.message.query", why: "List the attachments of a message." }]
  },
  {
    ...READ,
    operationId: "getRawMessage",
    serviceId: "email.message.raw",
    path: "/api/v1/email/messages/{messageId}/raw",
    guide: "/docs#reading",
    purpose: "Returns a received message as it arrived, with all headers and parts.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    extension: true,
    nextActions: [{ serviceId: "email.message.query", why: "Read the message without its headers and parts." }]
  },
  {
    ...READ,
    operationId: "listSuppressions",
    serviceId: "email.suppression.list",
    path: "/api/v1/email/suppressions/query",
    guide: "/docs#sending",
    purpose: "Lists the addresses that you can't write to, because they bounced or complained.",
    errors: BEARER_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "email.suppression.lift", why: "Write to an address again." }]
  },
  {
    ...WRITE,
    operationId: "liftSuppression",
    serviceId: "email.suppression.lift",
    path: "/api/v1/email/suppressions/lift",
    guide: "/docs#sending",
    purpose: "Lifts the suppression of an address, so that you can write to it again.",
    errors: BEARER_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "email.message.send", why: "Write to the address." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
