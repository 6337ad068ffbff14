import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import nodemailer from "nodemailer"
import type SMTPTransport from "nodemailer/lib/smtp-transport"
import { describe, expect, test, vi } from "vitest"
import { type Relay, startRelay } from "../../src/relay/Relay.ts"
import { type ServiceDouble, startServiceDouble } from "./ServiceDouble.ts"

const raw = Buffer.from(
  "From: news@agents.test\r\nMessage-ID:\r\n <1@agents.test>\r\nSubject: x\r\n\r\n.\r\n..dots\r\n\xff\r\nMessage-ID: <no@body>\r\n",
  "latin1"
)

interface Rig {
  readonly relay: Relay
  readonly service: ServiceDouble
  readonly outboxDir: string
  readonly send: (to: ReadonlyArray<string>, from?: string, bytes?: Buffer) => Promise<SMTPTransport.SentMessageInfo>
  /** Reads the outbox. */
  readonly stored: () => Promise<ReadonlyArray<StoredMail>>
  /** Plans a fault. */
  readonly plan: (fault: object) => Promise<Response>
  /** Sends a body to a route and returns the response. */
  readonly post: (path: string, body: object) => Promise<Response>
}

interface StoredMail {
  readonly name: string
  readonly raw: Buffer
  readonly envelope: Readonly<Record<string, unknown>>
}

const startRig = async (): Promise<Rig & { readonly stop: () => Promise<void> }> => {
  const outboxDir = await mkdtemp(join(tmpdir(), "relay-"))
  const service = await startServiceDouble()
  const relay = await startRelay({
    outboxDir,
    domain: "agents.test",
    service: { host: "127.0.0.1", port: service.port }
  })
  const post = (path: string, body: object): Promise<Response> =>
    fetch(relay.faultsUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  return {
    relay,
    service,
    outboxDir,
    send: (to, from = "news@agents.test", bytes = raw) =>
      nodemailer
        .createTransport({ host: "127.0.0.1", port: relay.port, ignoreTLS: true })
        .sendMail({ envelope: { from, to: [...to] }, raw: bytes }),
    stored: async () => {
      const names = (await readdir(outboxDir)).sort()
      const mails = names.filter((name) => name.endsWith(".eml"))
      expect(names).toEqual(mails.flatMap((name) => [name, name.replace(/eml$/, "json")]))
      return Promise.all(
        mails.map(async (name) => ({
          name,
          raw: await readFile(join(outboxDir, name)),
          envelope: JSON.parse(await readFile(join(outboxDir, name.replace(/eml$/, "json")), "utf8"))
        }))
      )
    },
    plan: (fault) => post("/sandbox/faults", { operation: "send", ...fault }),
    post,
    stop: async () => {
      await relay.close()
      await service.close()
      await rm(outboxDir, { recursive: true, force: true })
    }
  }
}

/** Each test has its own relay. SMTP servers greet clients after 100 ms, so the tests run concurrently. */
const it = test.extend<{ rig: Rig }>({
  rig: async ({ task: _ }, use) => {
    const rig = await startRig()
    await use(rig)
    await rig.stop()
  }
})

describe.concurrent("mail to other domains", () => {
  it("is stored byte for byte with its envelope, and not sent", async ({ rig }) => {
    const info = await rig.send(["one@else.test", "two@Other.Test"])
    expect(info.response).toMatch(/^250 2\.0\.0 Ok: stored as /)
    const [mail, ...more] = await rig.stored()
    expect(more).toEqual([])
    expect(raw.equals(mail!.raw)).toBe(true)
    expect(mail!.name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f-]{36}\.eml$/)
    expect(info.response).toContain(mail!.name.slice(0, -4))
    expect(mail!.envelope).toEqual({
      mailFrom: "news@agents.test",
      rcptTo: ["one@else.test", "two@other.test"],
      messageId: "<1@agents.test>",
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })
    expect(rig.service.received).toEqual([])
  })

  it("is listed as its recipients read it: the last mails to one of them, or to all, newest first", async ({ rig }) => {
    const list = async (query = "") => {
      const response = await fetch(`${rig.relay.faultsUrl}/sandbox/outbox${query}`)
      const { items } = (await response.json()) as { items: ReadonlyArray<{ subject: string; file: string }> }
      return items
    }
    expect(await list()).toEqual([])
    for (let index = 1; index <= 21; index++)
      await rig.send(
        [index === 1 ? "first@else.test" : "One@else.test"],
        "ada@agents.test",
        Buffer.from(`From: Ada <ada@agents.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= ${index}\r\n\r\nHello\r\n`)
      )
    const subjects = (await list()).map(({ subject }) => subject)
    expect(subjects).toEqual(Array.from({ length: 20 }, (_, index) => `Grüße ${21 - index}`))
    const [mail, ...more] = await list("?to=FIRST@else.test")
    expect(more).toEqual([])
    expect(mail).toMatchObject({
      from: "ada@agents.test",
      to: ["first@else.test"],
      subject: "Grüße 1",
      text: "Hello\n",
      messageId: null
    })
    expect((await readFile(mail!.file, "utf8")).startsWith("From: Ada")).toBe(true)
    // A mail that is about to be stored has an envelope alone.
    const envelope = await readFile(mail!.file.replace(/eml$/, "json"))
    await writeFile(join(rig.outboxDir, "9999-under-way.json"), envelope)
    expect(await list("?to=first@else.test")).toEqual([mail])
    expect((await rig.post("/sandbox/reports", { recipient: "first@else.test" })).status).toBe(200)
  })

  it("can be a bounce without a Message-ID", async ({ rig }) => {
    await rig.send(["one@else.test"], "", Buffer.from("Subject: x\r\n\r\nMessage-ID: <no@body>\r\n"))
    expect((await rig.stored())[0]?.envelope).toMatchObject({ mailFrom: "", messageId: null })
  })
})

describe.concurrent("mail from outside", () => {
  it("is composed and delivered to the service with attachments", async ({ rig }) => {
    const content = Buffer.alloc(100_000, "invoice").toString("base64")
    const response = await rig.post("/sandbox/mail", {
      from: "bob@outside.example",
      fromName: "Bob",
      to: ["ada@agents.test"],
      cc: ["bob@agents.test"],
      subject: "Grüße",
      text: "Hello",
      inReplyTo: "<1@agents.test>",
      attachments: [{ filename: "invoice.pdf", contentType: "application/pdf", contentBase64: content }]
    })
    const { messageId, reply } = (await response.json()) as { messageId: string; reply: string }
    expect([response.status, reply]).toEqual([200, "250 2.6.0 Message accepted"])
    const [mail] = rig.service.received
    expect(mail).toMatchObject({ mailFrom: "bob@outside.example", rcptTo: ["ada@agents.test", "bob@agents.test"] })
    const text = mail!.raw.toString()
    for (const part of [
      "From: Bob <bob@outside.example>\r\n",
      "Cc: bob@agents.test\r\n",
      `Message-ID: ${messageId}\r\n`,
      "In-Reply-To: <1@agents.test>\r\n",
      "References: <1@agents.test>\r\n",
      "Content-Type: application/pdf; name=invoice.pdf\r\n"
    ])
      expect(text).toContain(part)
    expect(text.replaceAll("\r\n", "")).toContain(content)
  })

  it("is refused with the reply of the service, or with the invalid property", async ({ rig }) => {
    const mail = { from: "bob@outside.example", to: ["stranger@agents.test"] }
    const refused = await rig.post("/sandbox/mail", mail)
    expect([refused.status, await refused.json()]).toEqual([
      422,
      { error: "the service refused the mail: 550 5.1.1 No such mailbox here" }
    ])
    for (const wrong of [{ to: [] }, { from: "bob" }, { subject: "a\r\nBcc: x@y.example" }, { path: "/etc/passwd" }]) {
      const response = await rig.post("/sandbox/mail", { ...mail, ...wrong })
      expect(response.status).toBe(400)
    }
    expect(rig.service.received).toEqual([])
  })

  it("can report the delivery of the last mail to a recipient, to its return path", async ({ rig }) => {
    expect((await rig.post("/sandbox/reports", { recipient: "one@else.test" })).status).toBe(404)
    await rig.send(["one@else.test"], "ada@agents.test")
    const response = await rig.post("/sandbox/reports", { recipient: "One@else.test", status: "5.2.2" })
    expect([response.status, await response.json()]).toEqual([
      200,
      { messageId: "<1@agents.test>", reply: "250 2.6.0 Message accepted" }
    ])
    const [report] = rig.service.received
    expect(report).toMatchObject({ mailFrom: "", rcptTo: ["ada@agents.test"] })
    expect(report!.raw.toString()).toMatch(
      /Final-Recipient: rfc822; One@else\.test\r\nAction: failed\r\nStatus: 5\.2\.2/
    )
  })
})

describe.concurrent("mail to the service's own domain", () => {
  it("is delivered to the service byte for byte, with its reply", async ({ rig }) => {
    const info = await rig.send(["ada@agents.test", "bob@AGENTS.test"], "Someone@else.test")
    expect(info.response).toBe("250 2.6.0 Message accepted")
    expect(rig.service.received).toHaveLength(1)
    expect(rig.service.received[0]).toMatchObject({
      mailFrom: "Someone@else.test",
      rcptTo: ["ada@agents.test", "bob@agents.test"]
    })
    expect(raw.equals(rig.service.received[0]!.raw)).toBe(true)
    expect(await rig.stored()).toEqual([])
  })

  it("is rejected for each recipient that the service rejects", async ({ rig }) => {
    const info = await rig.send(["ada@agents.test", "nowhere@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test"])
    expect(info.rejectedErrors?.map(({ recipient, response }) => [recipient, response])).toEqual([
      ["nowhere@agents.test", "550 5.1.1 No such mailbox here"]
    ])
    expect(rig.service.received.map(({ rcptTo }) => rcptTo)).toEqual([["ada@agents.test"]])
    await expect(rig.send(["nowhere@agents.test"])).rejects.toMatchObject({ responseCode: 550 })
  })

  it("is rejected completely if the service rejects it", async ({ rig }) => {
    rig.service.replies.mail = [552, "5.3.4 too large"]
    await expect(rig.send(["ada@agents.test"])).rejects.toMatchObject({ response: "552 5.3.4 too large" })
    rig.service.replies.mail = [451, "4.3.0 later"]
    await expect(rig.send(["ada@agents.test"])).rejects.toMatchObject({ response: "451 4.3.0 later" })
  })

  it("is rejected if the service rejects a recipient only in the second dialog", async ({ rig }) => {
    let asked = 0
    rig.service.replies.recipient = (address) =>
      address.startsWith("bob") && ++asked > 1 ? [550, "5.1.1 gone"] : undefined
    await expect(rig.send(["ada@agents.test", "bob@agents.test"])).rejects.toMatchObject({ response: "550 5.1.1 gone" })
  })

  it("is deferred while the service is unavailable", async ({ rig }) => {
    await rig.service.close()
    await expect(rig.send(["ada@agents.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
  })
})

describe.concurrent("mail to both domains", () => {
  it("is delivered and stored, each with its own recipients", async ({ rig }) => {
    const info = await rig.send(["ada@agents.test", "one@else.test", "nowhere@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test", "one@else.test"])
    expect(rig.service.received[0]?.rcptTo).toEqual(["ada@agents.test"])
    expect((await rig.stored()).map(({ envelope }) => envelope.rcptTo)).toEqual([["one@else.test"]])
  })

  it("is not stored if the service rejects it, so a retry stores it once", async ({ rig }) => {
    rig.service.replies.mail = [451, "4.3.0 later"]
    await expect(rig.send(["ada@agents.test", "one@else.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect(await rig.stored()).toEqual([])
    rig.service.replies.mail = undefined
    await rig.send(["ada@agents.test", "one@else.test"])
    expect(await rig.stored()).toHaveLength(1)
  })
})

describe.concurrent("the reserved test domains", () => {
  for (const [domain, response] of [
    ["reject.test", /^550 5\.7\.1 /],
    ["bounce.test", /^550 5\.1\.1 /],
    ["defer.test", /^451 /]
  ] as const) {
    it(`${domain} is rejected with ${response.source}`, async ({ rig }) => {
      await expect(rig.send([`x@${domain}`])).rejects.toMatchObject({ response: expect.stringMatching(response) })
      expect((await rig.send([`x@${domain}`, "one@else.test"])).accepted).toEqual(["one@else.test"])
    })
  }

  it("drop.test stores the mail and closes the connection", async ({ rig }) => {
    await expect(rig.send(["x@drop.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await rig.stored()).toHaveLength(1)
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
  })
})

describe.concurrent("planned faults", () => {
  it.for([
    ["before", /^451 /],
    ["reject", /^550 5\.7\.1 /]
  ] as const)("%s: rejects the mail at the end of DATA, and stores nothing", async ([mode, response], { rig }) => {
    await rig.plan({ mode })
    await expect(rig.send(["one@else.test"])).rejects.toMatchObject({
      command: "DATA",
      response: expect.stringMatching(response)
    })
    expect(await rig.stored()).toEqual([])
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("after: stores the mail, and closes the connection without a reply", async ({ rig }) => {
    await rig.plan({ mode: "after", times: 2 })
    await expect(rig.send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    await expect(rig.send(["ada@agents.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await rig.stored()).toHaveLength(1)
    expect(rig.service.received).toHaveLength(1)
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("hang: stores the mail, and does not reply until the client times out", async ({ rig }) => {
    await rig.plan({ mode: "hang" })
    const client = nodemailer.createTransport({
      host: "127.0.0.1",
      port: rig.relay.port,
      ignoreTLS: true,
      socketTimeout: 2_000
    })
    const sent = client.sendMail({ envelope: { from: "news@agents.test", to: ["one@else.test"] }, raw })
    await expect(sent).rejects.toMatchObject({ code: "ETIMEDOUT" })
    // The relay may still be writing the files.
    await vi.waitFor(async () => expect(await rig.stored()).toHaveLength(1), { timeout: 60_000 })
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("reject: accepts a second copy of a stored mail", async ({ rig }) => {
    await rig.plan({ mode: "after" })
    await rig.plan({ mode: "reject", times: 2 })
    await expect(rig.send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    await expect(rig.send(["one@else.test"], "news@agents.test", other)).rejects.toMatchObject({ responseCode: 550 })
    expect(new Set((await rig.stored()).map(({ envelope }) => envelope.messageId))).toEqual(
      new Set(["<1@agents.test>"])
    )
  })

  it("can apply to one recipient only", async ({ rig }) => {
    await rig.plan({ mode: "reject", only: "Two@else.test" })
    expect((await rig.send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    const sent = rig.send(["one@else.test", "two@else.test"], "news@agents.test", other)
    await expect(sent).rejects.toMatchObject({ responseCode: 550 })
  })

  it("are rejected for unknown operations", async ({ rig }) => {
    expect((await rig.plan({ operation: "settle", mode: "before" })).status).toBe(400)
    expect(await (await fetch(`${rig.relay.faultsUrl}/sandbox/faults`)).json()).toEqual({ faults: [] })
  })
})

describe.concurrent("the relay", () => {
  it("stores mails under names that sort as they arrived", async ({ rig }) => {
    const senders = Array.from({ length: 20 }, (_, at) => `s${at}@agents.test`)
    for (const from of senders) await rig.send(["friend@else.test"], from)
    expect((await rig.stored()).map(({ envelope }) => envelope["mailFrom"])).toEqual(senders)
  })

  it("accepts concurrent mails", async ({ rig }) => {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => rig.send([index % 2 === 0 ? "ada@agents.test" : "one@else.test"]))
    )
    expect(rig.service.received).toHaveLength(25)
    expect(await rig.stored()).toHaveLength(25)
  })

  it("rejects a mail above the size limit", async ({ rig }) => {
    const large = Buffer.alloc(31 * 1024 * 1024, "x\r\n")
    await expect(rig.send(["one@else.test"], "news@agents.test", large)).rejects.toMatchObject({ responseCode: 552 })
    expect(await rig.stored()).toEqual([])
  })

  it("rejects if a port is in use", async ({ rig }) => {
    const options = {
      outboxDir: rig.outboxDir,
      domain: "agents.test",
      service: { host: "127.0.0.1", port: rig.service.port }
    }
    await expect(startRelay({ ...options, port: rig.relay.port })).rejects.toThrow(/EADDRINUSE/)
    const faultsPort = Number(new URL(rig.relay.faultsUrl).port)
    await expect(startRelay({ ...options, faultsPort })).rejects.toThrow(/EADDRINUSE/)
  })

  it("closes while a client keeps a connection open", async ({ rig }) => {
    const transport = nodemailer.createTransport({
      pool: true,
      host: "127.0.0.1",
      port: rig.relay.port,
      ignoreTLS: true
    })
    await transport.sendMail({ envelope: { from: "a@agents.test", to: "one@else.test" }, raw })
    const began = performance.now()
    await rig.relay.close()
    // Takes 1 s. The server of the library would wait 30 s for the client.
    expect(performance.now() - began).toBeLessThan(10_000)
    transport.close()
  })
})
