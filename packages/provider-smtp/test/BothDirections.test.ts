import { EmailProvider, type OutgoingMail, Timestamp } from "@agentos/core"
import { Effect, Result } from "effect"
import nodemailer from "nodemailer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type DkimKey, generateDkimKey } from "../src/DkimKey.ts"
import * as EmailProviderSmtp from "../src/EmailProviderSmtp.ts"
import { openListener, type TestListener } from "./support/Listener.ts"
import { openParser, type TestParser } from "./support/Parser.ts"
import { composeMail } from "./support/SignedMail.ts"

let listener: TestListener
let parser: TestParser
let key: DkimKey
beforeAll(async () => {
  listener = await openListener()
  key = await Effect.runPromise(generateDkimKey("sender.test", "s1"))
  parser = openParser({
    dns: {
      _tag: "Zone",
      records: [
        key.record,
        { name: "sender.test", type: "TXT", value: "v=spf1 ip4:127.0.0.1 -all" },
        { name: "_dmarc.sender.test", type: "TXT", value: "v=DMARC1; p=reject; adkim=s; aspf=s" }
      ]
    }
  })
})
afterAll(async () => {
  await listener.close()
  await parser.close()
})

const mail = (id: string, to: ReadonlyArray<string>): OutgoingMail => ({
  messageIdHeader: `<${id}@sender.test>`,
  returnPath: "news@sender.test",
  returnPaths: to.map(() => "news@sender.test"),
  inReplyTo: null,
  references: [],
  from: { address: "news@sender.test", name: "Jürgen" },
  recipients: to,
  to,
  cc: [],
  replyTo: [],
  autoSubmitted: null,
  bcc: [],
  subject: "Grüße",
  text: "Guten Tag\n",
  html: null,
  attachments: [],
  date: Timestamp.Timestamp.make(Date.UTC(2026, 10, 5))
})

const send = (sent: OutgoingMail, more: Partial<EmailProviderSmtp.EmailProviderSmtpConfig>) =>
  Effect.runPromise(
    Effect.flatMap(EmailProvider, (provider) => Effect.result(provider.send(sent))).pipe(
      Effect.provide(
        EmailProviderSmtp.layer({
          domain: "sender.test",
          host: "localhost",
          port: listener.port,
          clientName: "out.sender.test",
          security: "starttls",
          ...more
        })
      )
    )
  )

describe("mail from one side to the other", () => {
  it("is not sent to a relay whose certificate is not trusted", async () => {
    const result = await send(mail("untrusted", ["ada@agents.test"]), {})
    expect(Result.isFailure(result) && result.failure.reason).toBe("Misconfigured")
  })

  it("arrives encrypted and signed, and its sender passes the checks", async () => {
    const dkim = { domain: "sender.test", selector: "s1", privateKey: key.privateKey }
    const sent = mail("1", ["ada@agents.test", "nowhere@agents.test"])
    const receipt = Result.getOrThrow(await send(sent, { dkim, verifyCertificate: false }))
    expect(receipt.accepted).toEqual(["ada@agents.test"])
    expect(receipt.rejected).toEqual([{ address: "nowhere@agents.test", reason: "550 5.1.1 No such mailbox here" }])
    const taken = listener.taken.at(-1)!
    expect(taken.envelope).toMatchObject({ mailFrom: "news@sender.test", rcptTo: ["ada@agents.test"], secure: true })
    expect(Result.getOrThrow(await parser.parse(taken.raw, taken.envelope))).toMatchObject({
      messageIdHeader: "<1@sender.test>",
      from: { address: "news@sender.test", name: "Jürgen" },
      to: [
        { address: "ada@agents.test", name: null },
        { address: "nowhere@agents.test", name: null }
      ],
      subject: "Grüße",
      text: "Guten Tag\n",
      authentication: { spf: "pass", dkim: "pass", dmarc: "pass", domain: "sender.test" }
    })
  })
})

describe("200 mails over 8 connections", () => {
  it("are all accepted and all read", async () => {
    const before = listener.taken.length
    const raw = await composeMail(key)
    const transport = nodemailer.createTransport({
      pool: true,
      maxConnections: 8,
      maxMessages: 1_000,
      host: "127.0.0.1",
      port: listener.port,
      tls: { rejectUnauthorized: false }
    })
    const mails = Array.from({ length: 200 }, (_, index) => index)
    await Promise.all(
      mails.map((index) =>
        transport.sendMail({ envelope: { from: "news@sender.test", to: [`r${index}@agents.test`] }, raw })
      )
    )
    transport.close()
    const taken = listener.taken.slice(before)
    expect(new Set(taken.flatMap(({ envelope }) => envelope.rcptTo)).size).toBe(200)
    const read = await Promise.all(taken.map(({ raw, envelope }) => parser.parse(raw, envelope)))
    for (const result of read) expect(Result.getOrThrow(result).authentication.dmarc).toBe("pass")
  })
})
