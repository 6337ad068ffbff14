import { foldDomain, isEmailAddress, SenderPolicy } from "@agentos/core"
import { Schema } from "effect"
import { describe, it } from "vitest"
import { searchWords } from "../../packages/core/src/email/MessageTerms.ts"
import { snippetOf } from "../../packages/core/src/email/Message.ts"
import { nameText } from "../../packages/core/src/kernel/PlainText.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileText } from "./HostileText.ts"

const decodeName = Schema.decodeUnknownResult(nameText(1 << 20))
const decodePolicy = Schema.decodeUnknownResult(SenderPolicy.SenderPolicyInput)

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
