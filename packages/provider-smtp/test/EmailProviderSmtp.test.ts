import { EmailProvider, type OutgoingMail, type ProviderError, type SendReceipt, Timestamp } from "@agentos/core"
import { Effect, Exit, Fiber, Logger, Redacted, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { authenticate } from "mailauth"
import PostalMime from "postal-mime"
import { afterAll, describe, expect, it, vi } from "vitest"
import { type DkimKey, generateDkimKey } from "../src/DkimKey.ts"
import * as EmailProviderSmtp from "../src/EmailProviderSmtp.ts"
import { drop, silence, type Script, type ScriptedSmtp, startScriptedSmtp } from "./support/ScriptedSmtp.ts"

const mail: OutgoingMail = {
  messageIdHeader: "<0199-abc@agents.test>",
  returnPath: "bounces+0@agents.test",
  returnPaths: ["bounces+1@agents.test", "bounces+2@agents.test", "bounces+3@agents.test"],
  inReplyTo: null,
  references: [],
  from: { address: "ada@agents.test", name: "Ada, Agent" },
  recipients: ["one@else.test", "two@else.test", "three@hidden.test"],
  to: ["one@else.test"],
  cc: ["two@else.test"],
  replyTo: [],
  autoSubmitted: null,
  bcc: ["three@hidden.test"],
  subject: "Grüße aus der Ferne",
  text: "Guten Tag\n.\n-- \nAda\n",
  html: "<p>Guten Tag</p>",
  attachments: [],
  date: Timestamp.Timestamp.make(Date.UTC(2026, 10, 5, 12, 30, 15))
}

const servers: Array<ScriptedSmtp> = []
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const started = async (script: Script = {}): Promise<ScriptedSmtp> => {
  const server = await startScriptedSmtp(script)
  servers.push(server)
  return server
}

/** A relay that keeps silent is given up after this time. Others are not, also on a busy machine. */
const SILENT_MILLIS = 2_500
const UNANSWERED = { timeouts: { greeting: SILENT_MILLIS, socket: SILENT_MILLIS } }

const config = (port: number, more: Partial<EmailProviderSmtp.EmailProviderSmtpConfig> = {}) => ({
  domain: "agents.test",
  host: "127.0.0.1",
  port,
  clientName: "mail.agents.test",
  security: "none" as const,
  timeouts: { connect: 20_000, greeting: 20_000, socket: 20_000, send: 60_000 },
  ...more
})

const withProvider = <A, E>(
  settings: EmailProviderSmtp.EmailProviderSmtpConfig,
  use: (provider: EmailProvider["Service"]) => Effect.Effect<A, E>
) => Effect.runPromise(Effect.flatMap(EmailProvider, use).pipe(Effect.provide(EmailProviderSmtp.layer(settings))))

const sendTo = (server: ScriptedSmtp, more: Partial<EmailProviderSmtp.EmailProviderSmtpConfig> = {}, sent = mail) =>
  withProvider(config(server.port, more), (provider) => Effect.result(provider.send(sent)))

const verified = (server: ScriptedSmtp, more: Partial<EmailProviderSmtp.EmailProviderSmtpConfig>) =>
  Effect.runPromise(Effect.result(EmailProviderSmtp.verify(config(server.port, more))))

const receiptOf = (result: Result.Result<SendReceipt, ProviderError>): SendReceipt => {
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

const failureOf = (result: Result.Result<unknown, ProviderError>): ProviderError => {
  if (Result.isSuccess(result)) throw new Error("the send succeeded")
  return result.failure
}

/** The results of the signatures of a mail by their selectors, with these keys in DNS. */
const signatures = async (raw = "", keys: ReadonlyArray<DkimKey>) => {
  const { dkim } = await authenticate(raw, {
    ip: "127.0.0.1",
    helo: "mail.agents.test",
    sender: "ada@agents.test",
    // Another suite of this process may have loaded mailauth without it.
    disableBimi: true,
    resolver: async (name, type) => {
      const found = keys.find(({ record }) => name === record.name && type === "TXT")
      if (found !== undefined) return [[found.record.value]]
      throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" })
    }
  })
  expect(dkim.results.map(({ signingDomain }) => signingDomain)).toEqual(dkim.results.map(() => "agents.test"))
  return dkim.results.map(({ selector, status }) => [status.result, selector])
}

describe("a sent mail", () => {
  it("contains the given Message-ID, date, names and both bodies, and no Bcc, the same for each recipient", async () => {
    const server = await started()
    const receipt = Result.getOrThrow(await sendTo(server, { connectionsMax: 1 }))
    expect(receipt).toEqual({
      accepted: ["one@else.test", "two@else.test", "three@hidden.test"],
      rejected: [],
      response: "250 2.0.0 queued as 1",
      relayIds: []
    })
    expect(server.commands).toContain("EHLO mail.agents.test")
    expect(
      server.commands.filter((line) => /^(MAIL|RCPT)/.test(line)).map((line) => line.replace(/ SIZE=.*/, ""))
    ).toEqual([
      "MAIL FROM:<bounces+1@agents.test>",
      "RCPT TO:<one@else.test>",
      "MAIL FROM:<bounces+2@agents.test>",
      "RCPT TO:<two@else.test>",
      "MAIL FROM:<bounces+3@agents.test>",
      "RCPT TO:<three@hidden.test>"
    ])
    const [raw = "", ...others] = server.messages
    expect(others).toEqual([raw, raw])
    expect(raw).not.toMatch(/three@hidden|^bcc:/im)
    expect(raw).toContain("Message-ID: <0199-abc@agents.test>\r\n")
    expect(raw).toContain("Date: Thu, 05 Nov 2026 12:30:15 +0000\r\n")
    const parsed = await PostalMime.parse(raw)
    expect(parsed.from).toEqual({ name: "Ada, Agent", address: "ada@agents.test" })
    expect(parsed.subject).toBe("Grüße aus der Ferne")
    expect(parsed.text?.trimEnd()).toBe("Guten Tag\n.\n-- \nAda")
    expect(parsed.html?.trimEnd()).toBe("<p>Guten Tag</p>")
    expect(parsed.attachments).toEqual([])
  })

  it("has the field of an empty subject", async () => {
    const server = await started()
    Result.getOrThrow(await sendTo(server, {}, { ...mail, subject: "" }))
    expect(server.messages[0]!.split("\r\n\r\n")[0]!.split("\r\n")).toContain("Subject: ")
  })

  it("has Reply-To and Auto-Submitted if they are given", async () => {
    const server = await started()
    const sent = { ...mail, replyTo: ["help@else.test", "team@else.test"], autoSubmitted: "auto-replied" } as const
    Result.getOrThrow(await sendTo(server, {}, sent))
    expect(server.messages[0]).toContain("Reply-To: help@else.test, team@else.test\r\n")
    expect(server.messages[0]).toContain("Auto-Submitted: auto-replied\r\n")
  })

  it("has a file with a Content-ID beside the HTML that shows it, and others after the text", async () => {
    const server = await started()
    const file = (filename: string, contentType: string, text: string, contentId: string | null) => {
      const content = new TextEncoder().encode(text)
      return { filename, contentType, contentId, sizeBytes: content.length, content: Stream.make(content) }
    }
    const attachments = [
      file("logo.png", "image/png", "PNG", "logo@agents.test"),
      file("list.csv", "text/csv", "a;b", null)
    ]
    const html = '<img src="cid:logo@agents.test">'
    Result.getOrThrow(await sendTo(server, {}, { ...mail, html, attachments }))
    const raw = server.messages[0] ?? ""
    expect(raw).toMatch(/Content-Type: multipart\/related; type="text\/html"/)
    const parsed = await PostalMime.parse(raw)
    expect(
      parsed.attachments.map(({ contentId, disposition, filename, related }) => [
        filename,
        disposition,
        contentId ?? null,
        related ?? false
      ])
    ).toEqual([
      ["logo.png", "inline", "<logo@agents.test>", true],
      ["list.csv", "attachment", null, false]
    ])
  })

  it.each([
    [
      "250 Ok 0100018f2a3b4c5d-6e7f8091-a2b3-4c4d-8e9f-0a1b2c3d4e5f-000000",
      ["0100018f2a3b4c5d-6e7f8091-a2b3-4c4d-8e9f-0a1b2c3d4e5f-000000"]
    ],
    [
      "250 2.0.0 OK <AM0PR07MB1234@AM0PR07MB1234.eurprd07.prod.outlook.com> [Hostname=AM0PR07MB1234.eurprd07.prod.outlook.com]",
      ["AM0PR07MB1234"]
    ],
    ["250 2.6.0 <0199-abc@agents.test> [InternalId=123] Queued mail for delivery", ["0199-abc"]],
    ["250 2.0.0 Ok: queued as 4XyZ12", []],
    ["250 Great success", []],
    ["250 2.0.0 OK mail-relay-0123456789.region-1.example.com accepted", []]
  ])("is known by the id of the reply %s", async (reply, relayIds) => {
    const server = await started({ message: reply })
    expect(receiptOf(await sendTo(server)).relayIds).toEqual(relayIds)
  })

  it("is signed so that it verifies with the DNS record", async () => {
    const server = await started()
    const key = await Effect.runPromise(generateDkimKey("agents.test", "s1"))
    const dkim = { domain: "agents.test", selector: "s1", privateKey: key.privateKey }
    Result.getOrThrow(await sendTo(server, { dkim }))
    expect(new Set(server.messages).size).toBe(1)
    expect(await signatures(server.messages[0], [key])).toEqual([["pass", "s1"]])
  })

  it("is signed by the next key from its time on, and before that by the first", async () => {
    const server = await started()
    const [first, second] = await Effect.runPromise(
      Effect.all([generateDkimKey("agents.test", "s1"), generateDkimKey("agents.test", "s2")])
    )
    const from = Timestamp.fromMillis(mail.date + Timestamp.DAY)
    const next = { selector: "s2", privateKey: second.privateKey, from }
    const dkim = { domain: "agents.test", selector: "s1", privateKey: first.privateKey, next }
    const sentAt = [from - 1, from, from + Timestamp.HOUR]
    const lines: Array<unknown> = []
    await Effect.runPromise(
      Effect.flatMap(EmailProvider, (provider) =>
        Effect.forEach(sentAt, (now) =>
          Effect.andThen(TestClock.setTime(now), provider.send({ ...mail, recipients: ["one@else.test"] }))
        )
      ).pipe(
        Effect.provide(EmailProviderSmtp.layer(config(server.port, { dkim }))),
        Effect.provide([TestClock.layer(), Logger.layer([Logger.make(({ message }) => lines.push(message))])])
      )
    )
    const signers = await Promise.all(server.messages.map((raw) => signatures(raw, [first, second])))
    expect(signers).toEqual([[["pass", "s1"]], [["pass", "s2"]], [["pass", "s2"]]])
    expect(lines).toEqual([["outbound mail is now signed with the DKIM selector s2"]])
  })

  it("requests reports from a relay that offers DSN, and from no other", async () => {
    const server = await started({ extensions: ["DSN"] })
    const recipients = ["one@else.test", "a+b@else.test"]
    Result.getOrThrow(await sendTo(server, { connectionsMax: 1 }, { ...mail, recipients }))
    const commands = server.commands.filter((line) => /^(MAIL|RCPT)/.test(line))
    const notify = "NOTIFY=SUCCESS,FAILURE"
    expect(commands).toEqual([
      "MAIL FROM:<bounces+1@agents.test> RET=HDRS ENVID=0199-abc@agents.test",
      `RCPT TO:<one@else.test> ${notify} ORCPT=rfc822;one@else.test`,
      "MAIL FROM:<bounces+2@agents.test> RET=HDRS ENVID=0199-abc@agents.test",
      `RCPT TO:<a+b@else.test> ${notify} ORCPT=rfc822;a+2Bb@else.test`
    ])
    const plain = await started()
    Result.getOrThrow(await sendTo(plain))
    expect(plain.commands.join(" ")).not.toMatch(/NOTIFY|ENVID|RET=/)
  })

  it("carries attachments byte for byte, and again when it moves to another connection", async () => {
    const server = await started({ extensions: ["PIPELINING"] })
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256)
    const attachments = [
      { filename: "Größe.bin", contentType: "application/octet-stream", content: bytes },
      { filename: "a.txt", contentType: "text/plain; charset=utf-8", content: new TextEncoder().encode("Grüße\n") },
      { filename: "empty", contentType: "image/png", content: new Uint8Array() }
    ]
    const sent = attachments.map(({ content, ...file }) => ({
      ...file,
      sizeBytes: content.length,
      content: Stream.make(content.slice(0, 1_000), content.slice(1_000))
    }))
    await withProvider(
      config(server.port, { connectionsMax: 1 }),
      Effect.fnUntraced(function* (provider) {
        yield* provider.send({ ...mail, recipients: ["one@else.test"] })
        server.dropConnections()
        yield* provider.send({ ...mail, attachments: sent })
      })
    )
    expect(new Set(server.messages.slice(1)).size).toBe(1)
    const parsed = await PostalMime.parse(server.messages[1] ?? "")
    expect(
      parsed.attachments.map(({ content, disposition, filename, mimeType }) => ({
        filename,
        mimeType,
        disposition,
        content: typeof content === "string" ? content : Uint8Array.from(new Uint8Array(content))
      }))
    ).toEqual(
      attachments.map(({ content, contentType, filename }) => ({
        filename,
        mimeType: contentType.split(";")[0],
        disposition: "attachment",
        content
      }))
    )
  })

  it("with small attachments does not wait behind mails to which the relay does not reply", async () => {
    const server = await started({ command: (line) => (line.includes("<silent@") ? silence : undefined) })
    const content = new TextEncoder().encode("Paid.")
    const attachments = [
      { filename: "a.txt", contentType: "text/plain", sizeBytes: content.length, content: Stream.make(content) }
    ]
    await withProvider(
      config(server.port, { timeouts: { socket: 60_000, send: 60_000 } }),
      Effect.fnUntraced(function* (provider) {
        const silent = { ...mail, attachments, recipients: ["silent@else.test"] }
        const waiting = [yield* Effect.forkChild(provider.send(silent)), yield* Effect.forkChild(provider.send(silent))]
        yield* Effect.promise(async () => {
          const reached = () => server.commands.filter((line) => line.includes("<silent@"))
          await expect.poll(reached).toHaveLength(waiting.length)
        })
        const receipt = yield* provider.send({ ...mail, attachments })
        expect(receipt.accepted).toEqual(mail.recipients)
        for (const fiber of waiting) yield* Fiber.interrupt(fiber)
      })
    )
  })

  it("can't name files or URLs to fetch", async () => {
    const server = await started()
    const text = '{"path":"/etc/passwd"}'
    Result.getOrThrow(await sendTo(server, {}, { ...mail, text, html: '<img src="file:///etc/passwd">' }))
    expect(server.messages[0]).toContain(text)
    expect(server.messages[0]).not.toContain("root:")
  })

  it("uses pooled connections, and a new one if the server closed the old", async () => {
    const server = await started({ extensions: ["PIPELINING"] })
    await withProvider(
      config(server.port, { connectionsMax: 1 }),
      Effect.fnUntraced(function* (provider) {
        yield* provider.send(mail)
        yield* provider.send(mail)
        expect(server.connections()).toBe(1)
        server.dropConnections()
        yield* provider.send(mail)
        expect(server.connections()).toBe(2)
      })
    )
    expect(server.messages).toHaveLength(3 * mail.recipients.length)
  })
})

describe("an address beyond ASCII", () => {
  const unicode = {
    ...mail,
    recipients: ["jürgen@xn--mller-kva.example", "two@else.test"],
    returnPaths: ["bounces+1@agents.test", "bounces+2@agents.test"],
    to: ["jürgen@xn--mller-kva.example"],
    cc: ["two@else.test"],
    bcc: []
  }

  it("is named with SMTPUTF8, and as an empty group in the copies of others", async () => {
    const server = await started({ extensions: ["SMTPUTF8", "8BITMIME"] })
    const receipt = receiptOf(await sendTo(server, { connectionsMax: 1 }, unicode))
    expect(receipt.rejected).toEqual([])
    const [first = "", second = ""] = server.commands.filter((line) => line.startsWith("MAIL"))
    expect(first).toMatch(/ SMTPUTF8( |$)/)
    expect(second).not.toContain("SMTPUTF8")
    const [own = "", other = ""] = server.messages.map((raw) => Buffer.from(raw, "latin1").toString())
    expect(own).toMatch(/^To: jürgen@müller\.example\r$/m)
    expect(other).toMatch(/^To: =\?UTF-8\?.*\?=:;\r$/m)
    expect(other.slice(0, other.indexOf("\r\n\r\n"))).toMatch(/^[\0-\x7f]*$/)
  })

  it("is refused, and not named, if the relay does not offer SMTPUTF8", async () => {
    const server = await started({ extensions: ["8BITMIME"] })
    const receipt = receiptOf(await sendTo(server, { connectionsMax: 1 }, unicode))
    expect(receipt.accepted).toEqual(["two@else.test"])
    expect(receipt.rejected).toEqual([
      { address: unicode.recipients[0], reason: expect.stringMatching(/^553 5\.6\.7 .*SMTPUTF8/) }
    ])
    expect(server.commands.filter((line) => line.startsWith("RCPT"))).toEqual(["RCPT TO:<two@else.test>"])
    const alone = { ...unicode, recipients: [unicode.recipients[0]!], cc: [] }
    expect(failureOf(await sendTo(server, {}, alone))).toMatchObject({
      reason: "Rejected",
      refused: [{ reason: expect.stringMatching(/^553 5\.6\.7 /) }]
    })
  })
})

describe("recipients", () => {
  const refusing = (refused: Record<string, string>): Script => ({
    command: (line) => Object.entries(refused).find(([address]) => line.includes(`<${address}>`))?.[1]
  })

  it("each have their own outcome, with the server's reason", async () => {
    const server = await started(
      refusing({ "two@else.test": "550 5.1.1 no such user", "three@hidden.test": "450 later" })
    )
    expect(Result.getOrThrow(await sendTo(server))).toEqual({
      accepted: ["one@else.test"],
      rejected: [
        { address: "two@else.test", reason: "550 5.1.1 no such user" },
        { address: "three@hidden.test", reason: "450 later" }
      ],
      response: "250 2.0.0 queued as 1",
      relayIds: []
    })
  })

  it("are not all asked by a relay that does not answer, however many they are", async () => {
    const recipients = Array.from({ length: 50 }, (_, at) => `r${at}@else.test`)
    const returnPaths = recipients.map((_, at) => `bounces+${at}@agents.test`)
    const server = await started({
      command: (line) => (line.startsWith("RCPT") && !line.includes("<r0@") ? drop : undefined)
    })
    const receipt = Result.getOrThrow(await sendTo(server, {}, { ...mail, recipients, returnPaths }))
    expect(receipt.accepted).toEqual(["r0@else.test"])
    expect(new Set(receipt.rejected.map(({ reason }) => reason.slice(0, 9)))).toEqual(new Set(["421 4.4.2"]))
    expect(server.commands.filter((line) => line.startsWith("RCPT")).length).toBeLessThan(recipients.length / 2)
  })

  it("are asked for one after the first alone, so that a relay that does not answer is asked once", async () => {
    const recipients = ["one@else.test", "two@else.test", "three@else.test"]
    const returnPaths = recipients.map((_, at) => `bounces+${at}@agents.test`)
    const server = await started({ command: (line) => (line.startsWith("RCPT") ? drop : undefined) })
    await sendTo(server, {}, { ...mail, recipients, returnPaths })
    expect(server.commands.filter((line) => line.startsWith("RCPT"))).toEqual([
      expect.stringContaining("<one@else.test>")
    ])
  })

  it("are refused alone if the relay refuses the mail for one of them after its transfer", async () => {
    let refuse = false
    const server = await started({
      command: (line) => {
        if (line.startsWith("RCPT")) refuse = line.includes("<two@else.test>")
        return line === "DATA" && refuse ? "554 5.7.1 not for two" : undefined
      }
    })
    const receipt = Result.getOrThrow(await sendTo(server, { connectionsMax: 1 }))
    expect(receipt.accepted).toEqual(["one@else.test", "three@hidden.test"])
    expect(receipt.rejected).toEqual([{ address: "two@else.test", reason: "554 5.7.1 not for two" }])
  })

  it("are named as they were given", async () => {
    const server = await started(refusing({ "B@else.test": "550 5.1.1 no" }))
    const sent = { ...mail, recipients: ["A@Else.Test", "B@ELSE.test"] }
    const receipt = Result.getOrThrow(await sendTo(server, {}, sent))
    expect(receipt.accepted.map((address) => address.toLowerCase())).toEqual(["a@else.test"])
    expect(receipt.rejected).toEqual([{ address: "B@ELSE.test", reason: "550 5.1.1 no" }])
  })

  it("may be fewer than the header names, in a later attempt", async () => {
    const server = await started()
    const receipt = Result.getOrThrow(await sendTo(server, {}, { ...mail, recipients: ["two@else.test"] }))
    expect(receipt.accepted).toEqual(["two@else.test"])
    expect(server.commands.filter((line) => line.startsWith("RCPT"))).toEqual(["RCPT TO:<two@else.test>"])
    expect(server.messages[0]).toMatch(/^To: one@else\.test\r\nCc: two@else\.test\r\n/m)
  })

  it("all refused, one of them temporarily, whichever is the last: none accepted, each with its reply", async () => {
    for (const deferred of mail.recipients) {
      const server = await started({
        command: (line) =>
          !line.startsWith("RCPT") ? undefined : line.includes(deferred) ? "450 4.7.1 later" : "550 5.1.1 no such user"
      })
      const { accepted, rejected } = receiptOf(await sendTo(server))
      expect([accepted, rejected.map(({ reason }) => reason.slice(0, 3)).sort()]).toEqual([[], ["450", "550", "550"]])
    }
  })

  for (const extensions of [[], ["PIPELINING"]]) {
    const all = (reply: string): Script => ({
      extensions,
      command: (line) =>
        line.startsWith("RCPT") ? reply : line === "DATA" && extensions.length > 0 ? "503 no recipients" : undefined
    })
    const how = extensions.length > 0 ? " (pipelined)" : ""

    it(`all refused permanently: Rejected${how}`, async () => {
      const error = failureOf(await sendTo(await started(all("550 5.1.1 nobody here"))))
      expect(error).toMatchObject({ _tag: "ProviderError", provider: "smtp", reason: "Rejected" })
      expect(error.message).toContain("550 5.1.1 nobody here")
      expect(error.refused).toEqual([
        { address: "one@else.test", reason: "550 5.1.1 nobody here" },
        { address: "two@else.test", reason: "550 5.1.1 nobody here" },
        { address: "three@hidden.test", reason: "550 5.1.1 nobody here" }
      ])
    })

    it(`all refused temporarily: none accepted, and the reply${how}`, async () => {
      const { accepted, rejected, response } = receiptOf(await sendTo(await started(all("450 4.2.1 later"))))
      expect([accepted, response]).toEqual([[], "450 4.2.1 later"])
      expect(rejected.map(({ reason }) => reason)).toEqual(mail.recipients.map(() => "450 4.2.1 later"))
    })

    it(`all refused temporarily by a relay that closes: Temporary${how}`, async () => {
      expect(failureOf(await sendTo(await started(all("421 4.3.2 closing")))).reason).toBe("Temporary")
    })
  }
})

/** The name of a failure, the relay that it comes from, and its reason. */
type Failing = readonly [string, Script, ProviderError["reason"]]

describe("failures", () => {
  const cases: ReadonlyArray<Failing> = [
    ["greeting 554", { greeting: "554 go away" }, "Misconfigured"],
    ["greeting 421", { greeting: "421 too busy" }, "Temporary"],
    ["closed before the greeting", { greeting: drop }, "Temporary"],
    ["MAIL 550", { command: (line) => (line.startsWith("MAIL") ? "550 5.7.1 sender refused" : undefined) }, "Rejected"],
    ["MAIL 530", { command: (line) => (line.startsWith("MAIL") ? "530 5.7.0 log in" : undefined) }, "Misconfigured"],
    ["MAIL 451", { command: (line) => (line.startsWith("MAIL") ? "451 4.3.0 trouble" : undefined) }, "Temporary"],
    ["closed at RCPT", { command: (line) => (line.startsWith("RCPT") ? drop : undefined) }, "Temporary"],
    ["421 at RCPT", { command: (line) => (line.startsWith("RCPT") ? "421 closing" : undefined) }, "Temporary"],
    ["closed at DATA", { command: (line) => (line === "DATA" ? drop : undefined) }, "Temporary"],
    ["DATA 554", { command: (line) => (line === "DATA" ? "554 5.6.0 no" : undefined) }, "Rejected"],
    ["DATA 451", { command: (line) => (line === "DATA" ? "451 4.3.0 no" : undefined) }, "Temporary"],
    ["DATA 503", { command: (line) => (line === "DATA" ? "503 5.5.1 sequence" : undefined) }, "Temporary"],
    ["message 554", { message: "554 5.6.0 no" }, "Rejected"],
    ["message 552", { message: "552 5.3.4 too big" }, "Rejected"],
    ["message 452", { message: "452 4.3.1 full" }, "Temporary"],
    ["message 421", { message: "421 4.3.2 closing" }, "Temporary"],
    ["closed after the final dot", { message: drop }, "Unknown"],
    ["closed after the final dot in the middle of a reply", { message: { drop: true, after: "550 5.6" } }, "Unknown"]
  ]
  for (const [name, script, reason] of cases) {
    it(`${name}: ${reason}`, async () => {
      expect(failureOf(await sendTo(await started(script))).reason).toBe(reason)
    })
  }

  it("closed within a large message: Temporary, since the final dot was never sent", async () => {
    const server = await started({ dropAfterBytes: 20_000 })
    const text = `${"x".repeat(70)}\n`.repeat(14_000)
    expect(failureOf(await sendTo(server, {}, { ...mail, text })).reason).toBe("Temporary")
  })

  it("no server listening: Temporary", async () => {
    const server = await started()
    await server.close()
    const error = failureOf(await sendTo(server))
    expect(error.reason).toBe("Temporary")
    expect(error.message).toContain("ECONNREFUSED")
  })

  it("an interrupted send closes its connection", async () => {
    const server = await started({ message: silence })
    await withProvider(config(server.port), (provider) =>
      Effect.gen(function* () {
        const sending = yield* Effect.forkChild(provider.send({ ...mail, recipients: ["one@else.test"] }))
        yield* Effect.promise(() => vi.waitFor(() => expect(server.messages).toHaveLength(1), { timeout: 60_000 }))
        expect(server.openConnections()).toBe(1)
        yield* Fiber.interrupt(sending)
        yield* Effect.promise(() => vi.waitFor(() => expect(server.openConnections()).toBe(0), { timeout: 60_000 }))
      })
    )
  })

  const credentials = { user: "ada", password: Redacted.make("s3cret-password") }
  const login = (reply: string): Script => ({
    extensions: ["AUTH PLAIN LOGIN"],
    command: (line) => (line.startsWith("AUTH") ? reply : undefined)
  })

  it("credentials refused: Misconfigured, and the password is not in any message", async () => {
    const error = failureOf(await sendTo(await started(login("535 5.7.8 wrong password")), { credentials }))
    expect(error.reason).toBe("Misconfigured")
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain("s3cret-password")
  })

  it("credentials that can't be checked now: Temporary", async () => {
    expect(failureOf(await sendTo(await started(login("454 4.7.0 later")), { credentials })).reason).toBe("Temporary")
  })

  it("credentials that the server does not support: Misconfigured", async () => {
    const server = await started({ command: (line) => (line.startsWith("AUTH") ? "502 what?" : undefined) })
    expect(failureOf(await sendTo(server, { credentials })).reason).toBe("Misconfigured")
    expect(server.messages).toEqual([])
  })

  it("encryption required and refused: Misconfigured, and nothing is sent unencrypted", async () => {
    const server = await started({ command: (line) => (line === "STARTTLS" ? "502 no TLS" : undefined) })
    expect(failureOf(await sendTo(server, { security: "starttls" })).reason).toBe("Misconfigured")
    expect(server.commands.some((line) => line.startsWith("MAIL"))).toBe(false)
  })
})

describe("verify", () => {
  const credentials = { user: "ada", password: Redacted.make("s3cret-password") }
  const verify = (server: ScriptedSmtp) => verified(server, { credentials })
  const answering = (reply: string): Script => ({
    extensions: ["AUTH PLAIN"],
    command: (line) => (line.startsWith("AUTH") ? reply : undefined)
  })

  it("authenticates, and sends no mail", async () => {
    const server = await started(answering("235 2.7.0 ok"))
    expect(Result.isSuccess(await verify(server))).toBe(true)
    await vi.waitFor(
      () => expect(server.commands.map((line) => line.split(" ")[0])).toEqual(["EHLO", "AUTH", "QUIT"]),
      { timeout: 60_000 }
    )
  })

  it("fails as Misconfigured if the relay refuses the credentials, and does not name the password", async () => {
    const error = failureOf(await verify(await started(answering("535 5.7.8 wrong password"))))
    expect(error.reason).toBe("Misconfigured")
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain("s3cret-password")
  })
})

describe.concurrent("a relay that does not answer", () => {
  it("keeps the outcome of recipients if it does not answer for another one, which is to be retried", async () => {
    const server = await started({
      command: (line) => (line.includes("<two@else.test>") ? silence : undefined)
    })
    const receipt = Result.getOrThrow(await sendTo(server, { connectionsMax: 1, ...UNANSWERED }))
    expect(receipt.accepted).toEqual(["one@else.test", "three@hidden.test"])
    expect(receipt.rejected).toEqual([{ address: "two@else.test", reason: expect.stringMatching(/^421 4\.4\.2 /) }])
  })

  const silent: ReadonlyArray<Failing> = [
    ["no greeting", { greeting: silence }, "Temporary"],
    ["silent at RCPT", { command: (line) => (line.startsWith("RCPT") ? silence : undefined) }, "Temporary"],
    ["silent after the final dot", { message: silence }, "Unknown"]
  ]
  for (const [name, script, reason] of silent) {
    it(`${name}: ${reason}`, async () => {
      expect(failureOf(await sendTo(await started(script), UNANSWERED)).reason).toBe(reason)
    })
  }

  it("the whole send takes too long: Unknown if the mail was completely transferred, else Temporary", async () => {
    const timeouts = { socket: 60_000, send: SILENT_MILLIS }
    const scripts: ReadonlyArray<Script> = [
      { message: silence },
      { command: (line) => (line.startsWith("RCPT") ? silence : undefined) }
    ]
    const results = await Promise.all(scripts.map(async (script) => sendTo(await started(script), { timeouts })))
    expect(results.map((result) => failureOf(result).reason)).toEqual(["Unknown", "Temporary"])
  })

  it("fails verify as Temporary if it does not greet", async () => {
    expect(failureOf(await verified(await started({ greeting: silence }), UNANSWERED)).reason).toBe("Temporary")
  })
})

describe("configuration", () => {
  for (const privateKey of ["not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]) {
    it(`refuses an invalid DKIM key: ${privateKey.slice(0, 12)}`, async () => {
      const dkim = { domain: "agents.test", selector: "s1", privateKey: Redacted.make(privateKey) }
      const exit = await Effect.runPromiseExit(
        Effect.void.pipe(Effect.provide(EmailProviderSmtp.layer(config(1, { dkim }))))
      )
      expect(Exit.isFailure(exit)).toBe(true)
      expect(JSON.stringify(exit)).toContain("Misconfigured")
    })
  }
})
