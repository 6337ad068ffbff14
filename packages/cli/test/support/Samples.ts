import { OPERATIONS } from "@agentos/api"
import type { DataOf } from "../../src/server/Server.ts"
import { challenge, paid, rpcReplies, TOKEN } from "./PaidAnswers.ts"
import type { Reply } from "./ApiDouble.ts"

/*
 * One sample of each resource of the API.
 */

export const AT = "2026-01-31T12:00:00.000Z"
export const LATER = "2026-03-02T12:00:00.000Z"
export const ID = "0190f3c2-0000-7000-8000-000000000001"
export const NUMBER = "+14155550100"
export const PERSON = "+12125550100"
export const ADDRESS = "ada@agents.test"
export const OPERATION = "0190f3c2-0000-7000-8000-0000000000dd"

export const mailbox: DataOf<"listMailboxes">["items"][number] = {
  ...(OPERATIONS.listMailboxes.example!.data as DataOf<"listMailboxes">).items[0]!,
  mailboxId: ID,
  address: ADDRESS
}

export const message: DataOf<"sendMessage">["message"] = {
  messageId: ID,
  threadId: ID,
  mailboxId: ID,
  direction: "inbound",
  from: "bob@outside.example",
  sender: { address: "bob@outside.example", name: "Bob" },
  to: [ADDRESS],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Hello",
  snippet: "Your code is 482 913.",
  messageIdHeader: "<1@outside.example>",
  inReplyTo: null,
  references: [],
  attachments: [],
  automatic: null,
  mailingList: null,
  authentication: { spf: "pass", dkim: "none", dmarc: "none", domain: "example.com" },
  malformed: false,
  truncated: false,
  status: "received",
  recipients: [],
  labels: [],
  unread: true,
  sendAt: null,
  createdAt: AT,
  text: "Your code is 482 913.",
  html: null,
  extractedText: "Your code is 482 913.",
  hasOmittedText: false,
  oneTimeCode: "482913",
  confirmationLink: null,
  links: []
}

const FILE_ID = "0190f3c2-0000-8000-8000-000000000001"
/** A message with one file. */
export const withFile: typeof message = {
  ...message,
  attachments: [
    {
      attachmentId: FILE_ID,
      filename: "invoice.txt",
      contentType: "text/plain",
      sizeBytes: 10,
      sha256: "0".repeat(64),
      contentId: null,
      disposition: "attachment"
    }
  ]
}
export const FILE_PATH = `/api/v1/email/messages/${ID}/attachments/${FILE_ID}`

/** The response to a download. */
export const fileReply = (content: string | Buffer): Reply => ({
  status: 200,
  headers: { "Content-Type": "application/octet-stream" },
  body: content
})

export const sent: DataOf<"sendMessage">["message"] = {
  ...message,
  direction: "outbound",
  from: ADDRESS,
  sender: { address: ADDRESS, name: null },
  to: ["bob@outside.example"],
  status: "sent",
  authentication: null,
  text: "Are you there?"
}

export const phoneNumber: DataOf<"listNumbers">["items"][number] = {
  phoneNumberId: ID,
  agentId: ID,
  number: NUMBER,
  country: "US",
  agentName: "Ada",
  agentWebhookUrl: "https://agent.example/voice",
  description: null,
  beginMessage: null,
  voice: null,
  language: null,
  status: "active",
  entitlement: { startedAt: AT, expiresAt: LATER, secondsRemaining: 2_592_000 },
  inboundAllowance: { purchasedSeconds: 600, usedSeconds: 60, remainingSeconds: 540 },
  createdAt: AT,
  releasedAt: null
}

export const call: DataOf<"getCall">["call"] = {
  callId: ID,
  phoneNumberId: ID,
  direction: "outbound",
  fromNumber: NUMBER,
  fromWithheld: null,
  toNumber: PERSON,
  status: "queued",
  endReason: null,
  answeredBy: null,
  authorizedSeconds: 60,
  connectedSeconds: 0,
  createdAt: AT,
  answeredAt: null,
  endedAt: null
}

export const event: Extract<DataOf<"getEvent">["event"], { readonly type: "email.received" }> = {
  eventId: ID,
  type: "email.received",
  status: "pending",
  source: "smtp",
  service: "email",
  resourceId: ID,
  agentId: ID,
  createdAt: AT,
  deliveredAt: null,
  acknowledgedAt: null,
  expiresAt: LATER,
  deliveryCount: 0,
  payload: {
    type: "email.received",
    eventId: ID,
    mailboxId: ID,
    emailId: ID,
    from: "bob@outside.example",
    subject: "Hello",
    authentication: null,
    automatic: null,
    receivedAt: AT
  }
}

export const service: DataOf<"getService">["service"] = {
  serviceId: "email.mailbox.create",
  method: "POST",
  path: "/api/v1/email/mailboxes",
  price: { amount: "0.25", asset: "USDT" },
  authentication: "x402-bootstrap",
  startHere: true,
  available: true,
  marketplaceListing: true,
  guide: "/docs/email",
  purpose: "Creates a mailbox.",
  inputs: [
    {
      name: "localPart",
      in: "body",
      required: true,
      type: "string",
      example: "ada",
      description: "The part before the @."
    }
  ],
  errors: ["CONFLICT"],
  nextActions: [
    { serviceId: "email.mailbox.list", method: "GET", path: "/api/v1/email/mailboxes/query", why: "Shows it." }
  ]
}

export const description: DataOf<"describeApi"> = {
  name: "AgentOS",
  version: "1.0.0",
  environment: "sandbox",
  authentication: { scheme: "bearer", tokenPrefix: "at_v1_", startHere: ["email.mailbox.create"], rules: [] },
  payment: { protocol: "x402", x402Version: 2, scheme: "exact", accepts: [] },
  guides: { llms: "/llms.txt", serviceCatalog: "/api/v1/services", openapi: "/openapi.json", docs: "/docs" },
  services: []
}

export const SECRET = "cs_v1_secret-of-callbacks"
export const purchase: DataOf<"purchaseUsNumber"> = {
  phoneNumberId: ID,
  number: NUMBER,
  callbackVerificationSecret: SECRET,
  phoneNumber,
  authentication: { accessToken: TOKEN },
  operationId: OPERATION
}

/** A server that sells at this path: the challenge, then the answers to the payment, and an RPC with a balance. */
export const selling = (path: string, ...answers: ReadonlyArray<Reply>) => ({
  [`POST /api/v1/${path}`]: [challenge(), ...answers],
  "POST /rpc": rpcReplies(10_000_000n)
})

export const sells = (path: string, data: object) => selling(path, paid(data))
