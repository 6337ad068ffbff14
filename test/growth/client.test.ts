import { oneTimeCode, textOfHtml } from "@agentos/client"
import { describe, it } from "vitest"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"

const BODY_MAX = 1 << 20
/** The part of a body that is searched for a code, in characters. */
const SEARCHED_MAX = 100_000

describe("the client's text of HTML", () => {
  it.each(hostileHtml)("is read in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: textOfHtml, sizeMaxBytes: BODY_MAX })
  })
})

describe("the one-time code", () => {
  it.each(hostileText)("is found in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make, read: (text) => oneTimeCode({ subject: "", text, html: null }), sizeMaxBytes: SEARCHED_MAX })
  })

  it.each(hostileHtml)("is found in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: (html) => oneTimeCode({ subject: "", text: null, html }), sizeMaxBytes: BODY_MAX })
  })
})
