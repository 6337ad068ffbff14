import { authenticateSender } from "@agentos/provider-smtp/AuthenticateSender"
import { describe, it } from "vitest"
import { authorOf } from "../../packages/provider-smtp/src/header/Author.ts"
import { readHeaderBlock } from "../../packages/provider-smtp/src/header/HeaderBlock.ts"
import { extractReply } from "../../packages/provider-smtp/src/parser/ExtractReply.ts"
import { textOfHtml } from "../../packages/provider-smtp/src/parser/HtmlText.ts"
import { readMail } from "../../packages/provider-smtp/src/parser/ReadMail.ts"
import { expectLinear, expectLinearAsync } from "../support/Growth.ts"
import { hostileFields, hostileHtml, hostileText, type Shape } from "./HostileText.ts"

const BODY_MAX = 1 << 20
/** The part of a text that is searched for quotes, in characters. */
const SEARCHED_MAX = 1 << 17
const HEADER_MAX = 1 << 18
const FIELD_MAX = 1 << 18

describe("the text that HTML shows", () => {
  it.each(hostileHtml)("is read in time that grows with the size of HTML that is %s", (_, make) => {
    expectLinear({ make, read: textOfHtml, sizeMaxBytes: BODY_MAX })
  })
})

describe("the words of the author of a reply", () => {
  const lines: ReadonlyArray<Shape> = [
    "a:\n",
    "From: a@b\n",
    "From: a@b\nTo: x\n\n",
    "Hi\nFrom: a@b\nSent: 1\nSubject: x\n",
    "On 2026 10:10 a@b wrote:\n",
    "On 2026 10:10 a@b wrote:\n> a\n",
    "-- \n",
    "--\n",
    "Sent from my iPhone\n",
    "--Original message--\n> a\n",
    `${"-".repeat(398)}a\n`,
    `${"(".repeat(399)}:\n`
  ].map((line) => [JSON.stringify(line.slice(0, 40)), (size) => line.repeat(Math.ceil(size / line.length))])
  it.each([...hostileText, ...lines])("is found in time that grows with the size of a text that is %s", (_, make) => {
    expectLinear({ make: (size) => make(size).slice(0, size), read: extractReply, sizeMaxBytes: SEARCHED_MAX })
  })
})

describe("the author", () => {
  it.each(hostileFields)("is read in time that grows with the size of a From field that is %s", (_, make) => {
    const read = (raw: Uint8Array) => {
      const header = readHeaderBlock(raw, HEADER_MAX)
      return header._tag === "Fields" && authorOf(header.fields)
    }
    expectLinear({ make: (size) => Buffer.from(`From: ${make(size)}`, "latin1"), read, sizeMaxBytes: HEADER_MAX })
  })
})

const FIELDS = "From: Ada <ada@sender.test>\r\nTo: bob@agents.test\r\n"
const inField = (name: string) => (text: string) => `${name}: ${text}\r\n${FIELDS}\r\nx`

/** The parts of a mail in which a stranger can put any text, the shapes of the text, and the sizes that are read. */
const PLACES: ReadonlyArray<readonly [string, number, ReadonlyArray<Shape>, (text: string) => string]> = [
  ["body", BODY_MAX, hostileText, (text) => `${FIELDS}\r\n${text}`],
  [
    "HTML beside a text",
    BODY_MAX,
    [["links", (size) => "<div><a href=".repeat(size / 13)], ...hostileHtml.slice(0, 4)],
    (html) =>
      `${FIELDS}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhi\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--\r\n`
  ],
  ...["To", "Subject", "References", "Content-Type", "Message-ID"].map(
    (name) => [name, HEADER_MAX, hostileFields, inField(name)] as const
  ),
  [
    "part",
    BODY_MAX,
    hostileFields,
    (text) => `${FIELDS}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nX: ${text}\r\n--b--\r\n`
  ]
]

describe.each(PLACES)("a mail whose %s is hostile", (_, sizeMaxBytes, shapes, write) => {
  it.each(shapes)("is read in time that grows with its size: %s", async (_name, make) => {
    const read = (raw: Uint8Array) => readMail(raw).catch(() => undefined)
    await expectLinearAsync({ make: (size) => Buffer.from(write(make(size)), "latin1"), read, sizeMaxBytes })
  })
})

/** Returns a stream of TNEF with as many files as bytes have room, and most of the bytes in the last one. */
const tnefOf = (size: number): Buffer => {
  const attribute = (id: number, bytes: Uint8Array) => {
    const head = Buffer.alloc(9)
    head.writeUInt8(2)
    head.writeUInt32LE(id, 1)
    head.writeUInt32LE(bytes.length, 5)
    return [head, bytes, Buffer.alloc(2)]
  }
  const file = (bytes: Uint8Array) => [...attribute(0x00069002, Buffer.alloc(14)), ...attribute(0x0006800f, bytes)]
  const files = Array.from({ length: Math.min(190, size >> 12) }, () => file(Buffer.from("x")))
  return Buffer.concat([Buffer.from("789f3e220100", "hex"), ...files.flat(), ...file(Buffer.alloc(size >> 1))])
}

describe("a mail with winmail.dat", () => {
  it("is read in time that grows with its size, however many files are inside", async () => {
    const make = (size: number) =>
      Buffer.from(
        `${FIELDS}Content-Type: application/ms-tnef\r\nContent-Transfer-Encoding: base64\r\n\r\n${tnefOf(size).toString("base64")}\r\n`
      )
    await expectLinearAsync({ make, read: readMail, sizeMaxBytes: 8 * BODY_MAX })
  })
})

describe.each(["From", "DKIM-Signature", "X-Other"])("a sender whose %s is hostile", (name) => {
  const envelope = {
    mailFrom: "ada@sender.test",
    rcptTo: ["bob@agents.test"],
    remoteAddress: "192.0.2.1",
    helo: "sender.test",
    secure: true
  }
  const settings = { hostName: "mx.agents.test", dns: { _tag: "Zone", records: [] }, dnsMillis: 5_000 } as const
  const signed = name === "DKIM-Signature" ? "v=1; a=rsa-sha256; s=s; b=a; bh=a; h=from; d=" : ""

  // Marks beyond ASCII, which normalization sorts.
  const marks: Shape = ["repeated marks", (size) => Buffer.from("\u0301\u0327".repeat(size / 4)).toString("latin1")]
  it.each([...hostileFields, marks])("is checked in time that grows with its size: %s", async (_, make) => {
    await expectLinearAsync({
      make: (size) => Buffer.from(inField(name)(signed + make(size)), "latin1"),
      read: (raw) => authenticateSender(raw, envelope, settings),
      sizeMaxBytes: FIELD_MAX
    })
  })
})
