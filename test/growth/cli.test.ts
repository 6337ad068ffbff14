import { describe, it } from "vitest"
import { forwardedBody } from "../../packages/cli/src/mail/Forward.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"

const BODY_MAX = 1 << 20

const message = (text: string | null, html: string | null): Parameters<typeof forwardedBody>[0] => ({
  messageId: "019aa0f2-7a4b-7000-8000-000000000001",
  threadId: "019aa0f2-7a4b-7000-8000-000000000001",
  mailboxId: "019aa0f2-7a4b-7000-8000-000000000002",
  direction: "inbound",
  from: "bob@example.com",
  sender: { address: "bob@example.com", name: null },
  to: ["ada@agents.test"],
  cc: [],
  bcc: [],
  subject: "Hello",
  snippet: "",
  messageIdHeader: null,
  inReplyTo: null,
  references: [],
  attachments: [],
  authentication: null,
  malformed: false,
  truncated: false,
  status: "received",
  recipients: [],
  createdAt: "2026-11-23T09:41:00.000Z",
  text,
  html,
  extractedText: null
})

describe("a forwarded message", () => {
  it.each(hostileHtml)("is written in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: (html) => forwardedBody(message(null, html), "Note"), sizeMaxBytes: BODY_MAX })
  })

  it.each(hostileText)("is written in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make, read: (text) => forwardedBody(message(text, null), "Note"), sizeMaxBytes: BODY_MAX })
  })
})
