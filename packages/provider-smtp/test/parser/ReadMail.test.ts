import PostalMime from "postal-mime"
import { describe, expect, it } from "vitest"
import { readMail } from "../../src/parser/ReadMail.ts"

/** Returns the bytes of a mail; text is UTF-8 unless it is bytes. */
const mailOf = (header: string, body: string | Uint8Array = "x\n"): Uint8Array =>
  Buffer.concat([
    Buffer.from(`From: Bob <bob@outside.test>\nMIME-Version: 1.0\n${header}\n\n`.replaceAll("\n", "\r\n"), "utf8"),
    typeof body === "string" ? Buffer.from(body.replaceAll("\n", "\r\n"), "utf8") : body
  ])

const latin1 = (text: string): Uint8Array => Buffer.from(text.replaceAll("\n", "\r\n"), "latin1")
const read = (header: string, body?: string | Uint8Array) => readMail(mailOf(header, body))
const inParts = (type: string, ...parts: ReadonlyArray<string>) =>
  read(`Content-Type: ${type}; boundary=b`, `${parts.map((part) => `--b\n${part}`).join("")}--b--\n`)
const filesOf = ({ attachments }: Awaited<ReturnType<typeof readMail>>) => attachments.map(({ filename }) => filename)

const BODY = "Content-Type: text/plain\n\nPlease import.\n"

describe("a text part with a name", () => {
  it.each([
    ["inline with a filename", 'Content-Type: text/plain\nContent-Disposition: inline; filename="a.txt"', "a.txt"],
    ["with a name alone", 'Content-Type: text/plain; name="a.csv"', "a.csv"],
    ["HTML inline", 'Content-Type: text/html; name="a.html"\nContent-Disposition: inline', "a.html"],
    ["with a name in pieces", "Content-Type: text/plain; name*0*=utf-8''gr%C3%BC; name*1=n.txt", "grün.txt"],
    ["with a raw name", "Content-Type: text/plain; name=grün.txt", "grün.txt"],
    [
      "with an encoded name, split in a character",
      'Content-Disposition: inline; filename="=?utf-8?Q?gr=C3?=\n =?utf-8?Q?=BCn.txt?="',
      "grün.txt"
    ],
    ["a patch", "Content-Type: text/x-patch; name=a.patch", "a.patch"],
    ["an invitation", "Content-Type: text/calendar; name=a.ics; method=REQUEST", "a.ics"]
  ])("is a file: %s", async (_, header, filename) => {
    const mail = await inParts("multipart/mixed", BODY, `${header}\n\na,b\n`)
    expect(mail.text).toBe("Please import.\n")
    expect(mail.html).toBeNull()
    expect(filesOf(mail)).toEqual([filename])
  })

  it("is text too if it is the whole mail, or the first part of one without other text", async () => {
    for (const header of [
      "Content-Type: text/plain; name=report.txt",
      'Content-Disposition: attachment; filename="report.txt"'
    ]) {
      const mail = await read(header, "all good\n")
      expect(mail).toMatchObject({ text: "all good\n", attachments: [{ filename: "report.txt", sizeBytes: 10 }] })
    }
    const first = await inParts(
      "multipart/mixed",
      "Content-Type: text/plain; name=body.txt\n\nthe text\n",
      "Content-Type: text/plain; name=log.txt\n\nthe log\n"
    )
    expect(first.text).toBe("the text\n")
    expect(filesOf(first)).toEqual(["body.txt", "log.txt"])
  })

  it("is a form of the text in multipart/alternative", async () => {
    const mail = await inParts(
      "multipart/alternative",
      "Content-Type: text/plain; name=a.txt\n\nplain\n",
      "Content-Type: text/html; name=a.html\n\n<p>html</p>\n"
    )
    expect(mail).toMatchObject({ text: "plain\n", html: "<p>html</p>\n", attachments: [] })
  })

  it("does not take the place of a later text, however long it is", async () => {
    const long = "a,b\n".repeat(1_300_000)
    const mail = await inParts("multipart/mixed", `Content-Type: text/plain; name=a.csv\n\n${long}`, BODY)
    expect(mail).toMatchObject({ text: "Please import.\n", truncated: false })
    expect(filesOf(mail)).toEqual(["a.csv"])
  })
})

it("lists the messages of a digest, which have no type of their own", async () => {
  const of = (subject: string) => `\nFrom: a@b.test\nSubject: ${subject}\n\nbody\n`
  const mail = await inParts("multipart/digest", of("one"), of("=?utf-8?Q?2/3_gr=C3=BCn?="), of(""))
  expect(mail.attachments.map(({ contentType, filename }) => [contentType, filename])).toEqual([
    ["message/rfc822", "one.eml"],
    ["message/rfc822", "2 3 grün.eml"],
    ["message/rfc822", null]
  ])
  expect(mail.text).toBeNull()
})

describe("format=flowed", () => {
  const flowed = async (body: string, more = "") =>
    (await read(`Content-Type: text/plain; charset=utf-8; format=flowed${more}`, body)).text

  it.each([
    ["joins the lines of a paragraph", "Send it to \nthe new \naddress.\n", "Send it to the new address.\n"],
    ["ends a quote before the text of the author", "> Which size? \nLarge.\n", "> Which size?\nLarge.\n"],
    ["joins lines of one quote", "> Which size and \n> colour?\n\nBlue.\n", "> Which size and colour?\n\nBlue.\n"],
    ["keeps quotes of other depths apart", ">> one \n> two \nthree\n", ">> one\n> two\nthree\n"],
    ["counts marks with spaces", "> > one \n> > two\n", ">> one two\n"],
    ["keeps an empty line", "one \n\ntwo\n", "one\n\ntwo\n"],
    ["keeps an empty line of a quote", "> one \n>\n> two\n", "> one\n>\n> two\n"],
    ["keeps a signature", "one \n-- \nBob \nDoe\n", "one\n-- \nBob Doe\n"],
    ["keeps a quoted signature", "> -- \n> Bob\n", "> -- \n> Bob\n"],
    ["removes the stuffed space", " From here\n  two spaces\n", "From here\n two spaces\n"],
    ["makes no quote of a stuffed mark", " > 3 is more\n", " > 3 is more\n"]
  ])("%s", async (_, body, text) => {
    expect(await flowed(body)).toBe(text)
  })

  it("removes the space with DelSp", async () => {
    expect(await flowed("the new add \nress  \nhere\n", "; DelSp=yes")).toBe("the new address here\n")
  })
})

describe("the charset of a text", () => {
  const words = "Grüße aus Köln, 5 €"
  const text = async (charset: string, body: string | Uint8Array) =>
    (await read(`Content-Type: text/plain${charset}\nContent-Transfer-Encoding: 8bit`, body)).text?.trim()

  it.each(["us-ascii", "unknown-8bit", "x-unknown", "x-user-defined", "utf8mb4", "utf-8", "UTF8", "nonsense", '""'])(
    "is UTF-8 if it is valid, with the label %s",
    async (label) => {
      expect(await text(`; charset=${label}`, words)).toBe(words)
    }
  )

  it("is UTF-8 or windows-1252 without a label, or with UTF-8 for text that has none of it", async () => {
    expect(await text("", words)).toBe(words)
    for (const charset of ["", "; charset=us-ascii", "; charset=utf-8", "; charset=x-unknown"])
      expect(await text(charset, latin1("Grüße\x85"))).toBe("Grüße…")
  })

  it.each<readonly [string, ReadonlyArray<number>, string]>([
    ["iso-8859-1", [0xc3, 0xbc], "Ã¼"],
    ["iso-8859-2", [0xb1], "ą"],
    ["windows-1251", [0xcf, 0xf0, 0xe8], "При"],
    ["cp1250", [0x8a], "Š"],
    ["koi8-r", [0xf0, 0xd2, 0xc9], "При"],
    ["gb2312", [0xe9, 0x46], "镕"],
    ["GB18030", [0xbb, 0xe1], "会"],
    ["big5", [0xb7, 0x7c], "會"],
    ["shift_jis", [0x89, 0xef], "会"],
    ["cp932", [0x89, 0xef], "会"],
    ["euc-kr", [0xc8, 0xb8], "회"],
    ["ks_c_5601-1987", [0xc8, 0xb8], "회"],
    ["iso-2022-jp", [...Buffer.from("\u001b$B2q5D\u001b(B")], "会議"],
    ["iso-2022-jp-ms", [...Buffer.from("\u001b$B2q5D\u001b(B")], "会議"],
    ["us-ascii", [...Buffer.from("\u001b$B2q5D\u001b(B")], "会議"],
    ["utf-7", [...Buffer.from("Gr+APwA3w-e")], "Grüße"],
    ["cp850", [0x47, 0x72, 0x81], "Grü"],
    ["x-mac-roman", [0x9f], "ü"],
    ["utf-16", [...Buffer.from("plain")], "plain"]
  ])("is that of the label %s", async (label, bytes, expected) => {
    expect(await text(`; charset=${label}`, Uint8Array.from(bytes))).toBe(expected)
  })

  it.each([
    ["big-endian without a mark", [0, 0x48, 0, 0xe9, 0x26, 0x3a], "Hé☺"],
    ["little-endian without a mark", [0x48, 0, 0xe9, 0, 0x3a, 0x26], "Hé☺"],
    ["big-endian with a mark", [0xfe, 0xff, 0x26, 0x3a], "☺"],
    ["little-endian with a mark", [0xff, 0xfe, 0x3a, 0x26], "☺"],
    // RFC 2781, section 4.3.
    ["of unknown order", [0x90, 0x4e], "過"]
  ])("of UTF-16 is %s", async (_, bytes, expected) => {
    const encoded = Buffer.from(bytes).toString("base64")
    const field = "Content-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64"
    expect((await read(field, Buffer.from(encoded))).text?.trim()).toBe(expected)
  })

  it("of HTML is that of its meta element, if nothing else says it", async () => {
    const html = async (type: string, meta: string, body: Uint8Array) =>
      (await read(`Content-Type: text/html${type}`, Buffer.concat([latin1(meta), body]))).text
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">'
    const letters = Uint8Array.from([0xf0, 0xd2, 0xc9])
    for (const meta of [old, "<META CHARSET=KOI8-R />", "<html><head><meta charset = 'koi8-r'>"])
      expect(await html("", meta, letters)).toBe("При")
    expect(await html("; charset=windows-1251", old, Uint8Array.from([0xcf]))).toBe("П")
    expect(await html("", '<meta charset="iso-8859-1">', Buffer.from("Grüße"))).toBe("Grüße")
  })
})

describe("an address in a header", () => {
  it.each(["<mailto:bob@else.test>", "'bob@else.test'", "bob@else.test.", "Bob [bob@else.test]", "<<bob@else.test>>"])(
    "is read from %s",
    async (written) => {
      const { replyTo } = await read(`Reply-To: ${written}`)
      expect(replyTo).toEqual(["bob@else.test"])
    }
  )

  // RFC 5322, sections 3.4 and 4.4, and what programs write.
  it.each([
    ["Team: ada@a.test, Bob <bob@b.test>;, carol@c.test", ["ada@a.test", "Bob <bob@b.test>", "carol@c.test"]],
    ["undisclosed-recipients:;", []],
    ["<@relay.test,@x.test:bob@b.test>", ["bob@b.test"]],
    ["Bob <@relay.test:bob@b.test>, ada@a.test", ["Bob <bob@b.test>", "ada@a.test"]],
    ['"a,b"@a.test, ada@a.test', ['"a,b"@a.test', "ada@a.test"]],
    ["bob@b.test (Bob (the builder)), ada@a.test", ["Bob (the builder) <bob@b.test>", "ada@a.test"]],
    ["bob@(at home, today)b.test", ["at home, today <bob@b.test>"]],
    ["bob . smith @ b . test, John Q. Public <john@b.test>", ["bob.smith@b.test", "John Q. Public <john@b.test>"]],
    ["=?utf-8?Q?Doe,_Bob?= <bob@b.test>", ["Doe, Bob <bob@b.test>"]],
    ["Doe, Bob <bob@b.test>", ["Bob <bob@b.test>"]],
    ["ada@a.test; bob@b.test;", ["ada@a.test", "bob@b.test"]]
  ])("is read from the list %s", async (written, expected) => {
    const { to } = await read(`To: ${written}`)
    expect(to.map(({ address, name }) => (name === null ? address : `${name} <${address}>`))).toEqual(expected)
  })

  it("takes time in proportion to the length of its list", async () => {
    for (const part of ["(", '"', '"a"', "<", "=?a?q?", "(a)", "a:", "<@", "a@b.test,", '"\\', ".@ "])
      expect(await read(`To: ${part.repeat(50_000 / part.length)}`)).toHaveProperty("to")
  })
})

describe("text in a header", () => {
  const subject = async (value: string | Uint8Array, more = "") => {
    const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value
    const { attachments: _, ...mail } = await readMail(
      Buffer.concat([Buffer.from("From: b@c.test\r\nSubject: "), bytes, Buffer.from(`\r\n${more}\r\nx`)])
    )
    return mail.subject
  }
  const word = (text: string, from: number, to?: number, charset = "UTF-8") =>
    `=?${charset}?B?${Buffer.from(text).subarray(from, to).toString("base64")}?=`

  it("is UTF-8, that of the mail's charset, or windows-1252", async () => {
    expect(await subject("Grüße, 5 €")).toBe("Grüße, 5 €")
    expect(await subject(Buffer.from("Grüße", "latin1"))).toBe("Grüße")
    const cyrillic = Uint8Array.from([0xf0, 0xd2, 0xc9])
    expect(await subject(cyrillic, "Content-Type: text/plain; charset=koi8-r\r\n")).toBe("При")
  })

  it("has whole characters, wherever its encoded words were split", async () => {
    const words = "会議のお知らせ"
    for (const at of [1, 2, 7, 8])
      for (const space of [" ", "\r\n ", ""])
        expect(await subject(`${word(words, 0, at)}${space}${word(words, at)}`)).toBe(words)
    expect(await subject("=?utf-8?Q?pasi=C5=BEad=C4?=\r\n =?UTF-8?q?=97jim=C5=B3?=")).toBe("pasižadėjimų")
    expect(await subject(`${word("ü", 0, 1)} =?utf-8?q?=BC?=!`)).toBe("ü!")
  })

  it.each([
    ["=?utf-8?q?caf=c3=a9 noir_x?=", "café noir x"],
    ["=?utf-8?B?R3LDvA?=", "Grü"],
    ["=?utf-8*de?b?R3LDvA==?=", "Grü"],
    ["=?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?Q?_=C3=BC?=", "Grüße ü"],
    ["=?us-ascii?Q?Gr=C3=BC?=", "Grü"],
    ["Re:=?utf-8?Q?Gr=C3=BC?=!", "Re:Grü!"],
    ["=?ISO-2022-JP?B?GyRCMnE1RBsoQg==?=", "会議"],
    ["=?gb2312?B?6UY=?=", "镕"],
    ["=?utf-8?Q?open", "=?utf-8?Q?open"],
    ["a =?b c?= d", "a =?b c?= d"]
  ])("%s is %s", async (value, expected) => {
    expect(await subject(value)).toBe(expected)
  })

  it("takes time in proportion to its length", async () => {
    for (const part of ["=?utf-8?q?a", "=?a?b?", "=?", "?=", "=?utf-8?q?=C3?= ", "=?x?q?"])
      expect(await subject(part.repeat(200_000 / part.length))).toBeTypeOf("string")
  })

  it("names the author, also in a domain with letters outside ASCII", async () => {
    const of = async (from: string | Uint8Array) =>
      (await readMail(Buffer.concat([Buffer.from("From: "), Buffer.from(from), Buffer.from("\r\n\r\nx")]))).from
    const address = "jürgen@xn--mller-kva.test"
    for (const from of ["Jürgen <jürgen@müller.test>", "=?utf-8?Q?J=C3?= =?utf-8?Q?=BCrgen?= <jürgen@müller.test>"])
      expect(await of(from)).toEqual({ address, name: "Jürgen" })
    expect(await of(latin1("J\xfcrgen: Sales <b@c.test>"))).toEqual({ address: "b@c.test", name: "Jürgen: Sales" })
  })

  it("names recipients, whose commas are not those of the list", async () => {
    const mail = await read(
      'To: =?utf-8?Q?M=C3?=\n =?utf-8?Q?=BCller=2C_Bob?= <b@c.test>, "=?utf-8?b?w7w=?=" <d@e.test>'
    )
    expect(mail.to).toEqual([
      { address: "b@c.test", name: "Müller, Bob" },
      { address: "d@e.test", name: "ü" }
    ])
  })
})

describe("the links of a mail", () => {
  const linksOf = async (type: string, body: string) => (await read(`Content-Type: ${type}`, body)).links
  const html = (body: string) => linksOf("text/html; charset=utf-8", body)

  it("are those of its HTML, in order, each address once", async () => {
    expect(
      await html(
        '<a href="https://a.test/x?a=1&amp;b=2">Open\n the  <b>page</b></a> <a href="mailto:b@c.test">write</a>' +
          '<a href="https://a.test/x?a=1&amp;b=2">again</a><a href="javascript:x()">no</a><a href="cid:1">no</a><a href="#x">no</a>' +
          '<a href="https://b.test"><img src="x" alt="Shop"></a><map><area href="tel:+12" alt="call"></map>'
      )
    ).toEqual([
      { text: "Open the page", url: "https://a.test/x?a=1&b=2" },
      { text: "write", url: "mailto:b@c.test" },
      { text: "Shop", url: "https://b.test/" },
      { text: "call", url: "tel:+12" }
    ])
  })

  it("have a text if one of the same address has it, and no address that is too long", async () => {
    const long = `https://a.test/${"x".repeat(2_000)}`
    expect(
      await html(
        `<a href="https://a.test/"></a><a href="https://a.test/">A${"b".repeat(300)}</a><a href="${long}">long</a>`
      )
    ).toEqual([{ text: `A${"b".repeat(199)}`, url: "https://a.test/" }])
  })

  it("are read from the address that base names", async () => {
    expect(await html('<base href="https://a.test/b/"><a href="../c?d">go</a>')).toEqual([
      { text: "go", url: "https://a.test/c?d" }
    ])
  })

  it("are those of the text without HTML, or with HTML without any", async () => {
    const text =
      "See https://a.test/x_(y), (https://b.test/z). 请点击https://c.test/q。谢谢 <mailto:d@e.test> ftp://no.test tel: https://a.test/x_(y)\n"
    const links = [
      { text: "https://a.test/x_(y)", url: "https://a.test/x_(y)" },
      { text: "https://b.test/z", url: "https://b.test/z" },
      { text: "https://c.test/q", url: "https://c.test/q" },
      { text: "mailto:d@e.test", url: "mailto:d@e.test" }
    ]
    expect(await linksOf("text/plain; charset=utf-8", text)).toEqual(links)
    expect(await html(text.replaceAll(/[<>]/g, " "))).toEqual(links)
    expect(await linksOf("text/plain", "none\n")).toEqual([])
  })

  it("are at most 100, found in time in proportion to the text", async () => {
    const many = Array.from({ length: 150 }, (_, index) => `https://a.test/${index}`)
    expect(await linksOf("text/plain", many.join("\n"))).toHaveLength(100)
    expect(await html(many.map((url) => `<a href="${url}">x</a>`).join("\n"))).toHaveLength(100)
    for (const part of ["https://", `https://a.test/${")".repeat(1_900)} `, "mailto:", "(".repeat(100)])
      expect((await linksOf("text/plain", part.repeat(1_000_000 / part.length)))?.length).toBeLessThan(2)
  })
})

describe("the text of HTML", () => {
  const shown = async (body: string) => (await read("Content-Type: text/html; charset=utf-8", body)).text

  it.each([
    ["a preview", '<div style="display:none;font-size:1px">Preview <div>of it</div></div><p>Text</p>', "Text"],
    ["an attribute", "<span hidden>Preview</span>Text", "Text"],
    [
      "a row",
      '<table><tr style="DISPLAY : NONE !important"><td><table><tr><td>x</td></tr></table></td></tr><tr><td>Text</td></tr></table>',
      "Text"
    ],
    ["a paragraph without an end", '<p style="display:none">Preview<p>Text', "Text"],
    ["a clipped block", '<div style="max-height:0px;overflow:hidden">Preview</div>Text', "Text"],
    ["a transparent block", '<div style="opacity:0">Preview</div><b style="opacity:0.5">Text</b>', "Text"],
    ["a picture", '<img style="display:none" alt="dot">Text', "Text"],
    ["a style in it", '<div style="display:none"><style>p { }</div></style>x</div>Text', "Text"]
  ])("leaves out what %s hides", async (_, body, text) => {
    expect(await shown(body)).toBe(text)
  })

  it("has all text if a hidden element does not end, or nothing else is there", async () => {
    expect(await shown('<div style="display:none">Preview<p>Text</p>')).toBe("Preview\n\nText")
    expect(await shown('<div style="display:none">All</div>')).toBe("All")
  })

  it("takes time in proportion to its length", async () => {
    for (const part of ['<div style="display:none">', "<p hidden>", "</div>", `<a style="${";".repeat(500)}">`])
      expect((await read("Content-Type: text/html", part.repeat(1_000_000 / part.length))).text).toBeNull()
  })
})

it.each([
  ["<a@x>,<b@y>", ["<a@x>", "<b@y>"]],
  ["a@x b@y", ["<a@x>", "<b@y>"]],
  ["a@x", ["<a@x>"]],
  ["Your message of Monday to a@x", []]
])("reads the Message-IDs of %j", async (value, ids) => {
  const mail = await read(`In-Reply-To: ${value}\nReferences: ${value}`)
  expect([mail.references, mail.inReplyTo]).toEqual([ids, ids[0] ?? null])
})

it("tells two pictures with one name apart", async () => {
  const picture = (header: string) => `Content-Type: image/png; name="image001.png"\n${header}\n\nx\n`
  const mail = await inParts(
    "multipart/related",
    'Content-Type: text/html\n\n<img src="cid:a1@x">\n',
    picture('Content-ID: <a1@x>\nContent-Disposition: inline; filename="image001.png"'),
    picture("Content-ID: <b2@x>"),
    picture("Content-ID: c3@x\nContent-Disposition: attachment"),
    picture(`Content-ID: <${"d".repeat(300)}>\nContent-Disposition: form-data`),
    picture("X-Other: 1")
  )
  expect(mail.attachments.map(({ contentId, disposition }) => [contentId, disposition])).toEqual([
    ["a1@x", "inline"],
    ["b2@x", "inline"],
    ["c3@x", "attachment"],
    [null, "attachment"],
    [null, "attachment"]
  ])
})

it("tells mails with one Message-ID and body apart by author, subject and date", async () => {
  const hashOf = async (header: string) => (await read(header)).headerHash
  const first = await hashOf("Subject: a\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nReceived: x")
  expect(await hashOf("Received: y\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nSubject:\n a")).toBe(first)
  expect(await hashOf("Subject: b\nDate: Mon, 1 Jan 2024 00:00:00 +0000")).not.toBe(first)
  expect(await hashOf("Subject: a\nDate: Mon, 1 Jan 2024 00:00:01 +0000")).not.toBe(first)
})

/** These fail when postal-mime has fixed a fault that this package repairs. */
describe("postal-mime 4.0.0 still", () => {
  const parse = (header: string, body: string | Uint8Array = "x\n") => PostalMime.parse(mailOf(header, body))

  it("joins flowed lines of different quotes", async () => {
    const { text } = await parse("Content-Type: text/plain; format=flowed", "> Which size? \nLarge.\n")
    expect(text).toBe("> Which size? Large.\n")
  })

  it("trusts the label of UTF-8 that says US-ASCII, and no meta element", async () => {
    expect((await parse("Content-Type: text/plain; charset=us-ascii", "ü\n")).text).toBe("Ã¼\n")
    expect((await parse("Content-Type: text/html", latin1('<meta charset="iso-8859-1">ü'))).html).toContain("\ufffd")
  })

  it("loses raw Latin-1 in a header, and characters that padded words split", async () => {
    const raw = Buffer.concat([Buffer.from("Subject: "), latin1("ü"), Buffer.from("\r\n\r\nx")])
    expect((await PostalMime.parse(raw)).subject).toBe("\ufffd")
    expect((await parse("Subject: =?utf-8?B?ww==?= =?utf-8?B?vA==?=")).subject).toBe("\ufffd\ufffd")
  })

  it("gives a named text to the text", async () => {
    const mail = await parse(
      "Content-Type: multipart/mixed; boundary=b",
      `--b\n${BODY}\n--b\nContent-Type: text/plain; name=a.csv\n\na,b\n--b--\n`
    )
    expect(mail.attachments).toEqual([])
  })
})
