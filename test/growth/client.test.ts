import { textOfHtml } from "@agentos/client"
import { confirmationLink, oneTimeCode } from "@agentos/core"
import { describe, it } from "vitest"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml, hostileText } from "./HostileText.ts"

const BODY_MAX = 1 << 20
/** The part of a body that is searched for a code, in characters. */
const SEARCHED_MAX = 100_000

const hostileLinks = ["https://", "https://a/verify?t=123456 ", "<a href=https://a/verify?t=123456>verify</a>"].map(
  (part) => [`repeated ${part}`, (size: number) => part.repeat(Math.ceil(size / part.length))] as const
)

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

describe("the confirmation link", () => {
  it.each([...hostileText, ...hostileLinks])(
    "is found in time that grows with the size of a text that is %s",
    (_, make) => {
      const read = (text: string) => confirmationLink({ subject: "", text, html: null })
      expectLinear({ make, read, sizeMaxBytes: SEARCHED_MAX })
    }
  )

  it.each([...hostileHtml, ...hostileLinks])(
    "is found in time that grows with the size of HTML that is %s",
    (_, make) => {
      const read = (html: string) => confirmationLink({ subject: "", text: null, html })
      expectLinear({ make, read, sizeMaxBytes: BODY_MAX })
    }
  )
})
