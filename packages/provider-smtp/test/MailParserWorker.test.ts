import { makeDecoder } from "@agentos/core/transfer-encoding"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Result, Stream } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { envelope, HEADER, mixed, openParser, readWhole, type TestParser } from "./support/Parser.ts"
import { openSilentDns } from "./support/SilentDns.ts"

const parsers: Array<TestParser> = []
const opened = (...config: Parameters<typeof openParser>): TestParser => {
  const parser = openParser(...config)
  parsers.push(parser)
  return parser
}
afterAll(async () => {
  for (const parser of parsers) await parser.close()
})

// A long time limit, since the machine may be busy.
const parser = opened({ readMillis: 60_000 })
const parse = async (raw: string) => Result.getOrThrow(await parser.parse(raw))

describe("the content of a mail", () => {
  it("is read from its header and bodies", async () => {
    const raw = [
      'From: "Ada, A." <Ada@Sender.TEST>',
      "To: Bob <bob@agents.test>, team: c@D.test, e@f.test;",
      "To: late@agents.test",
      "Cc: =?utf-8?q?J=C3=BCrgen?= <j@else.test>",
      "Subject: =?utf-8?b?R3LDvMOfZQ==?=",
      " and more",
      "Message-ID:  <1@sender.test> ",
      "In-Reply-To: <0@sender.test> (note)",
      "References: <a@x>\t<b@x>",
      " <0@sender.test>",
      "Content-Type: multipart/alternative; boundary=alt",
      "",
      "--alt",
      "Content-Type: text/plain; charset=iso-8859-1",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      "Gr=FC=DFe",
      "--alt",
      "Content-Type: text/html; charset=utf-8",
      "",
      "<p>Gr\u00c3\u00bc\u00c3\u009fe</p>",
      "--alt--",
      ""
    ].join("\r\n")
    expect(await parse(raw)).toEqual({
      messageIdHeader: "<1@sender.test>",
      inReplyTo: "<0@sender.test>",
      references: ["<a@x>", "<b@x>", "<0@sender.test>"],
      from: { address: "Ada@sender.test", name: "Ada, A." },
      to: [
        { address: "bob@agents.test", name: "Bob" },
        { address: "c@d.test", name: null },
        { address: "e@f.test", name: null },
        { address: "late@agents.test", name: null }
      ],
      cc: [{ address: "j@else.test", name: "Jürgen" }],
      replyTo: [],
      automatic: null,
      mailingList: null,
      subject: "Grüße and more",
      text: "Grüße\n",
      html: "<p>Grüße</p>\n",
      extractedText: "Grüße",
      links: [],
      truncated: false,
      attachments: [],
      authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
      bodyHash: createHash("sha256")
        .update(raw.slice(raw.indexOf("\r\n\r\n") + 4), "latin1")
        .digest("hex"),
      headerHash: expect.stringMatching(/^[\da-f]{64}$/)
    })
  })

  it("has the text that its HTML shows if it has no text, or a blank one", async () => {
    const html =
      "Content-Type: text/html\r\n\r\n<p>Your code is&nbsp;<b>204951</b></p><p><a href='https://a.test/x'>Open</a></p>"
    const derived = "Your code is 204951\n\nOpen <https://a.test/x>"
    expect(await parse(`${HEADER}${html}`)).toMatchObject({ text: derived, extractedText: derived })
    const alternative = (text: string) =>
      `${HEADER}Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\n${text}\r\n--b\r\n${html}\r\n--b--\r\n`
    expect((await parse(alternative(" \r\n"))).text).toBe(derived)
    expect((await parse(alternative("See the web page."))).text).toBe("See the web page.\n")
  })

  it("includes a delivery status notification, as other servers write it", async () => {
    const report = [
      "From: MAILER-DAEMON@mx.example.com (Mail Delivery System)",
      "To: bounces+1@agents.test",
      "Subject: Undelivered Mail Returned to Sender",
      'Content-Type: multipart/report; report-type=delivery-status; boundary="B/mx"',
      "",
      "--B/mx",
      "Content-Type: text/plain; charset=us-ascii",
      "",
      "This is the mail system at host mx.example.com.",
      "",
      "--B/mx",
      "Content-Type: message/delivery-status",
      "",
      "Reporting-MTA: dns; mx.example.com",
      "Arrival-Date: Mon, 23 Nov 2026 12:00:00 +0000",
      "",
      "Final-Recipient: rfc822; robert@example.net",
      "Original-Recipient: rfc822;bob@example.com",
      "Action: failed",
      "Status: 5.1.1",
      "Remote-MTA: dns; mail.example.net",
      "Diagnostic-Code: smtp; 550 5.1.1 <robert@example.net>:",
      "    Recipient address rejected",
      "",
      "Final-Recipient: RFC822; <carol@example.com>",
      "Action: Delivered",
      "Status: 2.1.5 (delivered)",
      "",
      "--B/mx",
      "Content-Type: text/rfc822-headers",
      "",
      "From: ada@agents.test",
      "",
      "--B/mx--",
      ""
    ].join("\r\n")
    expect((await parse(report)).report).toEqual({
      _tag: "DeliveryStatus",
      recipients: [
        {
          original: "bob@example.com",
          final: "robert@example.net",
          action: "failed",
          status: "5.1.1",
          diagnostic: "550 5.1.1 <robert@example.net>: Recipient address rejected"
        },
        { original: null, final: "carol@example.com", action: "delivered", status: "2.1.5", diagnostic: null }
      ]
    })
  })

  it("includes a feedback report, and no report for a mail that only looks like one", async () => {
    const feedback = [
      "From: feedback@isp.example",
      "To: bounces+1@agents.test",
      "Content-Type: multipart/report; boundary=f; report-type=feedback-report",
      "",
      "--f",
      "Content-Type: text/plain",
      "",
      "An abuse report.",
      "--f",
      "Content-Type: message/feedback-report",
      "",
      "Feedback-Type: Abuse",
      "User-Agent: SomeGenerator/1.0",
      "Version: 1",
      "Original-Rcpt-To: <bob@example.com>",
      "Original-Rcpt-To: carol@example.com",
      "--f",
      "Content-Type: message/rfc822",
      "",
      "From: ada@agents.test",
      "Subject: hello",
      "",
      "hi",
      "--f--",
      ""
    ].join("\r\n")
    expect((await parse(feedback)).report).toEqual({
      _tag: "Feedback",
      feedbackType: "abuse",
      recipients: ["bob@example.com", "carol@example.com"]
    })
    expect(await parse(feedback.replace("multipart/report", "multipart/mixed"))).not.toHaveProperty("report")
    expect(await parse(feedback.replace("message/feedback-report", "text/x-report"))).not.toHaveProperty("report")
  })

  it("describes attachments by name, type, size and hash", async () => {
    const { attachments, text } = await parse(
      mixed(
        "Content-Type: text/plain\r\n\r\nsee below",
        "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*=utf-8''%e2%82%ac%0d.pdf\r\n" +
          "Content-Transfer-Encoding: base64\r\n\r\nJVBERg==",
        "Content-Type: image/png\r\n\r\nnot really"
      )
    )
    expect(text?.trim()).toBe("see below")
    expect(attachments).toEqual([
      {
        filename: "€ .pdf",
        contentType: "application/pdf",
        sizeBytes: 4,
        sha256: createHash("sha256").update("%PDF").digest("hex"),
        contentId: null,
        disposition: "attachment",
        source: { offset: expect.any(Number), encodedBytes: 8, encoding: "base64" }
      },
      {
        filename: null,
        contentType: "image/png",
        sizeBytes: 10,
        sha256: createHash("sha256").update("not really").digest("hex"),
        contentId: null,
        disposition: "attachment",
        source: { offset: expect.any(Number), encodedBytes: 10, encoding: "identity" }
      }
    ])
  })

  const LOCATED: ReadonlyArray<readonly [string, string, string, string]> = [
    [
      "between boundaries, byte for byte",
      mixed("\r\n", "A: b\r\nContent-Type: x/y\r\n\r\n\r\none\ntwo\r\n"),
      "x/y",
      "\r\none\ntwo\r\n"
    ],
    ["without a body", mixed("Content-Type: x/y\r\n\r\n"), "x/y", ""],
    ["that is the whole message", `${HEADER}Content-Type: x/y\r\n\r\none\r\n`, "x/y", "one\r\n"],
    [
      "of a multipart that does not end",
      `${HEADER}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: x/y\r\n\r\none\r\n--bb`,
      "x/y",
      "one\r\n--bb"
    ],
    [
      "with lines that end in a line feed alone",
      mixed("Content-Type: x/y\n\none\n").replaceAll("\r\n", "\n"),
      "x/y",
      "one\n"
    ],
    [
      "that is a message",
      mixed("Content-Type: message/rfc822\r\n\r\nSubject: s\r\n\r\none"),
      "message/rfc822",
      "Subject: s\r\n\r\none"
    ],
    [
      "that is a calendar in another charset",
      mixed("Content-Type: text/calendar; charset=iso-8859-1\r\n\r\n\xe4"),
      "text/calendar; charset=iso-8859-1",
      "\xe4"
    ],
    [
      "that has other parameters, of which those that name the file are dropped",
      mixed('Content-Type: Text/CSV; name="a.csv"; header=present; note="a; \\"b"; more=ü\r\n\r\n1'),
      'text/csv; header=present; note="a; \\"b"',
      "1"
    ],
    [
      "in quoted-printable",
      mixed("Content-Type: x/y\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3D=\r\nb=zz =\r\n"),
      "x/y",
      "a=b=zz "
    ]
  ]
  it.each(LOCATED)("describes and locates an attachment %s", async (_, raw, contentType, content) => {
    const { attachments } = await parse(raw)
    expect(attachments).toMatchObject([
      { contentType, sizeBytes: content.length, sha256: createHash("sha256").update(content, "latin1").digest("hex") }
    ])
    const { encodedBytes, encoding, offset } = attachments[0]!.source!
    const decoder = makeDecoder(encoding)
    const stored = Buffer.from(raw, "latin1").subarray(offset, offset + encodedBytes)
    expect(Buffer.concat([decoder.decode(stored), decoder.end()]).toString("latin1")).toBe(content)
  })

  it("has no sender and passes no check if From does not name exactly one", async () => {
    for (const from of [
      "",
      "From: nobody in particular\r\n",
      "From: undisclosed:;\r\n",
      "From: ceo@bank.test\r\nFrom: ada@sender.test\r\n",
      "From: ceo@bank.test, ada@sender.test\r\n"
    ]) {
      const mail = await parse(`${from}Subject: s\r\n\r\nx`)
      expect(mail).toMatchObject({
        from: { address: "", name: null },
        authentication: { dmarc: "permerror", domain: null }
      })
    }
  })

  it("has brackets added to a Message-ID without them, and null for a missing one", async () => {
    expect((await parse("Message-ID: 1@sender.test\r\n\r\nx")).messageIdHeader).toBe("<1@sender.test>")
    expect((await parse("Message-ID: two words\r\n\r\nx")).messageIdHeader).toBeNull()
    expect((await parse("Subject: s\r\n\r\nx")).messageIdHeader).toBeNull()
  })

  it("has a hash of the body alone, so that added header fields do not change it", async () => {
    const of = async (raw: string) => (await parse(raw)).bodyHash
    const hash = createHash("sha256").update("body\r\n").digest("hex")
    expect(await of("A: 1\r\n\r\nbody\r\n")).toBe(hash)
    expect(await of("A: 1\r\nReceived: by someone\r\n\r\nbody\r\n")).toBe(hash)
    expect(await of("A: 1\n\nbody\r\n")).toBe(hash)
    expect(await of("\r\nbody\r\n")).toBe(hash)
  })
})

describe("unusual mail is read", () => {
  const kept = (raw: string) => readWhole(parser, raw)

  it("an empty mail, and mail without a header or a body", async () => {
    expect(await kept("")).toMatchObject({ subject: "", text: null, html: null, to: [] })
    expect(await kept("just some words")).toMatchObject({ subject: "", messageIdHeader: null })
    expect(await kept("\r\n\r\n")).toMatchObject({ subject: "" })
  })

  it("U+0000 and control characters anywhere", async () => {
    const mail = await kept(
      `From: a\u0000b@sender.test\r\nTo: "x\u0001" <c@agents.test>\r\nSubject: s\u0000\u0007=?utf-8?q?=00=0A=0D?=t\r\n\r\na\u0000b`
    )
    expect(mail).toMatchObject({ to: [{ address: "c@agents.test" }], from: { address: "" }, text: "ab\n" })
  })

  it("an unknown charset, broken UTF-8, truncated base64, lone surrogates", async () => {
    expect((await kept(`${HEADER}Content-Type: text/plain; charset=x-nobody\r\n\r\nna\xefve`)).text).toBe("naïve\n")
    expect((await kept(`${HEADER}Content-Type: text/plain; charset=utf-8\r\n\r\n\xc3\xbc\xff`)).text).toBe("ü\ufffd\n")
    expect((await kept(`${HEADER}Content-Transfer-Encoding: base64\r\n\r\naGVsbG8gd29ybGQ`)).text).toBe("hello world")
    await kept(`${HEADER}Content-Type: text/plain; charset=utf-16le\r\n\r\n\x00\xd8x\x00`)
    await kept("Subject: =?utf-16le?b?ANg=?=\r\n\r\nx")
  })

  it("message/rfc822 nested 50 deep, as one attachment", async () => {
    let raw = `${HEADER}\r\ninnermost`
    for (let depth = 0; depth < 50; depth++) raw = `${HEADER}Content-Type: message/rfc822\r\n\r\n${raw}`
    expect((await kept(raw)).attachments).toMatchObject([{ contentType: "message/rfc822" }])
  })

  it("more of everything than is kept", async () => {
    const many = (count: number, of: (index: number) => string, between: string) =>
      Array.from({ length: count }, (_, index) => of(index)).join(between)
    const mail = await kept(
      `To: ${many(1_000, (i) => `a${i}@agents.test`, ",\r\n ")}\r\nReferences: ${many(500, (i) => `<${i}@x>`, "\r\n ")}\r\n` +
        `Subject: ${"s".repeat(2_000)}\r\n\r\nx`
    )
    expect(mail.to).toHaveLength(200)
    expect(mail.subject).toHaveLength(998)
    expect(mail.references).toEqual(["<0@x>", ...Array.from({ length: 49 }, (_, index) => `<${index + 451}@x>`)])
  })

  it("10,000 attachments, of which 200 are described", async () => {
    const part = "Content-Type: application/x-thing; name=a.bin\r\nContent-Disposition: attachment\r\n\r\nx"
    expect((await kept(mixed(...Array.from({ length: 10_000 }, () => part)))).attachments).toHaveLength(200)
  })

  it("a text within the limit, complete", async () => {
    const text = `${"words and ".repeat(7)}\n`.repeat(14_000)
    expect(await kept(`${HEADER}\r\n${text}`)).toMatchObject({ text, truncated: false })
  })

  it("a header of 1 MB", async () => {
    expect((await kept(`X-Big: ${"x".repeat(1_000_000)}\r\n${HEADER}\r\nx`)).subject).toBe("hello")
  })

  for (const [name, header] of [
    ["groups in groups", `To: ${"g:".repeat(20_000)}`],
    ["closed groups in groups", `To: ${"g:".repeat(20_000)}${";".repeat(20_000)}`],
    ["open comments", `To: ${"(".repeat(300_000)}`],
    ["open brackets", `From: ${"<".repeat(300_000)}`],
    ["half-open encoded words", `Subject: ${"=?utf-8?q?a?= ".repeat(50_000)}`],
    ["parameters", `Content-Type: text/plain; ${"a=b; ".repeat(100_000)}`]
  ] as const) {
    it(`a header full of ${name}`, async () => {
      expect((await kept(`${header}\r\nMessage-ID: <1@x>\r\n\r\nx`)).messageIdHeader).toBe("<1@x>")
    })
  }

  it("HTML nested 200,000 deep", async () => {
    expect((await kept(`${HEADER}Content-Type: text/html\r\n\r\n${"<div>".repeat(200_000)}`)).html).toMatch(/^(<div>)+/)
  })
})

describe("unreadable mail is abandoned, and the next one is read", () => {
  const expectUnreadable = async (limited: TestParser, raw: string, why: RegExp) => {
    const result = await limited.parse(raw)
    expect(Result.isFailure(result) && result.failure.message).toMatch(why)
    expect(Result.getOrThrow(await limited.parse(`${HEADER}\r\nx`)).subject).toBe("hello")
  }

  it("when it takes too much processor time", async () => {
    const texts = Array.from({ length: 4 }, () => `Content-Type: text/html\r\n\r\n${"a ".repeat(2 ** 19)}`)
    await expectUnreadable(
      opened({ processorMillis: 300, processorMillisPerMib: 0 }),
      mixed("\r\nhi", ...texts),
      /more than 300 ms of processor time/
    )
  })

  it("when it takes too much memory", async () => {
    await expectUnreadable(
      opened({ heapMegabytes: 24, readMillis: 60_000 }),
      `${HEADER}Cc: ${"a@b.c,".repeat(340_000)}\r\n\r\nx`,
      /memory/
    )
  })

  it("when it is nested too deeply", async () => {
    const nested = Array.from(
      { length: 300 },
      (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`
    )
    await expectUnreadable(parser, `${HEADER}${nested.join("")}\r\nx`, /depth/)
  })

  it("when its header is too large", async () => {
    await expectUnreadable(parser, `X-Big: ${"x".repeat(2_200_000)}\r\n${HEADER}\r\nx`, /header size/)
  })
})

describe("a sender whose name servers do not answer", () => {
  const mailFrom = (name: string) => `From: a@${name}\r\nSubject: hello\r\n\r\nx`
  const slowSenders = Array.from({ length: 40 }, (_, index) => `d${index}.silent.test`)

  it("delays no mail of another network", async () => {
    const server = await openSilentDns("silent.test")
    const asking = opened({ dns: server.dns, dnsMillis: 2_500 })
    Result.getOrThrow(await asking.parse(`${HEADER}\r\nx`))
    let late = 0
    const slow = slowSenders.map(async (name, index) => {
      const remoteAddress = `192.0.2.${index}`
      const result = await asking.parse(mailFrom(name), { remoteAddress, mailFrom: `bounce@${name}` })
      late++
      return result
    })
    await expect.poll(() => server.questionsAbout(slowSenders[0]!)).toBeGreaterThan(0)
    const honest = await asking.parse(`${HEADER}\r\nx`, { remoteAddress: "198.51.100.1" })
    expect(late).toBe(0)
    expect(Result.getOrThrow(honest).authentication).toMatchObject({ spf: "none", dmarc: "none" })
    for (const result of await Promise.all(slow)) {
      expect(Result.getOrThrow(result).authentication).toMatchObject({ spf: "temperror", dmarc: "temperror" })
    }
    server.close()
  })

  it("is not asked about again with the next mail", async () => {
    const server = await openSilentDns("silent.test")
    const asking = opened({ dns: server.dns, dnsMillis: 2_500 })
    const check = async () =>
      Result.getOrThrow(await asking.parse(mailFrom("silent.test"), { mailFrom: "a@silent.test" }))
    expect((await check()).authentication.spf).toBe("temperror")
    const asked = server.questionsAbout("silent.test")
    expect((await check()).authentication.spf).toBe("temperror")
    expect(server.questionsAbout("silent.test")).toBe(asked)
    server.close()
  })
})

describe("the processes", () => {
  it("read several mails at the same time, up to their limit, and lose none", async () => {
    const mails = Array.from({ length: 40 }, (_, index) => index)
    const subjects = await Promise.all(
      mails.map(async (index) => (await parse(`Subject: mail ${index}\r\n\r\nx`)).subject)
    )
    expect(subjects).toEqual(mails.map((index) => `mail ${index}`))
  })

  it("check a sender alone, and keep the results of a check that was made before", async () => {
    const records = [
      { name: "sender.test", type: "TXT", value: "v=spf1 ip4:127.0.0.1 -all" },
      { name: "_dmarc.sender.test", type: "TXT", value: "v=DMARC1; p=reject" }
    ] as const
    const checker = opened({ dns: { _tag: "Zone", records } })
    const mail = Buffer.from(`${HEADER}\r\nx`)
    const proven = { spf: "pass", dkim: "none", dmarc: "pass", domain: "sender.test" }
    const senders = ["bounce@sender.test", "bounce@else.test", "bounce@sender.test"]
    const results = await Promise.all(senders.map((mailFrom) => checker.authenticate(mail, { mailFrom })))
    expect(results.map(({ dmarc }) => dmarc)).toEqual(["pass", "fail", "pass"])
    expect(results[0]).toEqual(proven)
    const kept = { ...proven, spf: "softfail" }
    const again = Result.getOrThrow(await checker.parse(mail, { authentication: kept }))
    expect(again).toMatchObject({ subject: "hello", authentication: kept })
  })

  it("give up the check of a sender that takes too long, the wait for a process included", async () => {
    const late = opened({ checkMillis: 1 })
    expect(await late.authenticate(Buffer.from(`${HEADER}\r\nx`))).toMatchObject({ dmarc: "temperror", domain: null })
  })

  it("leave the given bytes unchanged", async () => {
    const raw = Buffer.from(`${HEADER}\r\nx`)
    const before = Buffer.from(raw)
    Result.getOrThrow(await parser.parse(raw, envelope))
    expect(raw.equals(before)).toBe(true)
  })

  it("are started at once: the one that checks the sender, while the mail is still read", async () => {
    for (const other of parsers.splice(0)) await other.close()
    const children = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
    await expect.poll(children, { timeout: 60_000 }).toBe(0)
    let finish: (() => void) | undefined
    const rest = Stream.fromEffect(Effect.promise(() => new Promise<void>((resolve) => (finish = resolve))))
    const raw = Stream.concat(
      Stream.make(Buffer.from(HEADER)),
      Stream.map(rest, () => Buffer.from("\r\nx"))
    )
    const parsing = opened().parse(raw)
    await expect.poll(children, { timeout: 60_000 }).toBe(2)
    await expect.poll(() => finish).toBeDefined()
    finish!()
    expect(Result.getOrThrow(await parsing).text).toMatch(/^x/)
  })

  it("end when they have been idle, and are started again", async () => {
    // The other parsers are not used any more, and theirs would end during this test.
    for (const other of parsers.splice(0)) await other.close()
    const children = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
    await expect.poll(children, { timeout: 60_000 }).toBe(0)
    const short = opened({ idleMillis: 100 })
    Result.getOrThrow(await short.parse(`${HEADER}\r\nx`))
    // The process that checked the sender; the one that read the mail may have ended meanwhile.
    expect(children()).toBeGreaterThan(0)
    await expect.poll(children, { timeout: 60_000 }).toBe(0)
    Result.getOrThrow(await short.parse(`${HEADER}\r\nx`))
  })

  it("read a mail again if the process that it shares is killed", async () => {
    for (const other of parsers.splice(0)) await other.close()
    const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean)
    await expect.poll(() => children().length, { timeout: 60_000 }).toBe(0)
    const server = await openSilentDns("silent.test")
    const parsing = opened({ dns: server.dns, dnsMillis: 2_500 }).parse(
      "From: a@silent.test\r\nSubject: hello\r\n\r\nx",
      {
        mailFrom: "a@silent.test"
      }
    )
    await expect.poll(() => server.questionsAbout("silent.test"), { timeout: 60_000 }).toBeGreaterThan(0)
    for (const pid of children()) process.kill(Number(pid), "SIGKILL")
    expect(Result.getOrThrow(await parsing)).toMatchObject({ subject: "hello", authentication: { spf: "temperror" } })
    server.close()
  })
})
