import { describe, it } from "vitest"
import { textOfHtml } from "../../packages/provider-smtp/src/parser/HtmlText.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileHtml } from "./HostileText.ts"

const BODY_MAX = 1 << 20

describe("the text that HTML shows", () => {
  it.each(hostileHtml)("is read in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: textOfHtml, sizeMaxBytes: BODY_MAX })
  })
})
