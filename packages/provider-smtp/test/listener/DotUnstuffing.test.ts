import { describe, expect, it } from "vitest"
import { DotUnstuffing } from "../../src/listener/DotUnstuffing.ts"

/** Feeds the bytes in chunks of one size; returns the message, and the bytes after it. */
const read = (bytes: string, chunkLength: number) => {
  const unstuffing = new DotUnstuffing()
  const whole = Buffer.from(bytes, "latin1")
  let content = ""
  for (let at = 0; at < whole.length; at += chunkLength) {
    const pushed = unstuffing.push(whole.subarray(at, at + chunkLength))
    content += pushed.content.toString("latin1")
    if (pushed.rest !== undefined) {
      return { content, rest: pushed.rest.toString("latin1") + whole.subarray(at + chunkLength).toString("latin1") }
    }
  }
  return { content, rest: undefined }
}

describe("a message after DATA", () => {
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["is empty", ".\r\n", ""],
    ["ends in a line with a dot alone", "a\r\n.\r\n", "a\r\n"],
    ["loses the first dot of each line", "..\r\n...\r\n.a\r\n..b\r\n.\r\n", ".\r\n..\r\na\r\n.b\r\n"],
    ["keeps dots within a line", "a.\r\n b..c\r\n.\r\n", "a.\r\n b..c\r\n"],
    ["keeps a carriage return after the dot of a longer line", ".\rx\r\n.\r\r\n.\r\n", "\rx\r\n\r\r\n"],
    ["does not end after a bare line feed", "a\n.\n.\r\nb\n.\r\nc\r\n.\r\n", "a\n.\n.\r\nb\n.\r\nc\r\n"],
    ["does not end after a bare carriage return", "a\r.\r\nb\r.\rc\r\n.\r\n", "a\r.\r\nb\r.\rc\r\n"],
    ["does not end in a dot with a bare line feed", "a\r\n.\nb\r\n.\r\n", "a\r\n\nb\r\n"],
    ["does not end in a dot with a bare carriage return", "a\r\n.\rb\r\n.\r\n", "a\r\n\rb\r\n"],
    ["keeps U+0000 beside dots", "\0.\0\r\n.\0\r\n.\r\n", "\0.\0\r\n\0\r\n"]
  ]
  for (const [name, sent, content] of cases) {
    it(`${name}, however it is split into chunks`, () => {
      for (let length = 1; length <= sent.length + 8; length++) {
        expect(read(`${sent}QUIT\r\n`, length)).toEqual({ content, rest: "QUIT\r\n" })
      }
    })
  }

  it("continues until its end is reached", () => {
    for (const sent of ["", "a\r\n", "a\r\n.", "a\r\n.\r", "a\n.\n", "a\r\n..\r\n"]) {
      expect(read(sent, 1).rest).toBeUndefined()
    }
  })
})
