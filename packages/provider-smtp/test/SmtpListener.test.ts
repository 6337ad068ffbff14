import { X509Certificate } from "node:crypto"
import { connect as connectTls } from "node:tls"
import { type InboundRefusal, InboundRefused } from "@agentos/core"
import { Effect, Metric, Redacted } from "effect"
import nodemailer from "nodemailer"
import { afterEach, describe, expect, it } from "vitest"
import { generateCertificate } from "../src/Certificate.ts"
import { openListener, type TestListener, type TestListenerOptions } from "./support/Listener.ts"
import { composeMail } from "./support/SignedMail.ts"
import { openDialogue, openSession, startMessage } from "./support/SmtpDialogue.ts"

const FROM = "From: news@sender.test\r\n\r\n"

const listeners: Array<TestListener> = []
const opened = async (options: TestListenerOptions = {}) => {
  const listener = await openListener(options)
  listeners.push(listener)
  return listener
}
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close()
})

/** An ordinary mail server: it requires STARTTLS and verifies the certificate. */
const sender = ({ port, tls }: TestListener) =>
  nodemailer.createTransport({
    host: "127.0.0.1",
    port,
    name: "out.sender.test",
    requireTLS: true,
    tls: { ca: tls.certificate, servername: "mx.agents.test" }
  })

/** The value of a counter of mail; undefined before it is reported. Metrics belong to the process. */
const counted = async (id: string, reason?: string) => {
  const metrics = await Effect.runPromise(Metric.snapshot)
  const found = metrics.find((metric) => metric.id === id && metric.attributes?.["reason"] === reason)
  return found?.type === "Counter" ? Number(found.state.count) : undefined
}

describe("an accepted mail", () => {
  it("is counted once, and a refused recipient or mail by its reason, each from 0 on", async () => {
    expect(await counted("agentos_mail_received_total")).toBeUndefined()
    const listener = await opened({
      accept: ({ author }) =>
        author === "full@sender.test" ? Effect.fail(new InboundRefused({ refusal: "mailbox full" })) : Effect.void
    })
    const counts = () =>
      Promise.all([
        counted("agentos_mail_received_total"),
        ...["mailbox_unknown", "mailbox_full", "no_single_author"].map((reason) =>
          counted("agentos_mail_refused_total", reason)
        )
      ])
    expect(await counts()).toEqual([0, 0, 0, 0])
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    await session.say("RCPT TO:<ada@agents.test>")
    await session.say("RCPT TO:<bob@agents.test>")
    await session.say("DATA")
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250 /)
    expect(await counts()).toEqual([1, 0, 0, 0])
    await startMessage(session, "ada@agents.test")
    expect(await session.say("From: full@sender.test\r\n\r\nx\r\n.")).toMatch(/^452 /)
    await startMessage(session, "ada@agents.test")
    expect(await session.say("From: a@sender.test, b@sender.test\r\n\r\nx\r\n.")).toMatch(/^550 /)
    await startMessage(session, "nowhere@agents.test")
    expect(await counts()).toEqual([1, 1, 1, 1])
  })

  it("arrives through STARTTLS, byte for byte, with its SMTP envelope", async () => {
    const listener = await opened()
    const raw = await composeMail(undefined, { text: ".\r\n..\r\n.dots\r\nGrüße\r\n" })
    const info = await sender(listener).sendMail({
      envelope: { from: "news@sender.test", to: ["ada@agents.test", "Bob+tag@Agents.TEST"] },
      raw
    })
    expect(info.response).toBe("250 2.6.0 Message accepted")
    expect(listener.taken.map(({ envelope }) => envelope)).toEqual([
      {
        mailFrom: "news@sender.test",
        rcptTo: ["ada@agents.test", "Bob+tag@agents.test"],
        remoteAddress: "127.0.0.1",
        helo: "out.sender.test",
        secure: true
      }
    ])
    expect(raw.equals(listener.taken[0]!.raw)).toBe(true)
  })

  it("may contain any bytes", async () => {
    const listener = await opened()
    const session = await openSession(listener.port)
    expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
    const bytes = Buffer.concat([Buffer.from(FROM), Buffer.from([...Array(256).keys()]), Buffer.from("\n.\r.\n")])
    await session.write(bytes)
    expect(await session.say("\r\n.")).toMatch(/^250/)
    expect(Buffer.from(listener.taken[0]!.raw)).toEqual(Buffer.concat([bytes, Buffer.from("\r\n")]))
  })

  it("is answered only once it is stored", async () => {
    let store = () => {}
    const stored = new Promise<void>((resolve) => (store = resolve))
    let begin = () => {}
    const storing = new Promise<void>((resolve) => (begin = resolve))
    const accept = () =>
      Effect.promise(() => {
        begin()
        return stored
      })
    const listener = await opened({ accept })
    const other = await openSession(listener.port)
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    let answered = false
    const answer = session.say(`${FROM}hello\r\n.`).finally(() => (answered = true))
    await storing
    expect(await other.say("NOOP")).toBe("250 OK")
    expect(answered).toBe(false)
    store()
    expect(await answer).toMatch(/^250/)
  })

  it("may be a bounce, and several may use one connection", async () => {
    const listener = await opened()
    const session = await openSession(listener.port)
    for (const from of ["", "news@sender.test", ""]) {
      await session.say(`MAIL FROM:<${from}>`)
      await session.say("RCPT TO:<ada@agents.test>")
      await session.say("DATA")
      expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    }
    expect(listener.taken.map(({ envelope }) => envelope.mailFrom)).toEqual(["", "news@sender.test", ""])
  })

  it.each(["ada..b.@carrier.test", '"ada..b"@carrier.test', "device.@sender.test", "@relay.test:news@sender.test"])(
    "may be sent by %s",
    async (from) => {
      const listener = await opened()
      const session = await openSession(listener.port)
      expect(await session.say(`MAIL FROM:<${from}>`)).toMatch(/^250/)
      await session.say("RCPT TO:<ada@agents.test>")
      await session.say("DATA")
      expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
      expect(listener.taken.map(({ envelope }) => envelope.mailFrom)).toEqual([from.replace("@relay.test:", "")])
    }
  )

  it.each(["ada", "ada@", "@sender.test", "ada@x@sender.test", "ada@sender..test", "ada@sen_der!.test"])(
    "can't be sent by %s",
    async (from) => {
      const listener = await opened()
      const session = await openSession(listener.port)
      expect(await session.say(`MAIL FROM:<${from}>`)).toMatch(/^5/)
    }
  )
})

describe("a recipient", () => {
  it("without a mailbox is refused with 550 5.1.1, in another domain with 550 5.7.1", async () => {
    const listener = await opened()
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    expect(await session.say("RCPT TO:<nowhere@agents.test>")).toMatch(/^550 5\.1\.1 /)
    expect(await session.say("RCPT TO:<postmaster>")).toMatch(/^550 5\.1\.1 /)
    expect(await session.say("RCPT TO:<ada@elsewhere.test>")).toMatch(/^550 5\.7\.1 /)
    expect(await session.say("RCPT TO:<ada@sub.agents.test>")).toMatch(/^550 5\.7\.1 /)
    expect(await session.say("RCPT TO:<@agents.test:ada@elsewhere.test>")).toMatch(/^550 5\.7\.1 /)
    expect(await session.say("RCPT TO:<ada%elsewhere.test@agents.test>")).toMatch(/^550 5\.1\.1 /)
    expect(await session.say("RCPT TO:<ADA@AGENTS.TEST>")).toMatch(/^250/)
    expect(await session.say("DATA")).toMatch(/^354/)
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(listener.taken[0]?.envelope.rcptTo).toEqual(["ADA@agents.test"])
  })

  it("postmaster needs no domain", async () => {
    const listener = await opened({ admit: () => Effect.void })
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    expect(await session.say("RCPT TO:<Postmaster>")).toMatch(/^250/)
    await session.say("DATA")
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(listener.taken[0]?.envelope.rcptTo).toEqual(["Postmaster@agents.test"])
  })

  it("beyond the limit of one mail is deferred with 452", async () => {
    const listener = await opened()
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    for (let i = 0; i < 100; i++) expect(await session.say(`RCPT TO:<r${i}@agents.test>`)).toMatch(/^250/)
    expect(await session.say("RCPT TO:<ada@agents.test>")).toMatch(/^452 4\.5\.3 /)
    await session.say("DATA")
    await session.say(`${FROM}x\r\n.`)
    expect(listener.taken[0]?.envelope.rcptTo).toHaveLength(100)
  })

  it("guessed too often ends the connection", async () => {
    const listener = await opened({ limits: { refusedRecipients: 3 } })
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    for (let i = 0; i < 3; i++) expect(await session.say(`RCPT TO:<guess${i}@agents.test>`)).toMatch(/^550/)
    expect(await session.say("RCPT TO:<guess@agents.test>")).toMatch(/^421 4\.7\.0 /)
    await session.closed
  })
})

describe("a mailbox that accepts no mail", () => {
  const refused = (refusal: InboundRefusal) => Effect.fail(new InboundRefused({ refusal }))

  it("is refused at RCPT: temporarily if it is full, permanently if its tenant is suspended", async () => {
    const listener = await opened({
      admit: (address) => refused(address.startsWith("ada") ? "mailbox full" : "tenant suspended")
    })
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    expect(await session.say("RCPT TO:<ada@agents.test>")).toMatch(/^452 4\.2\.2 /)
    expect(await session.say("RCPT TO:<bob@agents.test>")).toMatch(/^550 5\.2\.1 /)
  })

  it("is refused temporarily while its sender, which the listener names, sends too much", async () => {
    const senders: Array<unknown> = []
    const listener = await opened({
      admit: (_, { mailFrom, remoteAddress }) => {
        senders.push({ mailFrom, remoteAddress })
        return refused("too much mail")
      }
    })
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    expect(await session.say("RCPT TO:<ada@agents.test>")).toMatch(/^450 4\.7\.1 /)
    expect(senders).toEqual([{ mailFrom: "news@sender.test", remoteAddress: "127.0.0.1" }])
  })

  it("is refused after DATA if it became full meanwhile, and the session continues", async () => {
    const listener = await opened({ accept: () => refused("mailbox full") })
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^452 4\.2\.2 /)
    expect(listener.taken).toHaveLength(0)
    expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
  })

  it("learns of a mail without a single author, or one that is too large", async () => {
    const refusals: Array<unknown> = []
    const listener = await opened({
      limits: { messageBytes: 200 },
      refused: (addresses, refusal) => refusals.push([...addresses, refusal])
    })
    const session = await openSession(listener.port)
    await startMessage(session, "ada+x@agents.test")
    expect(await session.say("From: a@sender.test, b@sender.test\r\n\r\nx\r\n.")).toMatch(/^550 /)
    await startMessage(session, "bob@agents.test")
    expect(await session.say(`${FROM}${"x".repeat(300)}\r\n.`)).toMatch(/^552 /)
    expect(refusals).toEqual([
      ["ada+x@agents.test", "no single author"],
      ["bob@agents.test", "message too large"]
    ])
  })

  it("is refused after DATA, when From is known, if its sender policy does not admit the author", async () => {
    const listener = await opened({
      accept: ({ author }) =>
        author === "boss@xn--bcher-kva.test"
          ? Effect.void
          : refused(author === "news@sender.test" ? "sender refused" : "sender unchecked")
    })
    const session = await openSession(listener.port)
    const offered = async (from: string) => {
      expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
      return session.say(`From: ${from}\r\n\r\nx\r\n.`)
    }
    expect(await offered("boss@sender.test <news@sender.test>")).toMatch(/^550 5\.7\.1 /)
    expect(await offered("else@sender.test")).toMatch(/^451 4\.7\.0 /)
    expect(listener.taken).toHaveLength(0)
    expect(await offered("Boss <boss@XN--bcher-kva.test>")).toMatch(/^250 /)
  })
})

it("refuses an envelope sender whose domain readers map differently, and takes one with U-labels", async () => {
  const listener = await opened()
  const session = await openSession(listener.port)
  const offered = (domain: string) => session.say(`MAIL FROM:<a@${domain}> SMTPUTF8`)
  expect(await offered("\uff42ank.test")).toMatch(/^553 5\.1\.7 /)
  expect(await offered("ba\u00adnk.test")).toMatch(/^553 5\.1\.7 /)
  expect(await offered("m\u00fcnchen.test")).toMatch(/^250 /)
})

describe("an internal failure", () => {
  const broken = Effect.die(new Error("the database is away"))

  it("of a mailbox lookup is answered with 451, and the connection stays open", async () => {
    const listener = await opened({ isDeliverable: () => broken })
    const session = await openSession(listener.port)
    await session.say("MAIL FROM:<news@sender.test>")
    expect(await session.say("RCPT TO:<ada@agents.test>")).toMatch(/^451 4\.3\.0 /)
    expect(await session.say("NOOP")).toMatch(/^250/)
  })

  it("of storing a mail is answered with 451, without its cause", async () => {
    let works = false
    const listener = await opened({ accept: () => (works ? Effect.void : broken) })
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    const answer = await session.say(`${FROM}x\r\n.`)
    expect(answer).toMatch(/^451 4\.3\.0 /)
    expect(answer).not.toContain("database")
    works = true
    expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(listener.taken).toHaveLength(1)
  })

  it("to open its port fails the layer", async () => {
    const { port } = await opened()
    await expect(opened({ port })).rejects.toThrow(/can't listen/)
  })

  it("to read its key fails the layer with a clear message", async () => {
    const { tls } = await opened()
    const broken = { ...tls, privateKey: Redacted.make("no key") }
    await expect(opened({ tls: broken })).rejects.toThrow(/^can't listen for mail with this key and certificate: /)
  })
})

describe("the offered extensions", () => {
  it("are STARTTLS and SIZE, and never AUTH", async () => {
    const { port } = await opened()
    const session = await openDialogue(port)
    expect(await session.reply()).toMatch(/^220 mx\.agents\.test ESMTP/)
    const lines = (await session.say("EHLO out.sender.test")).split("\n").map((line) => line.slice(4))
    expect(lines).toContain("STARTTLS")
    expect(lines).toContain(`SIZE ${25 * 1024 * 1024}`)
    expect(lines.join()).not.toMatch(/AUTH|XCLIENT|XFORWARD/)
    for (const command of ["AUTH PLAIN AGEAYg==", "XCLIENT ADDR=192.0.2.1", "WIZ x"]) {
      expect(await session.say(command)).toMatch(/^50\d/)
    }
  })

  const encrypt = async (session: Awaited<ReturnType<typeof openSession>>, { certificate }: TestListener["tls"]) => {
    await session.say("STARTTLS")
    const secure = connectTls({ socket: session.socket, ca: certificate, servername: "mx.agents.test" })
    await new Promise((resolve, reject) => secure.once("secureConnect", resolve).once("error", reject))
    expect(secure.authorized).toBe(true)
    expect(secure.getPeerCertificate().raw).toEqual(new X509Certificate(certificate).raw)
    return secure
  }

  it("is encrypted with the given certificate", async () => {
    const { port, tls } = await opened()
    const secure = await encrypt(await openSession(port), tls)
    secure.destroy()
  })

  it("is encrypted with another certificate from its replacement on, unless that can't be used", async () => {
    const listener = await opened()
    const [before, after] = [await openSession(listener.port), await openSession(listener.port)]
    const encrypted = await encrypt(before, listener.tls)
    const other = await Effect.runPromise(generateCertificate("mx.agents.test"))
    await listener.replaceCertificate(other)
    ;(await encrypt(after, other)).destroy()
    const mixed = { certificate: listener.tls.certificate, privateKey: other.privateKey }
    await expect(listener.replaceCertificate(mixed)).rejects.toThrow()
    ;(await encrypt(await openSession(listener.port), other)).destroy()

    const answer = new Promise<string>((resolve) => encrypted.once("data", (chunk) => resolve(chunk.toString())))
    encrypted.write("NOOP\r\n")
    expect(await answer).toMatch(/^250/)
    encrypted.destroy()
  })

  it("drops commands that were sent unencrypted before STARTTLS", async () => {
    const listener = await opened()
    const session = await openSession(listener.port)
    await session.write("STARTTLS\r\nMAIL FROM:<evil@sender.test>\r\nRCPT TO:<ada@agents.test>\r\n")
    expect(await session.reply()).toMatch(/^220/)
    const secure = connectTls({ socket: session.socket, rejectUnauthorized: false })
    await new Promise((resolve, reject) => secure.once("secureConnect", resolve).once("error", reject))
    const answer = new Promise<string>((resolve) => secure.once("data", (chunk) => resolve(chunk.toString())))
    secure.write("DATA\r\n")
    expect(await answer).toMatch(/^503/)
    secure.destroy()
  })
})

describe("a message with an ambiguous sender", () => {
  const answerTo = async (header: string) => {
    const listener = await opened()
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    await session.write(Buffer.from(`${header}\r\n\r\nbody\r\n`, "latin1"))
    const answer = await session.say(".")
    expect(await session.say("NOOP")).toMatch(/^250/)
    expect(listener.taken).toHaveLength(answer.startsWith("250") ? 1 : 0)
    return answer
  }

  it.each([
    ["no From", "Subject: s"],
    ["two From fields", "From: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["two addresses", "From: ceo@bank.test, ada@sender.test"],
    ["a group", "From: team: ada@sender.test;"],
    ["an empty address", "From: <>"],
    ["a second address as its name", "From: ceo@bank.test <ada@sender.test>"],
    ["an encoded word in the address", "From: =?utf-8?q?ceo=40bank.test?=@sender.test"],
    ["a full-width letter in the domain", Buffer.from("From: ceo@\uff42ank.test").toString("latin1")],
    ["a soft hyphen in the domain", Buffer.from("From: ceo@ba\u00adnk.test").toString("latin1")]
  ])("is refused with 550 5.7.1: %s", async (_, header) => {
    expect(await answerTo(header)).toMatch(/^550 5\.7\.1 The message must have one From field/)
  })

  it.each([
    ["a carriage return alone", "Subject: s\rFrom: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["U+0000", "From: ceo@bank.test\0@sender.test"],
    ["a folded name", "From\r\n : ceo@bank.test\r\nFrom: ada@sender.test"],
    ["no header at all", "just some words"]
  ])("is refused with 550 5.6.0 where its header is malformed: %s", async (_, header) => {
    expect(await answerTo(header)).toMatch(/^550 5\.6\.0 The header is malformed/)
  })

  it("is refused with 552 5.3.4 if its header is too large", async () => {
    expect(await answerTo(`From: ada@sender.test\r\n${"X: x\r\n".repeat(5_000)}X: x`)).toMatch(
      /^552 5\.3\.4 Header larger/
    )
  })

  it("is accepted without an author only from the null sender to return paths, as old servers write bounces", async () => {
    const path = `bounces+${"0".repeat(56)}@agents.test`
    const listener = await opened({ admit: () => Effect.void })
    const session = await openSession(listener.port)
    for (const [from, to, answer] of [
      ["", [path], /^250/],
      ["", [path, "ada@agents.test"], /^550 5\.7\.1 /],
      ["news@sender.test", [path], /^550 5\.7\.1 /]
    ] as const) {
      await session.say(`MAIL FROM:<${from}>`)
      for (const address of to) expect(await session.say(`RCPT TO:<${address}>`)).toMatch(/^250/)
      await session.say("DATA")
      expect(await session.say("From: Jetmail <>\r\n\r\nx\r\n.")).toMatch(answer)
    }
    expect(listener.taken).toHaveLength(1)
  })

  it("is accepted if From contains one address, with any name", async () => {
    expect(await answerTo('From: "ceo@bank.test" <ada@sender.test> (really)')).toMatch(/^250/)
  })
})

describe("a message within a message (SMTP smuggling)", () => {
  const HIDDEN = "MAIL FROM:<ceo@bank.test>\r\nRCPT TO:<ada@agents.test>\r\nDATA\r\nFrom: ceo@bank.test\r\n\r\npay\r\n"
  it.each(["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r", "\r.\r", "\r\n\0.\r\n", "\r\r\n.\n", "\r\n.\0\r\n"])(
    "stays part of it after %j, in one piece and byte by byte",
    async (ending) => {
      const listener = await opened()
      const sent = `${FROM}text${ending}${HIDDEN}`
      const [whole, slow] = [await openSession(listener.port), await openSession(listener.port)]
      await startMessage(whole, "ada@agents.test")
      await whole.write(sent)
      expect(await whole.say(".")).toMatch(/^250 2\.6\.0/)
      await startMessage(slow, "ada@agents.test")
      slow.socket.setNoDelay(true)
      for (const byte of Buffer.from(sent, "latin1")) {
        await slow.write(Uint8Array.of(byte))
        if (byte < 0x2f) await new Promise((resolve) => setTimeout(resolve, 1))
      }
      expect(await slow.say(".")).toMatch(/^250 2\.6\.0/)
      expect(await slow.say("NOOP")).toBe("250 OK")
      expect(listener.taken).toHaveLength(2)
      expect(Buffer.from(listener.taken[0]!.raw).equals(Buffer.from(listener.taken[1]!.raw))).toBe(true)
      expect(Buffer.from(listener.taken[0]!.raw).toString()).toContain("From: ceo@bank.test")
    }
  )
})
