import { MailParser, type ParsedMail } from "@agentos/core"
import { MailParserWorker } from "@agentos/provider-smtp"
import { Effect, ManagedRuntime, Result, Stream } from "effect"
import type { Random } from "../../support/Random.ts"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { bytesOf, chance, mutateText, oddText, several } from "../Mutation.ts"
import { SmtpConnection } from "../SmtpConnection.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

export interface MimeCase {
  /** Bytes as latin1. */
  readonly message: string
  /** Through the SMTP server, or to the parser directly. */
  readonly isSent: boolean
}

const encodedWord = (random: Random): string =>
  random.pick([
    `=?utf-8?B?${Buffer.from(oddText(random).slice(0, 200)).toString("base64")}?=`,
    "=?utf-8?Q?a=0D=0ABcc:_x@y.example?=",
    "=?unknown-charset?Q?=80?=",
    "=?utf-8?B?!!!!?=",
    `=?utf-8?Q?${"=F0=9F=98=80".repeat(30)}?=`,
    "=?utf-16?B?/v8AYQ==?="
  ])

const ADDRESSES: ReadonlyArray<(random: Random) => string> = [
  () => "a@elsewhere.example",
  () => "Ada <a@elsewhere.example>",
  () => '"a@bank.example" <a@elsewhere.example>',
  () => "a@elsewhere.example, b@bank.example",
  () => "group: a@b.example, c@d.example;",
  () => "<a@b.example",
  () => "a@b.example (comment (nested)) <c@d.example>",
  () => "undisclosed-recipients:;",
  () => "a@[127.0.0.1]",
  () => "",
  (random) => `${encodedWord(random)} <a@elsewhere.example>`,
  (random) => bytesOf(oddText(random)),
  () => Array.from({ length: 300 }, (_, index) => `a${index}@b.example`).join(", ")
]

const HEADERS: ReadonlyArray<(random: Random) => string> = [
  (random) => `From: ${random.pick(ADDRESSES)(random)}`,
  (random) => `To: ${random.pick(ADDRESSES)(random)}`,
  (random) => `Cc: ${random.pick(ADDRESSES)(random)}`,
  (random) => `Subject: ${random.pick(["Hello", encodedWord(random), bytesOf(oddText(random))])}`,
  (random) => `Message-ID: ${random.pick(["<a@b>", "a@b", "<>", "<a b@c>", `<${"x".repeat(1_200)}@y>`])}`,
  (random) => `References: ${"<a@b> ".repeat(random.integer(120))}`,
  () => "In-Reply-To: <a@b> <c@d>",
  (random) => `Date: ${random.pick(["Mon, 1 Jan 2026 00:00:00 +0000", "never", "99999"])}`,
  () => "DKIM-Signature: v=1; a=rsa-sha256; d=elsewhere.example; s=x; h=from; bh=AAAA; b=AAAA",
  () => "DKIM-Signature: v=1; a=rsa-sha256; d=" + "a.".repeat(200) + "; s=x; h=" + "from:".repeat(500) + "; bh=; b=",
  () => "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=x.example; s=y; b=AAAA",
  () => "Authentication-Results: mail.example; dmarc=pass",
  () => "Received: from a by b; now\r\n\tfolded\r\n folded again",
  () => "no colon in this line",
  (random) => `X-Long: ${"y".repeat(random.pick([998, 2_000, 70_000]))}`,
  (random) => Array.from({ length: random.integer(300) }, (_, index) => `X-${index}: y`).join("\r\n") || "X: y"
]

const CHARSETS = ["utf-8", "us-ascii", "iso-2022-jp", "utf-7", "utf-16", "unknown", "gb18030", ""]
const ENCODINGS = ["7bit", "8bit", "base64", "quoted-printable", "binary", "x-uuencode", "BASE64 ", ""]

const leaf = (random: Random): string => {
  const type = random.pick([
    "text/plain",
    "text/html",
    "application/octet-stream",
    "image/png",
    "message/rfc822",
    "/",
    ""
  ])
  const name = random.pick([
    "",
    `; name="${bytesOf(oddText(random))
      .replaceAll(/["\r\n]/g, "")
      .slice(0, 400)}"`,
    "; name*0*=utf-8''%F0%9F; name*1*=%98%80",
    "; filename*=utf-8'en'%00%0d%0a",
    "; charset=utf-8; charset=utf-7"
  ])
  const body = random.pick([
    "Hello",
    "SGVsbG8=",
    "=E2=82=AC=\r\n=",
    "<p>Hi</p><script>x</script>",
    "<div>".repeat(2_000),
    bytesOf(oddText(random)),
    "begin 644 a\r\n#86)C\r\nend",
    "A".repeat(random.pick([76, 5_000, 100_000]))
  ])
  return (
    `Content-Type: ${type}${name}; charset=${random.pick(CHARSETS)}\r\n` +
    `Content-Transfer-Encoding: ${random.pick(ENCODINGS)}\r\n` +
    `Content-Disposition: ${random.pick(["inline", "attachment", "attachment; filename=../../x", ""])}\r\n\r\n${body}`
  )
}

const part = (random: Random, depth: number): string => {
  if (depth === 0 || chance(random, 2)) return leaf(random)
  const boundary = random.pick(["b", "b", "bb", "=_x", "b ".repeat(4), "x".repeat(80), ""])
  const parts = Array.from({ length: random.integer(5) }, () => `--${boundary}\r\n${part(random, depth - 1)}\r\n`)
  const subtype = random.pick(["mixed", "alternative", "related", "digest", "report"])
  const end = chance(random, 5) ? "" : `--${boundary}--\r\n`
  return `Content-Type: multipart/${subtype}; boundary="${boundary}"\r\n\r\npreamble\r\n${parts.join("")}${end}`
}

const deep = (levels: number): string =>
  levels === 0
    ? "Content-Type: text/plain\r\n\r\nHello"
    : `Content-Type: multipart/mixed; boundary=b${levels}\r\n\r\n--b${levels}\r\n${deep(levels - 1)}\r\n--b${levels}--`

const generate = (random: Random): MimeCase => {
  // Most have one author, because the listener refuses the others at once.
  const [authors, others] = chance(random, 4) ? [[], HEADERS] : [["From: Ada <a@elsewhere.example>"], HEADERS.slice(1)]
  const headers = [...authors, ...Array.from({ length: 2 + random.integer(8) }, () => random.pick(others)(random))]
  const body = chance(random, 40) ? deep(random.pick([10, 50, 120, 400])) : part(random, 4)
  let message = `${headers.join("\r\n")}\r\nMIME-Version: 1.0\r\n${body}`
  if (chance(random, 3)) message = several(random, 4, message, (text) => mutateText(random, text))
  if (chance(random, 20)) message = message.replaceAll("\r\n", random.pick(["\n", "\r"]))
  return { message, isSent: chance(random, 6) }
}

/** No header of a message holds one of these. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const TEXT_LIMIT_BYTES = 1024 * 1024
const SUBJECT_LIMIT = 998

const flawsOfMail = (mail: ParsedMail): ReadonlyArray<Flaw> => {
  const flaws: Array<Flaw> = []
  const rule = (holds: boolean, text: string, detail: string) => {
    if (!holds) flaws.push({ rule: text, detail: detail.slice(0, 200) })
  }
  const filenames = mail.attachments.flatMap(({ contentType, filename }) => [contentType, filename ?? ""])
  const headers = [
    mail.subject,
    ...[mail.from, ...mail.to, ...mail.cc].flatMap(({ address, name }) => [address, name ?? ""]),
    ...mail.references,
    mail.inReplyTo ?? "",
    ...filenames
  ]
  for (const text of headers) {
    rule(!CONTROL.test(text), "parsed headers hold no control character", JSON.stringify(text))
    rule(text.isWellFormed(), "parsed texts are Unicode", JSON.stringify(text))
  }
  rule(mail.subject.length <= SUBJECT_LIMIT, "a subject is at most 998 characters", String(mail.subject.length))
  for (const text of [mail.text ?? "", mail.html ?? ""]) {
    rule(Buffer.byteLength(text) <= TEXT_LIMIT_BYTES, "a body is at most 1 MiB", String(Buffer.byteLength(text)))
    rule(text.isWellFormed() && !text.includes("\u0000"), "parsed texts are Unicode", text)
  }
  return flaws
}

/** The failures of a mail that exhausts its parser. */
const EXHAUSTED = /took longer|ended the process/

const send = async (rig: DefenseRig, message: string): Promise<string | undefined> => {
  const connection = new SmtpConnection({ ...rig.smtp, localAddress: ATTACKER_ADDRESSES[0] })
  try {
    if (!(await connection.greet())) return undefined
    await connection.command("MAIL FROM:<fuzz@elsewhere.example>")
    await connection.command(`RCPT TO:<${rig.attacker.mailbox.address}>`)
    if ((await connection.command("DATA")) !== 354) return undefined
    await connection.write(`${message.replaceAll(/^\./gm, "..")}\r\n.\r\n`)
    return await connection.reply()
  } finally {
    connection.destroy()
  }
}

const HOST_NAME = "mx.agentos.example"
const ZONE = {
  _tag: "Zone",
  records: [
    { name: "elsewhere.example", type: "TXT", value: "v=spf1 include:elsewhere.example -all" },
    { name: "_dmarc.elsewhere.example", type: "TXT", value: "v=DMARC1; p=reject" }
  ]
} as const

/** MIME messages, through the SMTP server and directly to the parser in its own process. */
export const mimeTarget: Target<MimeCase> = {
  name: "mime",
  summary: "MIME messages, to the parser and through SMTP",
  workers: 2,
  generate,
  open: async ({ count, oracle, rig }) => {
    const parser = ManagedRuntime.make(MailParserWorker.layer({ hostName: HOST_NAME, dns: ZONE, processesMax: 1 }))
    const envelope = {
      mailFrom: "fuzz@elsewhere.example",
      rcptTo: [rig.attacker.mailbox.address],
      remoteAddress: ATTACKER_ADDRESSES[0],
      helo: "client.example",
      secure: false
    }
    return {
      play: async ({ isSent, message }) => {
        const text = fill(message, rig)
        if (isSent) {
          const reply = await send(rig, text)
          if (reply?.startsWith("250") === true) count("mails accepted")
          return oracle.examineText(reply ?? "")
        }
        const raw = Buffer.from(text, "latin1")
        const result = await parser.runPromise(
          Effect.flatMap(MailParser, ({ parse }) => Effect.result(parse(Stream.make(raw), envelope)))
        )
        count("mails parsed")
        if (Result.isSuccess(result)) return flawsOfMail(result.success)
        const detail = result.failure.message
        return EXHAUSTED.test(detail) ? [{ rule: "no small mail exhausts its parser", detail }] : []
      },
      close: () => parser.dispose()
    }
  }
}
