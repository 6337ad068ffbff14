import { createHash } from "node:crypto"
import { afterAll, describe, expect, it } from "vitest"
import { HEADER, mixed, openParser, readWhole } from "./support/Parser.ts"

const parser = openParser({ readMillis: 60_000 })
afterAll(() => parser.close())

const kept = (raw: string) => readWhole(parser, raw)

describe("the largest mail is read within the memory of its process", () => {
  const expectBeginning = async (type: string, line: string) => {
    const opening = type.includes("multipart") ? "--b\r\n\r\n" : ""
    const mail = await kept(`${HEADER}${type}\r\n${opening}${line.repeat(24_000_000 / line.length)}`)
    const from = { address: "ada@sender.test", name: "Ada" }
    expect(mail).toMatchObject({ subject: "hello", from, truncated: true })
    const body = mail.text ?? mail.html ?? ""
    expect(Buffer.byteLength(body)).toBeGreaterThan(500_000)
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(1024 * 1024)
  }

  /** Texts that need most memory: most lines, the longest line, lines that are decoded or compared with a boundary. */
  const TEXTS: ReadonlyArray<readonly [string, string, string]> = [
    ["that are empty", "", "\r\n"],
    ["that end in a line feed alone", "", "\n"],
    ["without an end", "", "x"],
    ["that look like boundaries", "", "--\r\n"],
    ["in UTF-8", "Content-Type: text/plain; charset=utf-8\r\n", "\xf0\x9f\x91\x8b\r\n"],
    ["in base64", "Content-Transfer-Encoding: base64\r\n", "eA==\r\n"],
    ["in quoted-printable", "Content-Transfer-Encoding: quoted-printable\r\n", "=41=\r\n"],
    ["in a multipart", "Content-Type: multipart/mixed; boundary=b\r\n", "x\r\n"],
    ["of words", "", "words and ".repeat(7) + "\r\n"],
    ["of one word each", "", "x\r\n"],
    ["in UTF-16", "Content-Type: text/plain; charset=utf-16le\r\n", "x\0"],
    ["in HTML", "Content-Type: text/html\r\n", "<b>\r\n"],
    ["that flow", "Content-Type: text/plain; format=flowed\r\n", "x \r\n"]
  ]
  it.each(TEXTS)("24 MB of lines %s, of which the beginning is kept", (_, type, line) => expectBeginning(type, line))

  it("24 MB in 3,000 text parts, of which the beginning is kept", async () => {
    const mail = await kept(mixed(...Array.from({ length: 3_000 }, () => `\r\n${"x\r\n".repeat(2_600)}`)))
    expect(mail.truncated).toBe(true)
    expect(Buffer.byteLength(mail.text ?? "")).toBeLessThanOrEqual(1024 * 1024)
  })

  it("an attachment behind a truncated text, byte for byte", async () => {
    const attached = "Content-Type: application/x-thing\r\n\r\n--not a boundary\r\na\r\n\r\n.b\r\n"
    const mail = await kept(mixed(`\r\n${"x\r\n".repeat(6_000_000)}`, attached))
    const content = "--not a boundary\r\na\r\n\r\n.b\r\n"
    expect(mail.attachments).toMatchObject([
      { sizeBytes: content.length, sha256: createHash("sha256").update(content).digest("hex") }
    ])
  })

  it("an attachment of 24 MB in lines of one byte", async () => {
    const part = `Content-Type: application/x-thing\r\n\r\n${"x\r\n".repeat(8_000_000)}`
    const mail = await kept(mixed("\r\nsee below", part))
    expect(mail.attachments).toMatchObject([{ sizeBytes: 24_000_000 }])
    expect(mail).toMatchObject({ text: "see below\n", truncated: false })
  })

  it("a million parts, of which the first are described", async () => {
    const mail = await kept(mixed("\r\nfirst", `\r\nx\r\n${"--b\r\n\r\nx\r\n".repeat(1_000_000)}`))
    expect(mail.truncated).toBe(true)
    expect(mail.text).toMatch(/^first\n/)
  })

  it("a mail of 25 MB, most of it one attachment", async () => {
    const content = Buffer.alloc(18_000_000, "attached ")
    const encoded = content.toString("base64").replace(/.{76}/g, "$&\r\n")
    const part = `Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}`
    expect((await kept(mixed("\r\nsee below", part))).attachments).toEqual([
      {
        filename: null,
        contentType: "application/zip",
        sizeBytes: content.length,
        sha256: createHash("sha256").update(content).digest("hex"),
        contentId: null,
        disposition: "attachment",
        source: { offset: expect.any(Number), encodedBytes: encoded.length, encoding: "base64" }
      }
    ])
  })
})
