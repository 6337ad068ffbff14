import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import nodemailer from "nodemailer"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Relay, startRelay } from "../../src/relay/Relay.ts"
import { type ServiceDouble, startServiceDouble } from "./ServiceDouble.ts"

let outboxDir: string
let service: ServiceDouble
let relay: Relay
beforeEach(async () => {
  outboxDir = await mkdtemp(join(tmpdir(), "relay-"))
  service = await startServiceDouble()
  relay = await startRelay({ outboxDir, domain: "agents.test", service: { host: "127.0.0.1", port: service.port } })
})
afterEach(async () => {
  await relay.close()
  await service.close()
  await rm(outboxDir, { recursive: true, force: true })
})

const raw = Buffer.from(
  "From: news@agents.test\r\nMessage-ID:\r\n <1@agents.test>\r\nSubject: x\r\n\r\n.\r\n..dots\r\n\xff\r\nMessage-ID: <no@body>\r\n",
  "latin1"
)

const send = (to: ReadonlyArray<string>, from = "news@agents.test", bytes = raw) =>
  nodemailer
    .createTransport({ host: "127.0.0.1", port: relay.port, ignoreTLS: true })
    .sendMail({ envelope: { from, to: [...to] }, raw: bytes })

const stored = async () => {
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
}

describe("mail to other domains", () => {
  it("is stored byte for byte with its envelope, and not sent", async () => {
    const info = await send(["one@else.test", "two@Other.Test"])
    expect(info.response).toMatch(/^250 2\.0\.0 Ok: stored as /)
    const [mail, ...more] = await stored()
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
    expect(service.received).toEqual([])
  })

  it("can be a bounce without a Message-ID", async () => {
    await send(["one@else.test"], "", Buffer.from("Subject: x\r\n\r\nMessage-ID: <no@body>\r\n"))
    expect((await stored())[0]?.envelope).toMatchObject({ mailFrom: "", messageId: null })
  })
})

describe("mail to the service's own domain", () => {
  it("is delivered to the service byte for byte, with its reply", async () => {
    const info = await send(["ada@agents.test", "bob@AGENTS.test"], "Someone@else.test")
    expect(info.response).toBe("250 2.6.0 Message accepted")
    expect(service.received).toHaveLength(1)
    expect(service.received[0]).toMatchObject({
      mailFrom: "Someone@else.test",
      rcptTo: ["ada@agents.test", "bob@agents.test"]
    })
    expect(raw.equals(service.received[0]!.raw)).toBe(true)
    expect(await stored()).toEqual([])
  })

  it("is rejected for each recipient that the service rejects", async () => {
    const info = await send(["ada@agents.test", "nobody@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test"])
    expect(info.rejectedErrors?.map(({ recipient, response }) => [recipient, response])).toEqual([
      ["nobody@agents.test", "550 5.1.1 No such mailbox here"]
    ])
    expect(service.received.map(({ rcptTo }) => rcptTo)).toEqual([["ada@agents.test"]])
    await expect(send(["nobody@agents.test"])).rejects.toMatchObject({ responseCode: 550 })
  })

  it("is rejected completely if the service rejects it", async () => {
    service.replies.mail = [552, "5.3.4 too large"]
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ response: "552 5.3.4 too large" })
    service.replies.mail = [451, "4.3.0 later"]
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ response: "451 4.3.0 later" })
  })

  it("is rejected if the service rejects a recipient only in the second dialog", async () => {
    let asked = 0
    service.replies.recipient = (address) =>
      address.startsWith("bob") && ++asked > 1 ? [550, "5.1.1 gone"] : undefined
    await expect(send(["ada@agents.test", "bob@agents.test"])).rejects.toMatchObject({ response: "550 5.1.1 gone" })
  })

  it("is deferred while the service is unavailable", async () => {
    await service.close()
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })
})

describe("mail to both domains", () => {
  it("is delivered and stored, each with its own recipients", async () => {
    const info = await send(["ada@agents.test", "one@else.test", "nobody@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test", "one@else.test"])
    expect(service.received[0]?.rcptTo).toEqual(["ada@agents.test"])
    expect((await stored()).map(({ envelope }) => envelope.rcptTo)).toEqual([["one@else.test"]])
  })

  it("is not stored if the service rejects it, so a retry stores it once", async () => {
    service.replies.mail = [451, "4.3.0 later"]
    await expect(send(["ada@agents.test", "one@else.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect(await stored()).toEqual([])
    service.replies.mail = undefined
    await send(["ada@agents.test", "one@else.test"])
    expect(await stored()).toHaveLength(1)
  })
})

describe("the reserved test domains", () => {
  for (const [domain, response] of [
    ["reject.test", /^550 5\.7\.1 /],
    ["bounce.test", /^550 5\.1\.1 /],
    ["defer.test", /^451 /]
  ] as const) {
    it(`${domain} is rejected with ${response.source}`, async () => {
      await expect(send([`x@${domain}`])).rejects.toMatchObject({ response: expect.stringMatching(response) })
      expect((await send([`x@${domain}`, "one@else.test"])).accepted).toEqual(["one@else.test"])
    })
  }

  it("drop.test stores the mail and closes the connection", async () => {
    await expect(send(["x@drop.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await stored()).toHaveLength(1)
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })
})

describe("planned faults", () => {
  const plan = (fault: object) =>
    fetch(`${relay.faultsUrl}/sandbox/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operation: "send", ...fault })
    })

  it.each([
    ["before", /^451 /],
    ["reject", /^550 5\.7\.1 /]
  ])("%s: rejects the mail at the end of DATA, and stores nothing", async (mode, response) => {
    await plan({ mode })
    await expect(send(["one@else.test"])).rejects.toMatchObject({
      command: "DATA",
      response: expect.stringMatching(response)
    })
    expect(await stored()).toEqual([])
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("after: stores the mail, and closes the connection without a reply", async () => {
    await plan({ mode: "after", times: 2 })
    await expect(send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await stored()).toHaveLength(1)
    expect(service.received).toHaveLength(1)
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("hang: stores the mail, and does not reply until the client times out", async () => {
    await plan({ mode: "hang" })
    const client = nodemailer.createTransport({
      host: "127.0.0.1",
      port: relay.port,
      ignoreTLS: true,
      socketTimeout: 500
    })
    const sent = client.sendMail({ envelope: { from: "news@agents.test", to: ["one@else.test"] }, raw })
    await expect(sent).rejects.toMatchObject({ code: "ETIMEDOUT" })
    expect(await stored()).toHaveLength(1)
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("reject: accepts a second copy of a stored mail", async () => {
    await plan({ mode: "after" })
    await plan({ mode: "reject", times: 2 })
    await expect(send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    await expect(send(["one@else.test"], "news@agents.test", other)).rejects.toMatchObject({ responseCode: 550 })
    expect(new Set((await stored()).map(({ envelope }) => envelope.messageId))).toEqual(new Set(["<1@agents.test>"]))
  })

  it("can apply to one recipient only", async () => {
    await plan({ mode: "reject", only: "Two@else.test" })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    const sent = send(["one@else.test", "two@else.test"], "news@agents.test", other)
    await expect(sent).rejects.toMatchObject({ responseCode: 550 })
  })

  it("are rejected for unknown operations", async () => {
    expect((await plan({ operation: "settle", mode: "before" })).status).toBe(400)
    expect(await (await fetch(`${relay.faultsUrl}/sandbox/faults`)).json()).toEqual({ faults: [] })
  })
})

describe("the relay", () => {
  it("accepts concurrent mails", async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => send([index % 2 === 0 ? "ada@agents.test" : "one@else.test"]))
    )
    expect(service.received).toHaveLength(25)
    expect(await stored()).toHaveLength(25)
  })

  it("rejects a mail above the size limit", async () => {
    const large = Buffer.alloc(31 * 1024 * 1024, "x\r\n")
    await expect(send(["one@else.test"], "news@agents.test", large)).rejects.toMatchObject({ responseCode: 552 })
    expect(await stored()).toEqual([])
  })

  it("rejects if a port is in use", async () => {
    const options = { outboxDir, domain: "agents.test", service: { host: "127.0.0.1", port: service.port } }
    await expect(startRelay({ ...options, port: relay.port })).rejects.toThrow(/EADDRINUSE/)
    const faultsPort = Number(new URL(relay.faultsUrl).port)
    await expect(startRelay({ ...options, faultsPort })).rejects.toThrow(/EADDRINUSE/)
  })

  it("closes while a client keeps a connection open", async () => {
    const transport = nodemailer.createTransport({ pool: true, host: "127.0.0.1", port: relay.port, ignoreTLS: true })
    await transport.sendMail({ envelope: { from: "a@agents.test", to: "one@else.test" }, raw })
    const began = performance.now()
    await relay.close()
    expect(performance.now() - began).toBeLessThan(3_000)
    transport.close()
  })
})
