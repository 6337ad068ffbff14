import type { CallRecord, MailboxRecord, MessageRecord, PhoneNumberRecord } from "@agentos/core"

/**
 * The resources in the examples of operations. They refer to each other: the message is sent from the mailbox, and the
 * call placed from the number.
 */

export const OPERATION_ID = "019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90"
export const ACCESS_TOKEN = "at_v1_EXAMPLE"
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
  subject: "Hello",
  snippet: "Hello Bob",
  messageIdHeader: "<019ab1c4@example.com>",
  inReplyTo: null,
  references: [],
  attachments: [],
  authentication: null,
  malformed: false,
  truncated: false,
  status: "sent",
  recipients: [{ address: "bob@example.com", name: null, kind: "to", status: "sent", reason: null }],
  createdAt: "2026-01-31T12:00:00.000Z",
  text: "Hello Bob",
  html: null,
  extractedText: null
}

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
  toNumber: "+14155550123",
  status: "queued",
  endReason: null,
  authorizedSeconds: 60,
  connectedSeconds: 0,
  createdAt: "2026-01-31T12:00:00.000Z",
  answeredAt: null,
  endedAt: null
}
