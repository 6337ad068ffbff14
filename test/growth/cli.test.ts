import { plain, plainJson, plainLine, truncate } from "../../packages/node/src/command-line/index.ts"
import { describe, it } from "vitest"
import { safeFileName } from "../../packages/cli/src/file/Download.ts"
import { expectLinear } from "../support/Growth.ts"
import { hostileText } from "./HostileText.ts"

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
