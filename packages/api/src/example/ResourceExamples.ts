import type {
  AttachmentRecord,
  CallRecord,
  MailboxRecord,
  MessageRecord,
  MessageSummaryRecord,
  PaymentStatusRecord,
  PhoneNumberRecord,
  ThreadRecord,
  TranscriptRecord,
  Voice
} from "@agentos/core"

/**
 * The resources in the examples of operations. They refer to each other: the message is sent from the mailbox, and the
 * call placed from the number.
 */

export const OPERATION_ID = "019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90"
export const REQUEST_ID = "019ab1c0-5f3e-7d12-9a41-7e0f4c2b1a55"
export const ACCESS_TOKEN = "at_v1_EXAMPLE"
/** The base64 of EXAMPLE. */
export const SIGNING_SECRET = "whsec_RVhBTVBMRQ=="
export const CALLBACK_SECRET = "EXAMPLE"
/** A placeholder, which a number accepts while no server is reachable: its agent answers over the realtime socket. */
export const WEBHOOK_URL = "https://agent.invalid/"

export const MAILBOX: typeof MailboxRecord.Encoded = {
  mailboxId: "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11",
  address: "ada@example.com",
  localPart: "ada",
  displayName: "Ada",
  outboundSignature: null,
  active: true,
  senderPolicy: { mode: "anyone", allow: [], block: [] },
  metadata: {},
  refused: { no_single_author: 2 },
  createdAt: "2026-01-31T12:00:00.000Z",
  updatedAt: "2026-01-31T12:00:00.000Z"
}

export const MESSAGE: typeof MessageRecord.Encoded = {
  messageId: "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7",
  threadId: "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7",
  mailboxId: MAILBOX.mailboxId,
  direction: "outbound",
  from: MAILBOX.address,
  sender: { address: MAILBOX.address, name: "Ada" },
  to: ["bob@example.com"],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Hello",
  snippet: "Hello Bob",
  messageIdHeader: "<019ab1c4@example.com>",
  inReplyTo: null,
  references: [],
  attachments: [],
  automatic: null,
  mailingList: null,
  authentication: null,
  malformed: false,
  truncated: false,
  status: "sent",
  recipients: [{ address: "bob@example.com", name: null, kind: "to", status: "sent", reason: null }],
  labels: [],
  unread: false,
  sendAt: null,
  createdAt: "2026-01-31T12:00:00.000Z",
  text: "Hello Bob",
  html: null,
  extractedText: null,
  hasOmittedText: false,
  oneTimeCode: null,
  confirmationLink: null,
  links: []
}

export const ATTACHMENT_TEXT = "Hello Ada"

export const ATTACHMENT: typeof AttachmentRecord.Encoded = {
  attachmentId: "019ab1c4-0d7b-8b21-8c3c-64a9d1c1b0e9",
  filename: "hello.txt",
  contentType: "text/plain",
  sizeBytes: 9,
  sha256: "d3ce3532b03b6df16922e95ee5be0aace0dcefeb8ad0d5efd537e7b799e7e182",
  contentId: null,
  disposition: "attachment"
}

/** A message that the mailbox received. */
export const RECEIVED: typeof MessageRecord.Encoded = {
  ...MESSAGE,
  messageId: "019ab1c4-0d7b-7b21-9c3c-64a9d1c1b0e9",
  threadId: "019ab1c4-0d7b-7b21-9c3c-64a9d1c1b0e9",
  direction: "inbound",
  from: "bob@example.com",
  sender: { address: "bob@example.com", name: "Bob" },
  to: [MAILBOX.address],
  replyTo: ["help@example.com"],
  subject: "Your code",
  snippet: "Your code is 482913.",
  messageIdHeader: "<1@example.com>",
  attachments: [ATTACHMENT],
  automatic: "auto_generated",
  authentication: { spf: "pass", dkim: "pass", dmarc: "pass", domain: "example.com" },
  status: "received",
  recipients: [{ address: MAILBOX.address, name: null, kind: "to", status: "received", reason: null }],
  unread: true,
  text: "Your code is 482913.",
  extractedText: "Your code is 482913.",
  oneTimeCode: "482913"
}

const {
  confirmationLink: _confirmationLink,
  extractedText: _extractedText,
  hasOmittedText: _hasOmittedText,
  html: _html,
  links: _links,
  oneTimeCode: _oneTimeCode,
  text: _text,
  ...summary
} = RECEIVED
export const SCHEDULED: typeof MessageRecord.Encoded = {
  ...MESSAGE,
  status: "scheduled",
  sendAt: "2026-02-01T09:00:00.000Z",
  recipients: MESSAGE.recipients.map((recipient) => ({ ...recipient, status: "scheduled" }))
}
export const CANCELED: typeof MessageRecord.Encoded = {
  ...SCHEDULED,
  status: "canceled",
  recipients: MESSAGE.recipients.map((recipient) => ({ ...recipient, status: "canceled" }))
}

export const RECEIVED_SUMMARY: typeof MessageSummaryRecord.Encoded = summary

export const THREAD: typeof ThreadRecord.Encoded = {
  threadId: RECEIVED.threadId,
  mailboxId: MAILBOX.mailboxId,
  subject: RECEIVED.subject,
  participants: ["bob@example.com", MAILBOX.address],
  messageCount: 1,
  unreadCount: 1,
  hasAttachments: true,
  labels: [],
  lastMessageId: RECEIVED.messageId,
  snippet: RECEIVED.snippet,
  firstMessageAt: RECEIVED.createdAt,
  lastMessageAt: RECEIVED.createdAt
}

export const RAW_MESSAGE = [
  "From: Bob <bob@example.com>",
  "Reply-To: help@example.com",
  "Auto-Submitted: auto-generated",
  `To: ${MAILBOX.address}`,
  "Subject: Your code",
  "Message-ID: <1@example.com>",
  "Date: Sat, 31 Jan 2026 12:00:00 +0000",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Your code is 482913.",
  ""
].join("\r\n")

export const PHONE_NUMBER: typeof PhoneNumberRecord.Encoded = {
  phoneNumberId: "019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20",
  agentId: "019ab1c8-8d52-7b01-8c11-5d0e6f3a9b42",
  number: "+14155550100",
  country: "US",
  agentName: "Ada",
  agentWebhookUrl: WEBHOOK_URL,
  description: null,
  beginMessage: null,
  voice: null,
  language: null,
  status: "active",
  entitlement: {
    startedAt: "2026-01-31T12:00:00.000Z",
    expiresAt: "2026-03-02T12:00:00.000Z",
    secondsRemaining: 2_592_000
  },
  inboundAllowance: { purchasedSeconds: 0, usedSeconds: 0, remainingSeconds: 0 },
  createdAt: "2026-01-31T12:00:00.000Z",
  releasedAt: null
}

export const CALL: typeof CallRecord.Encoded = {
  callId: "019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4",
  phoneNumberId: PHONE_NUMBER.phoneNumberId,
  direction: "outbound",
  fromNumber: PHONE_NUMBER.number,
  fromWithheld: null,
  toNumber: "+14155550150",
  status: "queued",
  endReason: null,
  answeredBy: null,
  authorizedSeconds: 60,
  connectedSeconds: 0,
  createdAt: "2026-01-31T12:00:00.000Z",
  answeredAt: null,
  endedAt: null
}

export const TRANSCRIPT: typeof TranscriptRecord.Encoded = {
  callId: CALL.callId,
  complete: true,
  turns: [
    { role: "agent", text: "Hello, this is Ada.", at: "2026-01-31T12:00:05.000Z" },
    { role: "caller", text: "When are you open?", at: "2026-01-31T12:00:09.000Z" },
    { role: "agent", text: "Until six.", at: "2026-01-31T12:00:10.000Z" }
  ]
}

export const VOICE: typeof Voice.Encoded = { voice: "en-US-Chirp3-HD-Kore", language: "en-US", vendor: "Google" }

export const PAYMENT: typeof PaymentStatusRecord.Encoded = {
  operationId: OPERATION_ID,
  serviceId: "email.mailbox.create",
  paymentState: "settled",
  network: "eip155:196",
  price: { amount: "0.25", asset: "USDT" },
  baseUnits: "250000",
  token: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
  symbol: "USDT",
  asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  amount: "250000",
  transaction: "0x6fd1b0a4c7d3e8f2915a4b6c8d0e2f4a6b8c0d2e4f6a8b0c2d4e6f8a0b2c4d6e",
  refund: null,
  reason: null,
  receipt: "eyJ…",
  createdAt: "2026-01-31T12:00:00.000Z",
  updatedAt: "2026-01-31T12:00:02.000Z",
  advice: "done"
}
