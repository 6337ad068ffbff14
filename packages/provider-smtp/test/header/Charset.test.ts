import { describe, expect, it } from "vitest"
import { decodeText } from "../../src/header/Charset.ts"
import { decodeWords } from "../../src/header/EncodedWords.ts"
import { readMail } from "../../src/parser/ReadMail.ts"

const KOREAN = "\u001b$)CHi \u000e>H3g\u000f!"
const HZ = "~{<:Ky2;~}ab ~~"

describe("text in a charset", () => {
  it.each([
    ["ISO-2022-KR", KOREAN, "Hi 안녕!"],
    ["iso-2022-kr", "\u001b$)C\u000e>H3g\n>H\n", "안녕\n>H\n"],
    ["ISO-2022-CN", "\u001b$)A\u000eDc\u000f", "你"],
    ["HZ-GB-2312", HZ, "己所不ab ~"],
    ["hz", "~{<:Ky\nab~\ncd ~{<", "己所\nabcd <"],
    ["hz-gb-2312", "\xc4\xe3", "你"],
    ["x-utf-8", "Gr\xfc\xdfe", "Grüße"],
    ["GB18030-2022", "\xc4\xe3", "你"],
    ["x-mac-ce", "\x8e", "é"],
    ["dos-866", "\x8f", "П"]
  ])("%s is decoded from %j", (label, bytes, text) => {
    expect(decodeText(Buffer.from(bytes, "latin1"), label)).toBe(text)
  })

  it("is decoded in a header and in a body", async () => {
    expect(decodeWords(`=?ISO-2022-KR?B?${Buffer.from(KOREAN).toString("base64")}?=`)).toBe("Hi 안녕!")
    const { text } = await readMail(
      Buffer.from(`From: a@b.test\r\nContent-Type: text/plain; charset=HZ-GB-2312\r\n\r\n${HZ}\r\n`)
    )
    expect(text?.trim()).toBe("己所不ab ~")
  })
})
