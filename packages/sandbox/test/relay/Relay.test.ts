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

const kept = async () => {
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

describe("mail to the rest of the world", () => {
  it("is kept byte for byte beside its envelope, and goes nowhere", async () => {
    const info = await send(["one@else.test", "two@Other.Test"])
    expect(info.response).toMatch(/^250 2\.0\.0 Ok: kept as /)
    const [mail, ...more] = await kept()
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
    expect(service.taken).toEqual([])
  })

  it("may be a bounce, and may lack a Message-ID", async () => {
    await send(["one@else.test"], "", Buffer.from("Subject: x\r\n\r\nMessage-ID: <no@body>\r\n"))
    expect((await kept())[0]?.envelope).toMatchObject({ mailFrom: "", messageId: null })
  })
})

describe("mail to the service's own domain", () => {
  it("goes on to the service, byte for byte, and gets its answer", async () => {
    const info = await send(["ada@agents.test", "bob@AGENTS.test"], "Someone@else.test")
    expect(info.response).toBe("250 2.6.0 Message accepted")
    expect(service.taken).toHaveLength(1)
    expect(service.taken[0]).toMatchObject({
      mailFrom: "Someone@else.test",
      rcptTo: ["ada@agents.test", "bob@agents.test"]
    })
    expect(raw.equals(service.taken[0]!.raw)).toBe(true)
    expect(await kept()).toEqual([])
  })

  it("is refused recipient by recipient, as the service does", async () => {
    const info = await send(["ada@agents.test", "nobody@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test"])
    expect(info.rejectedErrors?.map(({ recipient, response }) => [recipient, response])).toEqual([
      ["nobody@agents.test", "550 5.1.1 No such mailbox here"]
    ])
    expect(service.taken.map(({ rcptTo }) => rcptTo)).toEqual([["ada@agents.test"]])
    await expect(send(["nobody@agents.test"])).rejects.toMatchObject({ responseCode: 550 })
  })

  it("is refused as a whole, as the service does", async () => {
    service.answers.mail = [552, "5.3.4 too large"]
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ response: "552 5.3.4 too large" })
    service.answers.mail = [451, "4.3.0 later"]
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ response: "451 4.3.0 later" })
  })

  it("is put off when the service changes its mind about a recipient within the transaction", async () => {
    let asked = 0
    service.answers.recipient = (address) =>
      address.startsWith("bob") && ++asked > 1 ? [550, "5.1.1 gone"] : undefined
    await expect(send(["ada@agents.test", "bob@agents.test"])).rejects.toMatchObject({ response: "550 5.1.1 gone" })
  })

  it("is put off while the service is not there", async () => {
    await service.close()
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })
})

describe("mail to both", () => {
  it("does both, each with its own recipients", async () => {
    const info = await send(["ada@agents.test", "one@else.test", "nobody@agents.test"])
    expect(info.accepted).toEqual(["ada@agents.test", "one@else.test"])
    expect(service.taken[0]?.rcptTo).toEqual(["ada@agents.test"])
    expect((await kept()).map(({ envelope }) => envelope.rcptTo)).toEqual([["one@else.test"]])
  })

  it("is not kept when the service refuses it, so that a second attempt keeps it once", async () => {
    service.answers.mail = [451, "4.3.0 later"]
    await expect(send(["ada@agents.test", "one@else.test"])).rejects.toMatchObject({ responseCode: 451 })
    expect(await kept()).toEqual([])
    service.answers.mail = undefined
    await send(["ada@agents.test", "one@else.test"])
    expect(await kept()).toHaveLength(1)
  })
})

describe("the world's answers, by request", () => {
  for (const [domain, response] of [
    ["reject.test", /^550 5\.7\.1 /],
    ["bounce.test", /^550 5\.1\.1 /],
    ["defer.test", /^451 /]
  ] as const) {
    it(`${domain} is refused with ${response.source}`, async () => {
      await expect(send([`x@${domain}`])).rejects.toMatchObject({ response: expect.stringMatching(response) })
      expect((await send([`x@${domain}`, "one@else.test"])).accepted).toEqual(["one@else.test"])
    })
  }

  it("drop.test takes the mail and cuts the connection", async () => {
    await expect(send(["x@drop.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await kept()).toHaveLength(1)
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
  ])("%s: the mail is refused at the end of DATA, and nothing is kept", async (mode, response) => {
    await plan({ mode })
    await expect(send(["one@else.test"])).rejects.toMatchObject({
      command: "DATA",
      response: expect.stringMatching(response)
    })
    expect(await kept()).toEqual([])
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("after: the mail is kept, and the connection dies without an answer", async () => {
    await plan({ mode: "after", times: 2 })
    await expect(send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    await expect(send(["ada@agents.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect(await kept()).toHaveLength(1)
    expect(service.taken).toHaveLength(1)
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("hang: the mail is kept, and no answer comes until the client gives up", async () => {
    await plan({ mode: "hang" })
    const impatient = nodemailer.createTransport({
      host: "127.0.0.1",
      port: relay.port,
      ignoreTLS: true,
      socketTimeout: 500
    })
    const sent = impatient.sendMail({ envelope: { from: "news@agents.test", to: ["one@else.test"] }, raw })
    await expect(sent).rejects.toMatchObject({ code: "ETIMEDOUT" })
    expect(await kept()).toHaveLength(1)
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
  })

  it("reject: a second copy of a mail that was kept is not told that nothing was done", async () => {
    await plan({ mode: "after" })
    await plan({ mode: "reject", times: 2 })
    await expect(send(["one@else.test"])).rejects.toMatchObject({ code: "ECONNECTION" })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    await expect(send(["one@else.test"], "news@agents.test", other)).rejects.toMatchObject({ responseCode: 550 })
    expect(new Set((await kept()).map(({ envelope }) => envelope.messageId))).toEqual(new Set(["<1@agents.test>"]))
  })

  it("can be meant for one recipient alone", async () => {
    await plan({ mode: "reject", only: "Two@else.test" })
    expect((await send(["one@else.test"])).response).toMatch(/^250/)
    const other = Buffer.from("Message-ID: <2@agents.test>\r\n\r\nx\r\n")
    const sent = send(["one@else.test", "two@else.test"], "news@agents.test", other)
    await expect(sent).rejects.toMatchObject({ responseCode: 550 })
  })

  it("are refused when they are not the relay's", async () => {
    expect((await plan({ operation: "settle", mode: "before" })).status).toBe(400)
    expect(await (await fetch(`${relay.faultsUrl}/sandbox/faults`)).json()).toEqual({ faults: [] })
  })
})

describe("the relay", () => {
  it("takes many mails at a time", async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => send([index % 2 === 0 ? "ada@agents.test" : "one@else.test"]))
    )
    expect(service.taken).toHaveLength(25)
    expect(await kept()).toHaveLength(25)
  })

  it("refuses a mail that is larger than any may be", async () => {
    const large = Buffer.alloc(31 * 1024 * 1024, "x\r\n")
    await expect(send(["one@else.test"], "news@agents.test", large)).rejects.toMatchObject({ responseCode: 552 })
    expect(await kept()).toEqual([])
  })

  it("says so when its port is taken", async () => {
    const options = { outboxDir, domain: "agents.test", service: { host: "127.0.0.1", port: service.port } }
    await expect(startRelay({ ...options, port: relay.port })).rejects.toThrow(/EADDRINUSE/)
    const faultsPort = Number(new URL(relay.faultsUrl).port)
    await expect(startRelay({ ...options, faultsPort })).rejects.toThrow(/EADDRINUSE/)
  })

  it("closes while a client keeps its connection open", async () => {
    const transport = nodemailer.createTransport({ pool: true, host: "127.0.0.1", port: relay.port, ignoreTLS: true })
    await transport.sendMail({ envelope: { from: "a@agents.test", to: "one@else.test" }, raw })
    const began = performance.now()
    await relay.close()
    expect(performance.now() - began).toBeLessThan(3_000)
    transport.close()
  })
})
