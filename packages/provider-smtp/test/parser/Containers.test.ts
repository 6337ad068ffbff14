import { sourceDecoder } from "@agentos/core/transfer-encoding"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { readMail } from "../../src/parser/ReadMail.ts"
import { readTnef } from "../../src/parser/Tnef.ts"

const mailOf = (type: string, content: Uint8Array, before = "", after = ""): Uint8Array => {
  const encoded = Buffer.from(content).toString("base64").replaceAll(/.{76}/g, "$&\r\n")
  const part = `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}\r\n`
  const header = "From: Bob <bob@outside.test>\r\nMIME-Version: 1.0\r\n"
  if (before === "" && after === "") return Buffer.from(`${header}${part}`)
  const text = (each: string) => (each === "" ? "" : `--o\r\nContent-Type: text/plain\r\n\r\n${each}\r\n`)
  return Buffer.from(
    `${header}Content-Type: multipart/mixed; boundary=o\r\n\r\n${text(before)}--o\r\n${part}${text(after)}--o--\r\n`
  )
}

/** Reads a mail, and its files as the service reads them: from their place, in pieces. */
const readWhole = async (raw: Uint8Array) => {
  const mail = await readMail(raw)
  const files = mail.attachments.map(({ contentType, filename, sha256, sizeBytes, source }) => {
    const { encodedBytes, offset } = source!
    const decoder = sourceDecoder(source!)
    const pieces: Array<Uint8Array> = []
    for (let at = offset; at < offset + encodedBytes; at += 7)
      pieces.push(decoder.decode(raw.subarray(at, Math.min(at + 7, offset + encodedBytes))))
    const content = Buffer.concat([...pieces, decoder.end()])
    expect([sizeBytes, sha256]).toEqual([content.length, createHash("sha256").update(content).digest("hex")])
    return { filename, contentType, content: content.toString("latin1") }
  })
  return { ...mail, files }
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex")

describe("opaque S/MIME", () => {
  const SIGNED = "06092a864886f70d010702"
  const DATA = "06092a864886f70d010701"
  const CONTENT = Buffer.from(
    [
      "Content-Type: multipart/mixed; boundary=i",
      "",
      "--i",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      "Gr=C3=BC=C3=9Fe",
      "--i",
      "Content-Type: application/pdf; name=a.pdf",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from("the file").toString("base64"),
      "--i--",
      ""
    ].join("\r\n")
  )

  const der = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
    const content = Buffer.concat(contents)
    return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content])
  }
  const signer = hex("3100")
  const inDer = (content: Uint8Array, id = SIGNED) =>
    der(
      0x30,
      hex(id),
      der(0xa0, der(0x30, hex("020101 3100"), der(0x30, hex(DATA), der(0xa0, der(0x04, content))), signer))
    )
  /** Writes the content in strings of some bytes, with indefinite lengths, as openssl does to a stream. */
  const inBer = (content: Uint8Array, pieceBytes: number) => {
    const pieces: Array<Uint8Array> = []
    for (let at = 0; at < content.length; at += pieceBytes)
      pieces.push(der(0x04, content.subarray(at, at + pieceBytes)))
    return Buffer.concat([
      hex(`3080 ${SIGNED} a080 3080 020101 3100 3080 ${DATA} a080 2480`),
      ...pieces,
      hex("0000 0000 0000 3100 0000 0000 0000")
    ])
  }

  it.each([
    ["DER", inDer(CONTENT)],
    ["BER in pieces of 10 bytes", inBer(CONTENT, 10)],
    ["BER in one piece", inBer(CONTENT, 10_000)],
    [
      "two signatures",
      inDer(Buffer.concat([Buffer.from("Content-Type: application/pkcs7-mime\r\n\r\n"), inDer(CONTENT)]))
    ]
  ])("is read as the mail that was signed: %s", async (name, message) => {
    const mail = await readWhole(mailOf("application/pkcs7-mime; smime-type=signed-data; name=smime.p7m", message))
    expect(mail.text).toBe("Grüße\n")
    expect(mail.files.length).toBe(name === "two signatures" ? 3 : 2)
    expect(mail.files[0]).toMatchObject({ filename: "smime.p7m", content: message.toString("latin1") })
    expect(mail.files.at(-1)).toEqual({ filename: "a.pdf", contentType: "application/pdf", content: "the file" })
  })

  it("keeps the footer of a mailing list, and opens a file that only its name tells", async () => {
    const type = "application/octet-stream; name=smime.p7m"
    expect((await readMail(mailOf(type, inDer(CONTENT), "", "-- list"))).text).toBe("Grüße\n\n-- list\n")
    expect((await readMail(mailOf(type, inDer(CONTENT), "warning", ""))).text).toBe("warning\n\nGrüße\n")
  })

  it("stays a file whose type says so if it is encrypted, or if it is malformed", async () => {
    const encrypted = inDer(CONTENT, "06092a864886f70d010703")
    expect(await readWhole(mailOf("application/pkcs7-mime; name=smime.p7m", encrypted))).toMatchObject({
      text: null,
      files: [{ filename: "smime.p7m", contentType: "application/pkcs7-mime; smime-type=enveloped-data" }]
    })
    const whole = inBer(CONTENT, 10)
    for (const end of [0, 1, 20, 40, 60, whole.length - 14]) {
      const mail = await readMail(mailOf("application/pkcs7-mime; name=smime.p7m", whole.subarray(0, end)))
      expect(mail.attachments[0]?.filename).toBe("smime.p7m")
      expect(mail.text).toBeNull()
    }
  })

  it("is opened eight times in a mail, and three times inside itself", async () => {
    const inMime = (message: Uint8Array) =>
      Buffer.concat([Buffer.from("Content-Type: application/pkcs7-mime\r\n\r\n"), message])
    let nested = inDer(CONTENT)
    for (let each = 0; each < 5; each++) nested = inDer(inMime(nested))
    const mail = await readMail(mailOf("application/pkcs7-mime", nested))
    expect(mail.text).toBeNull()
    expect(mail.attachments.length).toBe(4)
  })
})

describe("winmail.dat", () => {
  const uint16 = (value: number) => Buffer.from([value & 0xff, value >> 8])
  const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  const attribute = (id: number, content: Uint8Array) =>
    Buffer.concat([
      Buffer.of(1),
      uint32(id),
      uint32(content.length),
      content,
      uint16(content.reduce((sum, byte) => (sum + byte) & 0xffff, 0))
    ])
  const padded = (content: Uint8Array) => Buffer.concat([content, Buffer.alloc((4 - (content.length % 4)) % 4)])
  const property = (id: number, type: number, content: Uint8Array) =>
    Buffer.concat([uint16(type), uint16(id), uint32(1), uint32(content.length), padded(content)])
  const unicode = (id: number, text: string) => property(id, 0x1f, Buffer.from(`${text}\0`, "utf16le"))
  const properties = (...all: ReadonlyArray<Uint8Array>) => Buffer.concat([uint32(all.length), ...all])
  const NUMBER = Buffer.concat([uint16(3), uint16(0x3705), uint32(1)])
  const NAMED = Buffer.concat([
    uint16(0x1f),
    uint16(0x8001),
    Buffer.alloc(16),
    uint32(1),
    uint32(6),
    Buffer.from("a\0b\0\0\0\0\0"),
    uint32(1),
    uint32(4),
    Buffer.from("x\0\0\0")
  ])
  const tnef = (...attributes: ReadonlyArray<Uint8Array>) =>
    Buffer.concat([uint32(0x223e9f78), uint16(1), attribute(0x00069007, uint32(1252)), ...attributes])
  const file = (title: string, content: string, ...more: ReadonlyArray<Uint8Array>) => [
    attribute(0x00069002, Buffer.alloc(14)),
    attribute(0x00018010, Buffer.from(`${title}\0`, "latin1")),
    attribute(0x0006800f, Buffer.from(content)),
    attribute(0x00069005, properties(NUMBER, NAMED, ...more))
  ]
  const FILES = [
    ...file("GRN~1.TXT", "one", unicode(0x3707, "grün.txt"), unicode(0x370e, "text/plain")),
    ...file("bücher.pdf", "two", unicode(0x3712, "logo@x"))
  ]

  it("lists its files with names, types, contents and Content-IDs, and itself", async () => {
    const stream = tnef(...FILES)
    for (const type of ["application/ms-tnef; name=winmail.dat", "application/octet-stream; name=WINMAIL.DAT"]) {
      const mail = await readWhole(mailOf(type, stream, "See the files"))
      expect(mail.text).toBe("See the files\n")
      expect(mail.files.slice(1)).toEqual([
        { filename: "grün.txt", contentType: "text/plain", content: "one" },
        { filename: "bücher.pdf", contentType: "application/octet-stream", content: "two" }
      ])
      expect(mail.files[0]).toMatchObject({ content: stream.toString("latin1") })
      expect(mail.attachments.map(({ contentId, disposition }) => [contentId, disposition])).toEqual([
        [null, "attachment"],
        [null, "attachment"],
        ["logo@x", "inline"]
      ])
    }
  })

  it("is the text of a mail without another", async () => {
    const plain = await readMail(
      mailOf("application/ms-tnef", tnef(attribute(0x0002800c, Buffer.from("Gr\xfc\xdfe\0", "latin1"))))
    )
    expect(plain).toMatchObject({ text: "Grüße", html: null })
    const html = property(0x1013, 0x102, Buffer.from("<p>Hello <b>Ada</b></p>"))
    const both = tnef(attribute(0x00069003, properties(NAMED, html)))
    expect(await readMail(mailOf("application/ms-tnef", both))).toMatchObject({
      text: "Hello Ada",
      html: "<p>Hello <b>Ada</b></p>"
    })
    expect(await readMail(mailOf("application/ms-tnef", both, "mine"))).toMatchObject({ text: "mine\n", html: null })
  })

  it("lists a message inside it, and the files of that", async () => {
    const inner = tnef(...file("b.txt", "inner"))
    const object = property(0x3701, 0x0d, Buffer.concat([Buffer.alloc(16), inner]))
    const outer = tnef(
      attribute(0x00069002, Buffer.alloc(14)),
      attribute(0x00069005, properties(object, unicode(0x3001, "Offer")))
    )
    expect((await readWhole(mailOf("application/ms-tnef; name=winmail.dat", outer))).files.slice(1)).toEqual([
      { filename: "Offer", contentType: "application/ms-tnef", content: inner.toString("latin1") },
      { filename: "b.txt", contentType: "application/octet-stream", content: "inner" }
    ])
  })

  it("is read up to where it is cut, and never beyond", () => {
    const stream = tnef(...FILES, attribute(0x00069003, properties(NAMED, unicode(0x1000, "text"))))
    for (let end = 0; end < stream.length; end++) {
      for (const { place } of readTnef(stream.subarray(0, end))?.files ?? [])
        expect(place.offset + place.encodedBytes).toBeLessThanOrEqual(end)
    }
    for (let at = 6; at <= stream.length - 4; at++) {
      const damaged = Buffer.from(stream)
      damaged.fill(0xff, at, at + 4)
      for (const { place } of readTnef(damaged)?.files ?? [])
        expect(place.offset + place.encodedBytes).toBeLessThanOrEqual(stream.length)
    }
  })
})
