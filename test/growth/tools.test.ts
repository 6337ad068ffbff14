import { describe, it } from "vitest"
import { emailOf } from "../../packages/tools/src/mail/Records.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"
import { receivedMessage } from "./ReceivedMessage.ts"

const BODY_MAX = 1 << 20

describe("an email as a tool returns it", () => {
  it.each(hostileText)("is written in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make, read: (text) => emailOf(receivedMessage({ text })), sizeMaxBytes: BODY_MAX })
  })

  it.each(hostileHtml)("is written in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: (html) => emailOf(receivedMessage({ html })), sizeMaxBytes: BODY_MAX })
  })

  it.each(hostileText)("is written in time that grows with the size of names that are %s", (_, make) => {
    const read = (name: string) =>
      emailOf(receivedMessage({ subject: name, sender: { address: "bob@example.com", name } }))
    expectLinear({ make, read, sizeMaxBytes: 1 << 16 })
  })
})
