import type { MessageRecord } from "@agentos/client"

/** Returns a received message, as the service returns it. */
export const receivedMessage = (parts: Partial<MessageRecord>): MessageRecord => ({
  messageId: "019aa0f2-7a4b-7000-8000-000000000001",
  threadId: "019aa0f2-7a4b-7000-8000-000000000001",
  mailboxId: "019aa0f2-7a4b-7000-8000-000000000002",
  direction: "inbound",
  from: "bob@example.com",
  sender: { address: "bob@example.com", name: null },
  to: ["ada@agents.test"],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Hello",
  snippet: "",
  messageIdHeader: null,
  inReplyTo: null,
  references: [],
  attachments: [],
  automatic: null,
  mailingList: null,
  authentication: null,
  malformed: false,
  truncated: false,
  status: "received",
  recipients: [],
  createdAt: "2026-11-23T09:41:00.000Z",
  text: null,
  html: null,
  extractedText: null,
  ...parts
})
