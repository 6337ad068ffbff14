import { foldDomain, isEmailAddress, SenderPolicy, Timestamp } from "@agentos/core"
import { Schema } from "effect"
import { describe, it } from "vitest"
import { forwardedBody } from "../../packages/core/src/email/Forward.ts"
import { searchWords } from "../../packages/core/src/email/MessageTerms.ts"
import { snippetOf } from "../../packages/core/src/email/Message.ts"
import { nameText } from "../../packages/core/src/kernel/PlainText.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"

const decodeName = Schema.decodeUnknownResult(nameText(1 << 20))
const decodePolicy = Schema.decodeUnknownResult(SenderPolicy.SenderPolicyInput)

describe("a forwarded message", () => {
  const sender = { address: "bob@example.com", name: null }
  const original = {
    cc: [],
    createdAt: Timestamp.Timestamp.make(0),
    html: null,
    recipients: [],
    sender,
    subject: "",
    text: null,
    to: []
  }
  const note = { text: "Note" }
  const sizeMaxBytes = 1 << 20
  it.each(hostileHtml)("is written in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: (html) => forwardedBody({ ...original, html }, note), sizeMaxBytes })
  })

  it.each(hostileText)("is written in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make, read: (text) => forwardedBody({ ...original, text }, note), sizeMaxBytes })
  })
})

describe.each([
  ["a snippet", snippetOf],
  ["the words of a search", searchWords],
  ["an address", isEmailAddress],
  ["a domain", foldDomain],
  ["a display name", decodeName],
  ["an entry of a sender policy", (entry: string) => decodePolicy({ allow: [entry] })]
])("%s", (_, read: (text: string) => unknown) => {
  it.each(hostileText)("is read in time that grows with the size of a text that is %s", (_name, make) => {
    expectLinear({ make, read, sizeMaxBytes: 1 << 18 })
  })
})
