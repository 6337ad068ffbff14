import { plain, plainJson, plainLine, truncate } from "../../packages/node/src/command-line/index.ts"
import { describe, it } from "vitest"
import { safeFileName } from "../../packages/cli/src/file/Download.ts"
import { forwardedBody } from "../../packages/cli/src/mail/Forward.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"
import { receivedMessage } from "./ReceivedMessage.ts"

const BODY_MAX = 1 << 20

describe("a forwarded message", () => {
  it.each(hostileHtml)("is written in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: (html) => forwardedBody(receivedMessage({ html }), "Note"), sizeMaxBytes: BODY_MAX })
  })

  it.each(hostileText)("is written in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make, read: (text) => forwardedBody(receivedMessage({ text }), "Note"), sizeMaxBytes: BODY_MAX })
  })
})

describe.each([
  ["a text on a terminal", plain],
  ["a line on a terminal", plainLine],
  ["JSON on a terminal", (text: string) => plainJson({ text })],
  ["a cell of a table", (text: string) => truncate(plainLine(text), 80)],
  ["the name of a file", safeFileName]
])("%s", (_, read) => {
  it.each(hostileText)("is written in time that grows with the size of a text that is %s", (_name, make) => {
    expectLinear({ make, read, sizeMaxBytes: 1 << 18 })
  })
})
