import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { createTransport, type SendMailOptions } from "nodemailer"
import { describe, expect, it } from "vitest"
import { type Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import { Realtime } from "../support/Realtime.ts"
import { useSandbox } from "../support/useSandbox.ts"

const host = useSandbox()

interface MessageFields {
  readonly messageId: string
  readonly threadId: string
  readonly mailboxId: string
  readonly direction: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly subject: string
  readonly text?: string | null
  readonly html?: string | null
  readonly extractedText?: string | null
  readonly hasOmittedText?: boolean
  readonly oneTimeCode?: string | null
  readonly confirmationLink?: string | null
  readonly links?: ReadonlyArray<{ readonly text: string; readonly url: string }>
  readonly status: string
  readonly malformed: boolean
  readonly messageIdHeader: string
  readonly attachments: ReadonlyArray<{
    readonly attachmentId: string
    readonly filename: string
    readonly contentType: string
    readonly sizeBytes: number
    readonly sha256: string
  }>
  readonly authentication: {
    readonly spf: string
    readonly dkim: string
    readonly dmarc: string
    readonly domain: string | null
  } | null
  readonly recipients: ReadonlyArray<{
    readonly address: string
    readonly kind: string
    readonly status: string
    readonly reason: string | null
  }>
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const moment: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Each byte once, so that no text encoding preserves them. */
const ALL_BYTES = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte))

/** Upper bound of the time until a refund: the payment must be final first. */
const REFUND_MILLIS = 60_000

/** Sends a mail directly to the SMTP server of the service. */
const deliver = (options: SendMailOptions) =>
  createTransport({
    host: host.sandbox.mail.host,
    port: host.sandbox.mail.port,
    requireTLS: true,
    tls: { rejectUnauthorized: false }
  }).sendMail(options)

const listed = async (agent: Agent, mailboxId: string): Promise<ReadonlyArray<MessageFields>> => {
  const reply = await agent.send({ path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })
  expect(reply.status).toBe(200)
  return reply.body.data["items"] as unknown as ReadonlyArray<MessageFields>
}

const fetched = async (agent: Agent, messageId: string): Promise<MessageFields> => {
  const reply = await agent.send({ path: `/api/v1/email/messages/query?messageId=${messageId}` })
  expect(reply.status).toBe(200)
  return reply.body.data["message"]! as MessageFields
}

/** Waits until the mailbox has this many messages. */
const arrived = async (agent: Agent, mailboxId: string, count: number): Promise<ReadonlyArray<MessageFields>> => {
  for (let tries = 0; ; tries++) {
    const messages = await listed(agent, mailboxId)
    if (messages.length >= count || tries > 100) {
      expect(messages).toHaveLength(count)
      return messages
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const newMailbox = async (
  wallet: 0 | 1 | 2 = 0
): Promise<{ readonly agent: Agent; readonly mailbox: MailboxFields }> => {
  const agent = host.agent(wallet)
  return { agent, mailbox: await agent.createMailbox(freshName()) }
}

const send = (agent: Agent, body: Record<string, unknown>) => agent.pay({ path: "/api/v1/email/messages/send", body })

const outbox = async (recipient: string): Promise<ReadonlyArray<string>> => {
  const { outboxDir } = host.sandbox.mail
  const files = (await readdir(outboxDir)).filter((name) => name.endsWith(".eml"))
  const mails = await Promise.all(files.map((name) => readFile(`${outboxDir}/${name}`, "utf8")))
  return mails.filter((mail) => mail.includes(recipient))
}

/** Returns the return path of the one mail to a recipient. */
const returnPathOf = async (recipient: string): Promise<string> => {
  const { outboxDir } = host.sandbox.mail
  const files = (await readdir(outboxDir)).filter((name) => name.endsWith(".json"))
  const envelopes = await Promise.all(files.map((name) => readFile(`${outboxDir}/${name}`, "utf8")))
  const found = envelopes
    .map((text) => JSON.parse(text) as { readonly mailFrom: string; readonly rcptTo: ReadonlyArray<string> })
    .filter(({ rcptTo }) => rcptTo.includes(recipient))
  expect(found).toEqual([{ ...found[0], rcptTo: [recipient] }])
  return found[0]!.mailFrom
}

/** A complaint (RFC 5965) about these recipients, as any stranger can send it. */
const complaintAbout = (returnPath: string, recipients: ReadonlyArray<string>, from = "abuse@elsewhere.test") => {
  const report = ["Feedback-Type: abuse", "User-Agent: test/1", "Version: 1"]
  const named = recipients.map((recipient) => `Original-Rcpt-To: <${recipient}>`)
  return deliver({
    envelope: { from, to: returnPath },
    raw: [
      `From: ${from}`,
      `To: ${returnPath}`,
      "Subject: Complaint",
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "spam",
      "--b",
      "Content-Type: message/feedback-report",
      "",
      ...report,
      ...named,
      "",
      "--b--",
      ""
    ].join("\r\n")
  })
}

describe("inbound mail", () => {
  it("becomes one message and one event, which is delivered on the socket", async () => {
    const { agent, mailbox } = await newMailbox()
    const realtime = await Realtime.open(agent)
    await realtime.next("session.ready")
    while ((await realtime.next()).type !== "session.replay.complete");
    const info = await deliver({
      from: "Zoë <zoe@elsewhere.test>",
      to: mailbox.address,
      subject: "Grüße 👋",
      text: "The code is 123456.",
      html: "<p>The code is <b>123456</b>.</p>",
      attachments: [{ filename: "a.txt", content: "hello" }]
    })
    expect(info.response).toMatch(/^250 /)
    const { event } = await realtime.next("event.delivery")
    expect(event).toMatchObject({ type: "email.received", status: "delivered" })
    expect(event!.payload).toStrictEqual({
      type: "email.received",
      eventId: event!.eventId,
      mailboxId: mailbox.mailboxId,
      emailId: expect.stringMatching(UUID),
      from: "zoe@elsewhere.test",
      subject: "Grüße 👋",
      authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
      automatic: null,
      receivedAt: moment
    })
    expect(JSON.stringify(event)).not.toContain("123456")
    const message = await fetched(agent, event!.payload["emailId"]!)
    expect(message).toMatchObject({
      messageId: event!.payload["emailId"],
      threadId: event!.payload["emailId"],
      mailboxId: mailbox.mailboxId,
      from: "zoe@elsewhere.test",
      to: [mailbox.address],
      cc: [],
      bcc: [],
      subject: "Grüße 👋",
      snippet: "The code is 123456.",
      messageIdHeader: info.messageId,
      inReplyTo: null,
      references: [],
      createdAt: moment,
      direction: "inbound",
      status: "received",
      sender: { address: "zoe@elsewhere.test", name: "Zoë" },
      recipients: [{ address: mailbox.address, name: null, kind: "to", status: "received", reason: null }],
      text: expect.stringContaining("The code is 123456."),
      html: expect.stringContaining("<b>123456</b>"),
      malformed: false,
      attachments: [
        {
          attachmentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          filename: "a.txt",
          contentType: "text/plain",
          sizeBytes: 5,
          sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        }
      ]
    })
    const [summary] = await listed(agent, mailbox.mailboxId)
    const {
      confirmationLink: _confirmationLink,
      extractedText: _extractedText,
      hasOmittedText: _hasOmittedText,
      html: _html,
      links: _links,
      oneTimeCode: _oneTimeCode,
      text: _text,
      ...withoutBodies
    } = message
    expect(summary).toStrictEqual(withoutBodies)
    realtime.send({ type: "event.ack", eventId: event!.eventId })
    expect((await realtime.next("event.acknowledged")).eventId).toBe(event!.eventId)
    realtime.close()
    const got = await agent.send({ path: "/api/v1/events/get", body: { eventId: event!.eventId } })
    expect(got.body.data["event"]).toStrictEqual({
      eventId: event!.eventId,
      type: "email.received",
      status: "acknowledged",
      source: "smtp",
      service: "email",
      resourceId: message.messageId,
      agentId: mailbox.mailboxId,
      createdAt: moment,
      deliveredAt: moment,
      acknowledgedAt: moment,
      expiresAt: moment,
      deliveryCount: 1,
      payload: event!.payload
    })
    const { createdAt, expiresAt } = got.body.data["event"]! as {
      readonly createdAt: string
      readonly expiresAt: string
    }
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 24 * 3_600_000)
  })

  it("is retrievable in full: each attachment and the raw message, as bytes that a browser only saves", async () => {
    const { agent, mailbox } = await newMailbox()
    const page = "<script>alert(1)</script>"
    const image = Buffer.from(Array.from({ length: 700_000 }, (_, index) => (index * 31 + (index >> 7)) % 256))
    await deliver({
      from: "zoe@elsewhere.test",
      to: mailbox.address,
      subject: "Files",
      text: "See below",
      attachments: [
        { filename: "../../.bashrc", content: page, contentType: "text/html" },
        { filename: 'Grüße \u202egnp".png', content: image, contentType: "image/png" },
        { filename: "a.txt", content: "äöü\r\n", contentType: "text/plain", encoding: "utf8" }
      ]
    })
    const [{ attachments, messageId } = undefined!] = await arrived(agent, mailbox.mailboxId, 1)
    const path = `/api/v1/email/messages/${messageId}`
    const download = async (
      rest: string,
      headers: Record<string, string> = {},
      method = "GET",
      token = agent.token
    ) => {
      const init = { method, headers: { authorization: `Bearer ${token}`, ...headers } }
      const response = await fetch(`${host.sandbox.baseUrl}${path}${rest}`, init)
      const bytes = Buffer.from(await response.arrayBuffer())
      return { status: response.status, bytes, headers: Object.fromEntries(response.headers) }
    }
    const [first, second, third] = await Promise.all(
      attachments.map(({ attachmentId }) => download(`/attachments/${attachmentId}`))
    )
    expect(first).toMatchObject({
      status: 200,
      bytes: Buffer.from(page),
      headers: {
        "content-type": "application/octet-stream",
        "content-disposition": 'attachment; filename="_.._.bashrc"',
        "content-length": `${page.length}`,
        "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        etag: `"${attachments[0]!.sha256}"`
      }
    })
    expect(second!.bytes.equals(image)).toBe(true)
    expect(second!.headers).toMatchObject({
      "content-type": "image/png",
      "content-disposition": `attachment; filename="Gr__e _gnp_.png"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20_gnp_.png`
    })
    expect([third!.headers["content-type"], third!.bytes.toString()]).toEqual(["text/plain; charset=utf-8", "äöü\r\n"])
    for (const [index, { sizeBytes, sha256 }] of attachments.entries()) {
      const { bytes } = [first, second, third][index]!
      expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([sizeBytes, sha256])
    }

    const raw = await download("/raw")
    expect(raw.headers).toMatchObject({
      "content-type": "message/rfc822",
      "content-disposition": `attachment; filename="${messageId}.eml"`,
      "content-length": `${raw.bytes.length}`
    })
    expect(raw.bytes.includes("\r\nSubject: Files\r\n")).toBe(true)
    expect(raw.bytes.length).toBeGreaterThan(image.length * 1.33)
    const head = await download("/raw", {}, "HEAD")
    expect([head.status, head.headers["content-length"], head.bytes.length]).toEqual([200, `${raw.bytes.length}`, 0])
    const current = await download("/raw", { "if-none-match": raw.headers["etag"]! })
    expect([current.status, current.bytes.length]).toEqual([304, 0])
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => download(`/attachments/${attachments[1]!.attachmentId}`))
    )
    expect(replies.every(({ bytes }) => bytes.equals(image))).toBe(true)

    const unknown = "019ab1c4-0d7b-8e0f-9c3c-64a9d1c1b0e7"
    expect((await download(`/attachments/${unknown}`)).status).toBe(404)
    expect((await download("/attachments/1")).status).toBe(400)
    const { agent: other } = await newMailbox(1)
    for (const rest of ["/raw", `/attachments/${attachments[0]!.attachmentId}`]) {
      expect((await download(rest, {}, "GET", other.token)).status).toBe(403)
      expect((await download(rest, {}, "GET", "at_v1_x")).status).toBe(401)
    }
    const sent = await send(agent, {
      mailboxId: mailbox.mailboxId,
      to: ["bob@elsewhere.test"],
      subject: "s",
      text: "t"
    })
    const { messageId: sentId } = sent.body.data["message"]! as MessageFields
    const none = await agent.send({ path: `/api/v1/email/messages/${sentId}/raw` })
    expect([none.status, none.body.error.code]).toEqual([404, "RESOURCE_NOT_FOUND"])
    expect(none.body.error.message).toContain("was sent from here")
  })

  it("from the sandbox's outside domain passes DMARC, in the event and in the message", async () => {
    const { agent, mailbox } = await newMailbox()
    const { domain } = host.sandbox.mail.outside
    await deliver({ from: `bob@${domain}`, to: mailbox.address, subject: "Your code", text: "482 913" })
    const [message] = await arrived(agent, mailbox.mailboxId, 1)
    expect(message!.authentication).toEqual({ spf: "pass", dkim: "none", dmarc: "pass", domain })
    const { body } = await agent.send({ path: "/api/v1/events/list", body: { agentId: mailbox.mailboxId } })
    const [event] = body.data["items"] as unknown as ReadonlyArray<{ readonly payload: unknown }>
    expect(event!.payload).toMatchObject({ emailId: message!.messageId, authentication: message!.authentication })
  })

  it("names its Reply-To, its mailing list and why it is automatic, in the message and in the event", async () => {
    const { agent, mailbox } = await newMailbox()
    await deliver({
      from: "news@elsewhere.test",
      replyTo: ["Desk <desk@elsewhere.test>", "ann@elsewhere.test"],
      to: mailbox.address,
      subject: "News",
      text: "hello",
      headers: {
        "List-Id": "Elsewhere News <news.elsewhere.test>",
        "List-Post": { prepared: true, value: "<mailto:news@elsewhere.test>" },
        "List-Unsubscribe": { prepared: true, value: "<mailto:off@elsewhere.test>, <https://elsewhere.test/off?u=1>" },
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
      }
    })
    const [message] = await arrived(agent, mailbox.mailboxId, 1)
    const expected = {
      replyTo: ["desk@elsewhere.test", "ann@elsewhere.test"],
      automatic: "mailing_list",
      mailingList: {
        listId: "news.elsewhere.test",
        post: "news@elsewhere.test",
        unsubscribe: ["mailto:off@elsewhere.test", "https://elsewhere.test/off?u=1"],
        oneClick: true
      }
    }
    expect(message).toMatchObject(expected)
    expect(await fetched(agent, message!.messageId)).toMatchObject(expected)
    const found = await agent.send({ path: "/api/v1/email/messages/query?q=desk@elsewhere.test" })
    expect(found.body.data["items"]).toHaveLength(1)
    const { body } = await agent.send({ path: "/api/v1/events/list", body: { agentId: mailbox.mailboxId } })
    expect(body.data["items"]).toMatchObject([{ payload: { automatic: "mailing_list" } }])
  })

  it("with an empty envelope sender is automatic", async () => {
    const { agent, mailbox } = await newMailbox()
    await deliver({
      envelope: { from: "", to: mailbox.address },
      from: "bob@elsewhere.test",
      subject: "Away",
      text: "x"
    })
    expect(await arrived(agent, mailbox.mailboxId, 1)).toMatchObject([{ automatic: "null_sender", mailingList: null }])
  })

  it("with an unproven domain fails DMARC", async () => {
    const { agent, mailbox } = await newMailbox()
    const from = `ceo@${host.sandbox.emailDomain}`
    await deliver({ envelope: { from: "x@elsewhere.test", to: mailbox.address }, from, subject: "Pay", text: "now" })
    const [message] = await arrived(agent, mailbox.mailboxId, 1)
    expect(message).toMatchObject({ from, authentication: { dmarc: "fail", domain: null } })
  })

  it("without exactly one author is refused", async () => {
    const { mailbox } = await newMailbox()
    const from = [`ceo@${host.sandbox.emailDomain}`, "x@elsewhere.test"]
    await expect(deliver({ from, to: mailbox.address, subject: "Pay", text: "now" })).rejects.toMatchObject({
      response: expect.stringMatching(/^550 5\.7\.1 /)
    })
  })

  it("is delivered once to each mailbox that it names, tags included", async () => {
    const { agent, mailbox } = await newMailbox()
    const second = await agent.createMailbox(freshName())
    const other = await newMailbox(1)
    const tagged = mailbox.address.replace("@", "+news@")
    await deliver({
      from: "a@elsewhere.test",
      to: [mailbox.address, tagged, second.address.toUpperCase(), other.mailbox.address],
      subject: "all",
      text: "all"
    })
    await arrived(agent, mailbox.mailboxId, 1)
    await arrived(agent, second.mailboxId, 1)
    await arrived(other.agent, other.mailbox.mailboxId, 1)
  })

  it("is stored once if it is sent twice", async () => {
    const { agent, mailbox } = await newMailbox()
    const mail = {
      from: "a@elsewhere.test",
      to: mailbox.address,
      subject: "twice",
      date: new Date("2026-01-31T12:00:00Z"),
      messageId: `<${freshName()}@elsewhere.test>`
    }
    await deliver({ ...mail, text: "one" })
    await deliver({ ...mail, text: "one" })
    await deliver({ ...mail, text: "two" })
    await deliver({ ...mail, text: "one", subject: "other" })
    await deliver({ ...mail, text: "one", date: new Date("2026-01-31T12:00:01Z") })
    await arrived(agent, mailbox.mailboxId, 4)
    const { body } = await agent.send({ path: "/api/v1/events/list", body: { agentId: mailbox.mailboxId } })
    expect(body.data["items"]).toHaveLength(4)
  })

  it("keeps named texts as files, tells pictures of one name apart, and lists its links", async () => {
    const { agent, mailbox } = await newMailbox()
    const from = "zoe@elsewhere.test"
    const picture = (id: string) =>
      `--b\r\nContent-Type: image/png; name="image001.png"\r\nContent-ID: <${id}>\r\nContent-Disposition: inline\r\n\r\nx\r\n`
    await deliver({
      envelope: { from, to: mailbox.address },
      raw: [
        `From: Zoe, Elsewhere: Sales <${from}>`,
        "Subject: =?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=",
        "Content-Type: multipart/related; boundary=b",
        "",
        "--b",
        "Content-Type: text/html; charset=us-ascii",
        "Content-Transfer-Encoding: 8bit",
        "",
        '<div style="display:none">Preview</div><p>Grüße: <a href="https://elsewhere.test/a?b=1&amp;c=2">open</a></p>',
        `${picture("a1@x")}${picture("b2@x")}--b`,
        'Content-Type: text/plain; name="list.csv"',
        "",
        "a,b",
        "--b--",
        ""
      ].join("\r\n")
    })
    const [{ messageId } = undefined!] = await arrived(agent, mailbox.mailboxId, 1)
    const { body } = await agent.send({ path: `/api/v1/email/messages/query?messageId=${messageId}` })
    const url = "https://elsewhere.test/a?b=1&c=2"
    expect(body.data).toMatchObject({
      message: {
        from,
        sender: { address: from, name: "Zoe, Elsewhere: Sales" },
        subject: "Grüße",
        text: `Grüße: open <${url}>`,
        links: [{ text: "open", url }],
        attachments: [
          { filename: "image001.png", contentId: "a1@x", disposition: "inline" },
          { filename: "image001.png", contentId: "b2@x", disposition: "inline" },
          { filename: "list.csv", contentId: null, disposition: "attachment" }
        ]
      }
    })
  })

  it("is refused for unknown and inactive mailboxes and other domains, and if it is too large", async () => {
    const { agent, mailbox } = await newMailbox()
    const refused = async (options: SendMailOptions) => {
      const error = (await deliver({ from: "a@elsewhere.test", subject: "x", text: "x", ...options }).catch(
        (e: unknown) => e
      )) as {
        readonly responseCode: number
      }
      return error.responseCode
    }
    expect(await refused({ to: `${freshName()}@${host.sandbox.emailDomain}` })).toBe(550)
    expect(await refused({ to: "a@elsewhere.test" })).toBe(550)
    expect(await refused({ to: mailbox.address, text: "x".repeat(26 * 1024 * 1024) })).toBe(552)
    const update = await agent.pay({
      path: "/api/v1/email/mailboxes/update",
      body: { mailboxId: mailbox.mailboxId, active: false }
    })
    expect(update.body.data["mailbox"]).toMatchObject({ active: false })
    expect(await refused({ to: mailbox.address })).toBe(550)
    expect(await listed(agent, mailbox.mailboxId)).toHaveLength(0)
  })

  it("is stored and flagged, or read as far as possible, if its MIME is broken", async () => {
    const { agent, mailbox } = await newMailbox()
    const bomb = `From: a@elsewhere.test\r\nTo: ${"g:".repeat(20_000)}\r\nSubject: bomb\r\n\r\nbody\r\n`
    const broken =
      'From: a@elsewhere.test\r\nContent-Type: multipart/mixed; boundary="x"\r\nSubject: broken\r\n\r\n--x\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!'
    for (const raw of [bomb, broken, "From: a@elsewhere.test\r\n", "From: a@elsewhere.test\r\n\r\n\0"]) {
      const info = await deliver({ envelope: { from: "a@elsewhere.test", to: mailbox.address }, raw })
      expect(info.response).toMatch(/^250 /)
    }
    await arrived(agent, mailbox.mailboxId, 4)
    await deliver({ from: "a@elsewhere.test", to: mailbox.address, subject: "after", text: "still here" })
    const messages = await arrived(agent, mailbox.mailboxId, 5)
    expect(messages[0]!.subject).toBe("after")
  })

  it("is paged newest first, without a gap or a repeat", async () => {
    const { agent, mailbox } = await newMailbox()
    for (let i = 0; i < 5; i++)
      await deliver({ from: "a@elsewhere.test", to: mailbox.address, subject: `${i}`, text: "x" })
    await arrived(agent, mailbox.mailboxId, 5)
    const subjects: Array<string> = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`
      const reply = await agent.send({
        path: `/api/v1/email/messages/query?mailboxId=${mailbox.mailboxId}&limit=2${query}`
      })
      const page = reply.body.data as unknown as {
        readonly items: ReadonlyArray<MessageFields>
        readonly nextCursor: string | null
      }
      subjects.push(...page.items.map(({ subject }) => subject))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect([...subjects].sort()).toEqual(["0", "1", "2", "3", "4"])
  })
})

describe("a sender policy", () => {
  const policyOf = async (agent: Agent, mailboxId: string) => {
    const { body } = await agent.send({ path: "/api/v1/email/mailboxes/query" })
    const mailboxes = body.data["items"] as unknown as ReadonlyArray<MailboxFields>
    return mailboxes.find((mailbox) => mailbox.mailboxId === mailboxId)?.senderPolicy
  }
  const update = async (agent: Agent, mailboxId: string, senderPolicy: unknown) => {
    const reply = await agent.pay({ path: "/api/v1/email/mailboxes/update", body: { mailboxId, senderPolicy } })
    expect(reply.status).toBe(200)
    return (reply.body.data["mailbox"]! as MailboxFields).senderPolicy
  }
  const answerTo = async (options: SendMailOptions): Promise<string> =>
    deliver({ subject: "s", text: "t", ...options }).then(
      ({ response }) => response,
      (error: { readonly response: string }) => error.response
    )

  it("is set on creation, replaced by an update, and listed", async () => {
    const agent = host.agent(0)
    const given = { mode: "listed", allow: ["Bob@Elsewhere.test", "Bücher.example"] }
    const stored = { mode: "listed", allow: ["bob@elsewhere.test", "xn--bcher-kva.example"], block: [] }
    const created = await agent.pay({
      path: "/api/v1/email/mailboxes",
      body: { localPart: freshName(), senderPolicy: given }
    })
    const { mailboxId, senderPolicy } = created.body.data["mailbox"]! as MailboxFields
    await agent.authenticate(created.body.data["authentication"])
    expect(senderPolicy).toEqual(stored)
    expect(await policyOf(agent, mailboxId)).toEqual(stored)
    const blocking = { mode: "anyone", allow: [], block: ["elsewhere.test"] }
    expect(await update(agent, mailboxId, { block: ["elsewhere.test"] })).toEqual(blocking)
    const named = await agent.pay({ path: "/api/v1/email/mailboxes/update", body: { mailboxId, displayName: "Ada" } })
    expect(named.body.data["mailbox"]).toMatchObject({ displayName: "Ada", senderPolicy: blocking })
    expect(await update(agent, mailboxId, {})).toEqual({ mode: "anyone", allow: [], block: [] })
  })

  it("is decided by the author, after DATA: mail that it does not admit gets 550 and is not stored", async () => {
    const { agent, mailbox } = await newMailbox()
    const { domain } = host.sandbox.mail.outside
    const to = mailbox.address
    await update(agent, mailbox.mailboxId, { mode: "authenticated", block: [`mallory@${domain}`] })
    const forged = { from: `ceo@${host.sandbox.emailDomain}`, envelope: { from: "x@elsewhere.test", to } }
    const refused = /^550 5\.7\.1 .*does not accept mail from this sender/
    expect(await answerTo({ from: "bob@elsewhere.test", to })).toMatch(refused)
    expect(await answerTo({ ...forged, to })).toMatch(refused)
    expect(await answerTo({ from: `Mallory@${domain}`, to })).toMatch(refused)
    expect(await answerTo({ from: `bob@${domain}`, to, subject: "proven" })).toMatch(/^250 /)
    await update(agent, mailbox.mailboxId, { mode: "listed", allow: ["elsewhere.test", host.sandbox.emailDomain] })
    expect(await answerTo({ from: `bob@${domain}`, to })).toMatch(refused)
    expect(await answerTo({ ...forged, to })).toMatch(refused)
    const listedSender = { from: "bob@mail.elsewhere.test", to: to.replace("@", "+tag@"), subject: "listed" }
    expect(await answerTo(listedSender)).toMatch(/^250 /)
    const messages = await arrived(agent, mailbox.mailboxId, 2)
    expect(messages.map(({ authentication, subject }) => [subject, authentication?.dmarc])).toEqual([
      ["listed", "none"],
      ["proven", "pass"]
    ])
  })

  it("keeps mail for several recipients from those that do not admit it, without a bounce", async () => {
    const { agent, mailbox } = await newMailbox()
    const open = await newMailbox(1)
    await update(agent, mailbox.mailboxId, { mode: "listed" })
    const text = "x".repeat(400_000)
    const to = [mailbox.address, open.mailbox.address]
    expect(await answerTo({ from: "bob@elsewhere.test", to, subject: "both", text })).toMatch(/^250 /)
    await arrived(open.agent, open.mailbox.mailboxId, 1)
    await arrived(agent, mailbox.mailboxId, 0)
    expect(await answerTo({ from: "bob@elsewhere.test", to: mailbox.address })).toMatch(/^550 /)
  })

  it("is refused before payment if an entry is invalid, and names its index", async () => {
    const { agent, mailbox } = await newMailbox()
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [{ mode: "friends" }, "senderPolicy.mode"],
      [{ allow: ["a@b.test", "not an entry"] }, "senderPolicy.allow.1"],
      [{ block: ["*.b.test"] }, "senderPolicy.block.0"],
      [{ block: Array.from({ length: 101 }, (_, index) => `a${index}.test`) }, "senderPolicy.block"],
      [{ allowed: [] }, "senderPolicy.allowed"],
      ["listed", "senderPolicy"]
    ]
    for (const [senderPolicy, path] of wrong) {
      for (const request of [
        { path: "/api/v1/email/mailboxes", body: { localPart: freshName(), senderPolicy } },
        { path: "/api/v1/email/mailboxes/update", body: { mailboxId: mailbox.mailboxId, senderPolicy } }
      ]) {
        const { body, status } = await agent.send(request)
        expect([status, body.error.issues?.map((issue) => issue.path)]).toEqual([400, [path]])
      }
    }
  })
})

describe("outbound mail", () => {
  it("is signed, sent once and charged its price", async () => {
    const { agent, mailbox } = await newMailbox()
    const recipient = `${freshName()}@elsewhere.test`
    const hidden = `${freshName()}@elsewhere.test`
    const { amount, result } = await host.chain.charged(agent.account.address, () =>
      send(agent, {
        mailboxId: mailbox.mailboxId,
        to: [recipient],
        bcc: [hidden],
        subject: "Hällo",
        text: "Hi\n",
        html: "<p>Hi</p>"
      })
    )
    expect([result.status, amount]).toEqual([201, 20_000n])
    const message = result.body.data["message"]! as MessageFields
    expect(message).toMatchObject({ direction: "outbound", status: "sent", from: mailbox.address, subject: "Hällo" })
    expect(message.recipients).toEqual([
      { address: recipient, name: null, kind: "to", status: "sent", reason: null },
      { address: hidden, name: null, kind: "bcc", status: "sent", reason: null }
    ])
    const mails = await outbox(message.messageIdHeader)
    expect(mails).toEqual([mails[0], mails[0]])
    expect(mails[0]).toMatch(/^DKIM-Signature: /im)
    expect(mails[0]).not.toMatch(/^Bcc:/im)
    expect(mails[0]).not.toContain(hidden)
    expect(await returnPathOf(recipient)).not.toBe(await returnPathOf(hidden))
    expect(await fetched(agent, message.messageId)).toMatchObject({ text: "Hi\n" })
  })

  it("reaches another mailbox of the service with SPF, DKIM and DMARC passing, and threads the answer", async () => {
    const { agent, mailbox } = await newMailbox()
    const friend = await newMailbox(1)
    await send(agent, { mailboxId: mailbox.mailboxId, to: [friend.mailbox.address], subject: "Question", text: "?" })
    const [question] = await arrived(friend.agent, friend.mailbox.mailboxId, 1)
    expect(question!.authentication).toEqual({
      spf: "pass",
      dkim: "pass",
      dmarc: "pass",
      domain: host.sandbox.emailDomain
    })
    const [sent] = await listed(agent, mailbox.mailboxId)
    await deliver({
      from: friend.mailbox.address,
      to: mailbox.address,
      subject: "Re: Question",
      text: "!",
      inReplyTo: sent!.messageIdHeader
    })
    const [answer] = await arrived(agent, mailbox.mailboxId, 2)
    expect(answer!.threadId).toBe(sent!.threadId)
    expect(answer!.authentication!.dkim).not.toBe("pass")
  })

  it("reports the refused recipients and suppresses an address that does not exist", async () => {
    const { agent, mailbox } = await newMailbox()
    const missing = `${freshName()}@bounce.test`
    const recipient = `${freshName()}@elsewhere.test`
    const reply = await send(agent, { mailboxId: mailbox.mailboxId, to: [recipient, missing], subject: "s", text: "t" })
    expect(reply.status).toBe(201)
    const { recipients } = reply.body.data["message"]! as MessageFields
    expect(recipients).toMatchObject([
      { status: "sent" },
      { address: missing, status: "failed", reason: expect.stringContaining("550") }
    ])
    const again = await agent.send({
      path: "/api/v1/email/messages/send",
      body: { mailboxId: mailbox.mailboxId, to: [missing], subject: "s", text: "t" }
    })
    expect([again.status, again.body.error.issues?.[0]?.path]).toEqual([400, "to.0"])
  })

  it("to the postmaster of the service is sent, as every domain accepts it", async () => {
    const { agent, mailbox } = await newMailbox()
    const to = [`postmaster@${host.sandbox.emailDomain}`, `Abuse@${host.sandbox.emailDomain}`]
    const sent = await send(agent, { mailboxId: mailbox.mailboxId, to, subject: "Question", text: "?" })
    expect(sent.body.data["message"]).toMatchObject({ to, status: "sent" })
  })

  it("answers all but the return path that a vacation reply was sent to", async () => {
    const { agent, mailbox } = await newMailbox()
    const person = `${freshName()}@elsewhere.test`
    const ask = { mailboxId: mailbox.mailboxId, to: [person], subject: "Question", text: "?" }
    const question = (await send(agent, ask)).body.data["message"]! as MessageFields
    const returnPath = await returnPathOf(person)
    await deliver({ from: person, to: returnPath, cc: "dan@elsewhere.test", subject: "Re: Question", text: "Yes." })
    const arrival = (await arrived(agent, mailbox.mailboxId, 2)).find(({ direction }) => direction === "inbound")!
    expect(arrival).toMatchObject({
      threadId: question.threadId,
      recipients: [{ status: "received" }, { status: "unknown" }]
    })
    const answer = { mailboxId: mailbox.mailboxId, inReplyTo: arrival.messageId, replyAll: true, text: "Thanks" }
    expect((await send(agent, answer)).body.data["message"]).toMatchObject({ to: [person], cc: ["dan@elsewhere.test"] })
  })

  it("to an unknown or inactive mailbox of the service is refused before payment, and suppresses nothing", async () => {
    const { agent, mailbox } = await newMailbox()
    const friend = await newMailbox(1)
    const path = "/api/v1/email/messages/send"
    const missing = `${freshName()}@${host.sandbox.emailDomain}`
    const body = { mailboxId: mailbox.mailboxId, to: [friend.mailbox.address, missing], subject: "s", text: "t" }
    const unknown = await agent.send({ path, body })
    expect([unknown.status, unknown.body.error.code, unknown.body.error.issues]).toEqual([
      400,
      "INVALID_REQUEST",
      [{ path: "to.1", message: expect.stringContaining(missing) }]
    ])
    const activate = (active: boolean) =>
      friend.agent.pay({
        path: "/api/v1/email/mailboxes/update",
        body: { mailboxId: friend.mailbox.mailboxId, active }
      })
    await activate(false)
    const toFriend = { path, body: { ...body, to: [friend.mailbox.address] } }
    const inactive = await agent.send(toFriend)
    expect([inactive.status, inactive.body.error.issues?.[0]?.path]).toEqual([400, "to.0"])
    expect(inactive.body.error.issues![0]!.message.replace(friend.mailbox.address, "")).toBe(
      unknown.body.error.issues![0]!.message.replace(missing, "")
    )
    await activate(true)
    expect((await agent.pay(toFriend)).status).toBe(201)
  })

  it("is refunded if every recipient is refused permanently, and each retry reports the state of the refund", async () => {
    const { agent, mailbox } = await newMailbox()
    const request = {
      path: "/api/v1/email/messages/send",
      body: { mailboxId: mailbox.mailboxId, to: [`${freshName()}@reject.test`], subject: "s", text: "t" }
    }
    const signature = await agent.payment(request)
    const before = await host.chain.balanceOf(agent.account.address)
    const { amount, result } = await host.chain.charged(agent.account.address, async () => [
      await agent.replay(request, signature, "refused"),
      await agent.replay(request, signature, "refused")
    ])
    expect(amount).toBe(20_000n)
    for (const reply of result) {
      expect([reply.status, reply.body.error.code]).toEqual([502, "PROVIDER_REJECTED"])
      expect(reply.body.error).toMatchObject({ paymentState: "refund_due", retryable: false })
    }
    expect(await listed(agent, mailbox.mailboxId)).toHaveLength(0)
    // Tests that run later read the balance of this wallet, so the refund must be complete.
    await expect
      .poll(async () => (await agent.replay(request, signature, "refused")).body.error.paymentState, {
        timeout: REFUND_MILLIS,
        interval: 500
      })
      .toBe("refunded")
    expect(await host.chain.balanceOf(agent.account.address)).toBe(before)
  })

  it("whose only recipient the relay defers is queued, charged once, and answered again in the same way", async () => {
    const { agent, mailbox } = await newMailbox()
    const request = {
      path: "/api/v1/email/messages/send",
      body: { mailboxId: mailbox.mailboxId, to: [`${freshName()}@greylist.test`], subject: "s", text: "t" }
    }
    const signature = await agent.payment(request)
    const { amount, result } = await host.chain.charged(agent.account.address, async () => [
      await agent.replay(request, signature, "deferred"),
      await agent.replay(request, signature, "deferred")
    ])
    expect([amount, ...result.map(({ status }) => status)]).toEqual([20_000n, 201, 201])
    const [first, second] = result.map(({ body }) => body.data["message"]! as MessageFields)
    expect([first!.status, first!.recipients[0]!.status, second]).toEqual(["queued", "queued", first])
    expect(first!.recipients[0]!.reason).toMatch(/^451 /)
    const status = async () => (await fetched(agent, first!.messageId)).status
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe("sent")
  })

  it("retries the recipients that the relay defers, sends nothing again to the others, and is charged once", async () => {
    const { agent, mailbox } = await newMailbox()
    const name = freshName()
    const [open, greylisted, deferring] = ["elsewhere", "greylist", "defer"].map((of) => `${name}@${of}.test`)
    const attachments = [
      { filename: "all.bin", contentType: "application/octet-stream", contentBase64: ALL_BYTES.toString("base64") }
    ]
    const body = { mailboxId: mailbox.mailboxId, to: [open!], cc: [greylisted!], bcc: [deferring!], subject: "s" }
    const { amount, result } = await host.chain.charged(agent.account.address, () =>
      send(agent, { ...body, text: "t", attachments })
    )
    expect([result.status, amount]).toEqual([201, 20_000n])
    const message = result.body.data["message"]! as MessageFields
    expect([message.status, ...message.recipients.map(({ status }) => status)]).toEqual([
      "sent",
      "sent",
      "queued",
      "queued"
    ])
    expect(message.recipients[1]!.reason).toMatch(/^451 /)
    const statuses = async () => (await fetched(agent, message.messageId)).recipients.map(({ status }) => status)
    await expect.poll(statuses, { timeout: 60_000, interval: 500 }).toEqual(["sent", "sent", "queued"])
    const mails = await outbox(message.messageIdHeader)
    expect(mails).toHaveLength(2)
    const { outboxDir } = host.sandbox.mail
    const envelopes = await Promise.all(
      (await readdir(outboxDir))
        .filter((file) => file.endsWith(".json"))
        .map(async (file) => JSON.parse(await readFile(`${outboxDir}/${file}`, "utf8")) as { rcptTo: Array<string> })
    )
    const reached = envelopes.flatMap(({ rcptTo }) => rcptTo).filter((address) => address.startsWith(name))
    expect(reached.toSorted()).toEqual([open!, greylisted!].toSorted())
    for (const mail of mails) {
      expect(mail).toMatch(new RegExp(`^To: ${open}\r\nCc: ${greylisted}\r\n`, "m"))
      expect(mail).toContain(ALL_BYTES.toString("base64").slice(0, 60))
    }
  })

  it("answers a received message in its thread, and a stranger's message not at all", async () => {
    const { agent, mailbox } = await newMailbox()
    const friend = await newMailbox(1)
    const ask = { mailboxId: mailbox.mailboxId, to: [friend.mailbox.address], subject: "Question", text: "?" }
    const question = (await send(agent, ask)).body.data["message"]! as MessageFields
    const [received] = await arrived(friend.agent, friend.mailbox.mailboxId, 1)
    const answer = {
      mailboxId: friend.mailbox.mailboxId,
      to: [mailbox.address],
      subject: "Re: Question",
      text: "!",
      inReplyTo: received!.messageId
    }
    const sent = (await send(friend.agent, answer)).body.data["message"]! as MessageFields
    const headers = { inReplyTo: question.messageIdHeader, references: [question.messageIdHeader] }
    expect(sent).toMatchObject({ ...headers, threadId: received!.threadId })
    const [arrival] = await arrived(agent, mailbox.mailboxId, 2)
    expect(arrival).toMatchObject({ ...headers, threadId: question.threadId })
    const thanks = { ...ask, subject: "Re: Question", text: "Thanks", inReplyTo: arrival!.messageId, automatic: false }
    expect((await send(agent, thanks)).body.data["message"]).toMatchObject({
      inReplyTo: sent.messageIdHeader,
      references: [question.messageIdHeader, sent.messageIdHeader],
      threadId: question.threadId
    })
    const path = "/api/v1/email/messages/send"
    const stolen = await agent.send({ path, body: { ...ask, inReplyTo: received!.messageId } })
    expect([stolen.status, stolen.body.error.code]).toEqual([403, "RESOURCE_NOT_OWNED"])
    const unknown = await agent.send({ path, body: { ...ask, inReplyTo: "019aa000-0000-7000-8000-000000000001" } })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "RESOURCE_NOT_FOUND"])
  })

  it("learns from reports which recipients received it, bounced and complained, without an event", async () => {
    const { agent, mailbox } = await newMailbox()
    const name = freshName()
    const [delivered, bounced, complained] = ["delivered", "bounced", "complained"].map((of) => `${name}@${of}.test`)
    const to = [delivered!, bounced!, complained!, `${name}@elsewhere.test`]
    const sent = (await send(agent, { mailboxId: mailbox.mailboxId, to, subject: "s", text: "t" })).body.data[
      "message"
    ]! as MessageFields
    const current = () => fetched(agent, sent.messageId)
    await expect
      .poll(async () => (await current()).recipients.map(({ status }) => status), { timeout: 60_000, interval: 200 })
      .toEqual(["delivered", "bounced", "complained", "sent"])
    expect(await current()).toMatchObject({
      status: "sent",
      recipients: [
        { reason: null },
        { reason: expect.stringContaining("5.1.1") },
        { reason: "abuse" },
        { reason: null }
      ]
    })
    expect(await listed(agent, mailbox.mailboxId)).toHaveLength(1)
    const { body } = await agent.send({ path: "/api/v1/events/list", body: { agentId: mailbox.mailboxId } })
    expect(body.data["items"]).toEqual([])
    const again = await agent.send({
      path: "/api/v1/email/messages/send",
      body: { mailboxId: mailbox.mailboxId, to: [delivered, bounced, complained], subject: "s", text: "t" }
    })
    expect(again.body.error.issues?.map(({ path }) => path)).toEqual(["to.1", "to.2"])
    for (const digits of [54, 56]) {
      const forged = deliver({
        envelope: { from: "", to: `bounces+${"0".repeat(digits)}@${host.sandbox.emailDomain}` },
        from: "MAILER-DAEMON@elsewhere.test",
        subject: "s",
        text: "t"
      })
      await expect(forged).rejects.toMatchObject({ responseCode: 550 })
    }
  })

  it("is not stopped by strangers who report on others, and then on themselves", async () => {
    const { agent, mailbox } = await newMailbox()
    const name = freshName()
    const strangers = ["one", "two", "three"].map((of) => `${name}@${of}.test`)
    const to = [...strangers, `${name}@elsewhere.test`]
    const given = { mailboxId: mailbox.mailboxId, subject: "s", text: "t" }
    const sent = (await send(agent, { ...given, to })).body.data["message"]! as MessageFields
    const statuses = async () => (await fetched(agent, sent.messageId)).recipients.map(({ status }) => status)
    for (const stranger of strangers.slice(0, 2)) await complaintAbout(await returnPathOf(stranger), to)
    await expect.poll(statuses, { timeout: 60_000 }).toEqual(["complained", "complained", "sent", "sent"])
    const path = "/api/v1/email/messages/send"
    const again = await agent.send({ path, body: { ...given, to } })
    expect(again.body.error.issues?.map((issue) => issue.path)).toEqual(["to.0", "to.1"])
    expect((await send(agent, { ...given, to: to.slice(2) })).status).toBe(201)

    const more = ["four", "five", "six", "seven", "eight"].map((of) => `${name}@${of}.test`)
    for (const stranger of more) {
      await send(agent, { ...given, to: [stranger] })
      await complaintAbout(await returnPathOf(stranger), [stranger])
    }
    const refused = async () =>
      (await agent.send({ path, body: { ...given, to: more } })).body.error?.issues?.map((issue) => issue.path)
    await expect.poll(refused, { timeout: 60_000 }).toEqual(more.map((_, at) => `to.${at}`))
    expect((await send(agent, { ...given, to: to.slice(2) })).status).toBe(201)
  })

  it("to an address whose suppression is lifted is sent again", async () => {
    const { agent, mailbox } = await newMailbox(2)
    const name = freshName()
    const [bounced, complained] = [`${name}@bounced.test`, `${name}@complained.test`]
    const body = { mailboxId: mailbox.mailboxId, to: [bounced, complained], subject: "s", text: "t" }
    await send(agent, body)
    const suppressed = async (query = "") => {
      const { body: page, status } = await agent.send({ path: `/api/v1/email/suppressions/query${query}` })
      expect(status).toBe(200)
      return page.data as unknown as {
        readonly items: ReadonlyArray<{ readonly address: string; readonly reason: string }>
        readonly nextCursor: string | null
      }
    }
    await expect
      .poll(async () => (await suppressed()).items.filter(({ address }) => address.startsWith(name)), {
        timeout: 60_000
      })
      .toEqual([
        { address: bounced, reason: "bounced", createdAt: moment },
        { address: complained, reason: "complained", createdAt: moment }
      ])
    const { items, nextCursor } = await suppressed("?limit=1")
    expect(items).toHaveLength(1)
    const next = await suppressed(`?limit=1&cursor=${encodeURIComponent(nextCursor!)}`)
    expect(next.items).toHaveLength(1)
    expect(next.items[0]!.address > items[0]!.address).toBe(true)

    const path = "/api/v1/email/suppressions/lift"
    const lift = async (caller: Agent) =>
      (await caller.send({ path, body: { address: bounced.toUpperCase() } })).body.data
    const { agent: other } = await newMailbox(1)
    expect(await lift(other)).toMatchObject({ lifted: false })
    expect(await lift(agent)).toMatchObject({ lifted: true })
    expect(await lift(agent)).toMatchObject({ lifted: false })
    const again = await agent.send({ path: "/api/v1/email/messages/send", body })
    expect(again.body.error.issues?.map((issue) => issue.path)).toEqual(["to.1"])
    expect((await send(agent, { ...body, to: [bounced] })).status).toBe(201)
  })

  it("carries attachments, which the receiver and the record of the message describe alike", async () => {
    const { agent, mailbox } = await newMailbox()
    const friend = await newMailbox(1)
    const attachments = [
      { filename: "Größe.csv", contentType: "text/csv; charset=utf-8", contentBase64: "YSxiDQoxLDINCg==" },
      {
        filename: "all.bin",
        contentType: 'application/x-bytes; note="a; b"',
        contentBase64: ALL_BYTES.toString("base64")
      }
    ]
    const body = { mailboxId: mailbox.mailboxId, to: [friend.mailbox.address], subject: "s", text: "t", attachments }
    const reply = await send(agent, body)
    expect(reply.status).toBe(201)
    const sent = reply.body.data["message"]! as MessageFields
    expect(sent.attachments).toMatchObject([
      { filename: "Größe.csv", contentType: "text/csv; charset=utf-8", sizeBytes: 10 },
      { filename: "all.bin", sizeBytes: 256, sha256: createHash("sha256").update(ALL_BYTES).digest("hex") }
    ])
    const described = ({ attachments: files }: MessageFields) =>
      files.map(({ contentType, filename, sha256, sizeBytes }) => ({ contentType, filename, sha256, sizeBytes }))
    const [received] = await arrived(friend.agent, friend.mailbox.mailboxId, 1)
    expect(described(received!)).toEqual(described(sent))
    expect(received!.authentication).toMatchObject({ dkim: "pass", dmarc: "pass" })
    expect(await fetched(agent, sent.messageId)).toMatchObject({ attachments: sent.attachments })
  })

  it("is refused before payment if a field is invalid", async () => {
    const { agent, mailbox } = await newMailbox()
    const good = { mailboxId: mailbox.mailboxId, to: ["a@elsewhere.test"], subject: "s", text: "t" }
    const file = { filename: "a.txt", contentType: "text/plain", contentBase64: "SGk=" }
    const halfLimit = { ...file, contentBase64: "AAAA".repeat(Math.ceil((5 * 1024 * 1024) / 3)) }
    const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
      ["to", [], "to"],
      ["to", ["not an address"], "to.0"],
      ["to", ["a@b", "a@b\r\nBcc: c@d"], "to.1"],
      ["to", Array.from({ length: 51 }, (_, i) => `a${i}@b.test`), "to"],
      ["subject", "a\r\nBcc: x@y.test", "subject"],
      ["subject", "a\u0000", "subject"],
      ["subject", "x".repeat(999), "subject"],
      ["text", "x".repeat(1024 * 1024 + 1), "text"],
      ["text", 5, "text"],
      ["mailboxId", "nonsense", "mailboxId"],
      ["inReplyTo", "<id@elsewhere.test>", "inReplyTo"],
      ["attachments", [{ ...file, filename: "../a" }], "attachments.0.filename"],
      ["attachments", [file, { ...file, filename: "a\u202e.exe" }], "attachments.1.filename"],
      ["attachments", [{ ...file, filename: "a\r\nb" }], "attachments.0.filename"],
      ["attachments", [{ ...file, filename: "" }], "attachments.0.filename"],
      ["attachments", [{ ...file, contentType: "text" }], "attachments.0.contentType"],
      ["attachments", [{ ...file, contentType: "multipart/mixed" }], "attachments.0.contentType"],
      ["attachments", [{ ...file, contentType: "a/b\r\nX: y" }], "attachments.0.contentType"],
      ["attachments", [{ ...file, contentType: 'a/b; c="\r\nX: y"' }], "attachments.0.contentType"],
      ["attachments", [{ ...file, contentBase64: "SGk" }], "attachments.0.contentBase64"],
      ["attachments", [{ ...file, contentBase64: "SG=k" }], "attachments.0.contentBase64"],
      ["attachments", [{ ...file, contentBase64: "SG\nk" }], "attachments.0.contentBase64"],
      ["attachments", [{ ...file, path: "/etc/passwd" }], "attachments.0.path"],
      ["attachments", Array.from({ length: 21 }, () => file), "attachments"],
      ["attachments", [halfLimit, halfLimit, file], "attachments"],
      ["more", 1, "more"]
    ]
    for (const [field, value, path] of wrong) {
      const reply = await agent.send({ path: "/api/v1/email/messages/send", body: { ...good, [field]: value } })
      expect([reply.status, reply.body.error.code, reply.body.error.issues?.map((issue) => issue.path)]).toEqual([
        400,
        "INVALID_REQUEST",
        expect.arrayContaining([path])
      ])
    }
    const cc = Array.from({ length: 50 }, (_, i) => `a${i}@b.test`)
    const many = await agent.send({ path: "/api/v1/email/messages/send", body: { ...good, cc } })
    expect(many.status).toBe(400)
    const large = await agent.send({
      path: "/api/v1/email/messages/send",
      body: { ...good, text: "é".repeat(512 * 1024), html: "x".repeat(1024 * 1024) }
    })
    expect(large.status).toBe(402)
  })
})

describe("a mailbox", () => {
  it("is updated, deleted with its messages, and created again by its owner alone", async () => {
    const { agent, mailbox } = await newMailbox()
    await deliver({ from: "a@elsewhere.test", to: mailbox.address, subject: "x", text: "x" })
    const [message] = await arrived(agent, mailbox.mailboxId, 1)
    const updated = await agent.pay({
      path: "/api/v1/email/mailboxes/update",
      body: { mailboxId: mailbox.mailboxId, displayName: "Ada 🦊", outboundSignature: "Yours,\nAda" }
    })
    const record = {
      ...mailbox,
      displayName: "Ada 🦊",
      outboundSignature: "Yours,\nAda",
      active: true,
      updatedAt: moment
    }
    expect([updated.status, updated.body.data["mailbox"]]).toStrictEqual([200, record])
    expect(mailbox).toMatchObject({
      mailboxId: expect.stringMatching(UUID),
      address: `${mailbox.localPart}@${host.sandbox.emailDomain}`,
      displayName: null,
      outboundSignature: null,
      active: true,
      createdAt: moment,
      updatedAt: moment
    })
    const all = await agent.send({ path: "/api/v1/email/mailboxes/query" })
    expect(all.body.data["items"]).toContainEqual(updated.body.data["mailbox"])
    const request = { path: "/api/v1/email/mailboxes/delete", body: { mailboxId: mailbox.mailboxId } }
    const signature = await agent.payment(request)
    const deleted = await host.chain.charged(agent.account.address, () => agent.replay(request, signature, "delete"))
    expect([deleted.result.status, deleted.amount]).toEqual([200, 10_000n])
    expect(deleted.result.body.data).toStrictEqual({
      mailboxId: mailbox.mailboxId,
      deleted: true,
      messagesDeleted: 1,
      operationId: expect.stringMatching(UUID)
    })
    const again = await host.chain.charged(agent.account.address, () => agent.replay(request, signature, "delete"))
    expect([again.result.status, again.amount, again.result.text]).toEqual([200, 0n, deleted.result.text])
    const gone = await agent.send({ path: `/api/v1/email/messages/query?messageId=${message!.messageId}` })
    expect([gone.status, gone.body.error.code]).toEqual([404, "RESOURCE_NOT_FOUND"])
    const stranger = await host
      .agent(1)
      .send({ path: "/api/v1/email/mailboxes", body: { localPart: mailbox.localPart } })
    expect([stranger.status, stranger.body.error.code]).toEqual([409, "CONFLICT"])
    expect((await agent.createMailbox(mailbox.localPart)).address).toBe(mailbox.address)
  })
})
