import { createSocket } from "node:dgram"
import { Effect, Redacted } from "effect"
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { type DkimKey, generateDkimKey } from "../../src/DkimKey.ts"
import { authenticateSender } from "../../src/parser/AuthenticateSender.ts"
import type { DnsRecord, SenderDns } from "../../src/SenderDns.ts"
import { envelope } from "../support/Parser.ts"
import { composeMail } from "../support/SignedMail.ts"

let key: DkimKey
beforeAll(async () => {
  key = await Effect.runPromise(generateDkimKey("sender.test", "s1"))
})

const txt = (name: string, value: string): DnsRecord => ({ name, type: "TXT", value })
const spf = (terms: string) => txt("sender.test", `v=spf1 ${terms}`)
const dmarc = (policy: string) => txt("_dmarc.sender.test", `v=DMARC1; p=reject; ${policy}`)

const check = async (raw: Uint8Array, records: ReadonlyArray<DnsRecord>, more: Partial<typeof envelope> = {}) =>
  authenticateSender(
    raw,
    { ...envelope, ...more },
    { hostName: "mx.agents.test", dns: { _tag: "Zone", records }, dnsMillis: 5_000 }
  )

describe("SPF", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<DnsRecord>, string]> = [
    ["names the address", [spf("ip4:127.0.0.1 -all")], "pass"],
    [
      "names the host of an MX",
      [
        spf("mx -all"),
        { name: "sender.test", type: "MX", value: "10 mx.sender.test" },
        { name: "mx.sender.test.", type: "A", value: "127.0.0.1" }
      ],
      "pass"
    ],
    [
      "names a host",
      [spf("a:OUT.sender.test -all"), { name: "out.sender.test", type: "A", value: "127.0.0.1" }],
      "pass"
    ],
    ["names another address", [spf("ip4:192.0.2.1 -all")], "fail"],
    ["names another address, softly", [spf("ip4:192.0.2.1 ~all")], "softfail"],
    ["says nothing of it", [spf("?all")], "neutral"],
    ["is not there", [], "none"],
    ["is there twice", [spf("-all"), spf("+all")], "permerror"],
    ["refers to itself without end", [spf("include:sender.test -all")], "permerror"]
  ]
  for (const [name, records, result] of cases) {
    it(`${result} when the record ${name}`, async () => {
      expect((await check(await composeMail(undefined), records)).spf).toBe(result)
    })
  }

  it("checks the name in HELO for a bounce", async () => {
    const records = [txt("out.sender.test", "v=spf1 ip4:127.0.0.1 -all"), spf("-all")]
    expect((await check(await composeMail(undefined), records, { mailFrom: "" })).spf).toBe("pass")
  })
})

describe("DKIM", () => {
  it("pass for a signature that matches its record", async () => {
    expect((await check(await composeMail(key), [key.record])).dkim).toBe("pass")
  })

  it("none without a signature", async () => {
    expect((await check(await composeMail(undefined), [key.record])).dkim).toBe("none")
  })

  it("fail if the text or a signed header field was changed", async () => {
    const raw = (await composeMail(key)).toString("latin1")
    for (const changed of [raw.replace("the text", "other text"), raw.replace("Subject: hello", "Subject: other")]) {
      expect((await check(Buffer.from(changed, "latin1"), [key.record])).dkim).toBe("fail")
    }
  })

  it("fail against another key; no pass without a record", async () => {
    const other = await Effect.runPromise(generateDkimKey("sender.test", "s1"))
    expect((await check(await composeMail(key), [other.record])).dkim).toBe("fail")
    expect((await check(await composeMail(key), [])).dkim).not.toBe("pass")
  })

  it("pass if one of several signatures is valid", async () => {
    const broken = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=s; h=from; bh=AAAA; b=AAAA\r\n"
    const raw = Buffer.concat([Buffer.from(broken), await composeMail(key)])
    expect((await check(raw, [key.record])).dkim).toBe("pass")
  })
})

/** Returns a mail with a signature of the first bytes of its body, and perhaps one of all of it. */
const signPartly = async (bytes: number, isAlsoSignedWhole = false): Promise<Buffer> => {
  const raw = await composeMail(isAlsoSignedWhole ? key : undefined)
  const signer = { signingDomain: "sender.test", selector: "s1", privateKey: Redacted.value(key.privateKey) }
  const { signatures } = await dkimSign(raw, {
    ...signer,
    canonicalization: "relaxed/relaxed",
    signatureData: [{ ...signer, maxBodyLength: bytes }]
  })
  return Buffer.concat([Buffer.from(signatures), raw])
}

describe("a signature of a part of the body", () => {
  it("proves nothing, with a policy or without one", async () => {
    const raw = await signPartly(4)
    expect(raw.toString("latin1")).toMatch(/\bl=4;/)
    expect(await check(raw, [key.record, dmarc("")])).toMatchObject({ dkim: "permerror", dmarc: "fail", domain: null })
    expect(await check(raw, [key.record])).toMatchObject({ dkim: "permerror", dmarc: "none", domain: null })
    const longer = Buffer.concat([await signPartly(10), Buffer.from("more\r\n")])
    expect(await check(longer, [key.record, dmarc("")])).toMatchObject({ dkim: "permerror", domain: null })
  })

  it("leaves what aligned SPF or a whole signature proves, and counts if the part is all of it", async () => {
    const policy = dmarc("")
    const proven = { dmarc: "pass", domain: "sender.test" }
    expect(await check(await signPartly(4), [key.record, policy, spf("ip4:127.0.0.1 -all")])).toMatchObject(proven)
    expect(await check(await signPartly(4, true), [key.record, policy])).toMatchObject({ dkim: "pass", ...proven })
    expect(await check(await signPartly(10), [key.record, policy])).toMatchObject({ dkim: "pass", ...proven })
  })
})

describe("DMARC", () => {
  it.each([
    "Doe, Sender <news@sender.test>",
    "Alert: Sender <news@sender.test>",
    "news@sender.test <news@sender.test>",
    "EXAMPLE\\sender <news@sender.test>",
    "Sender <news@sender.test>,"
  ])("proves the domain of %j, as readers see it", async (from) => {
    const raw = (await composeMail(undefined)).toString("latin1").replace(/^From: .*$/m, `From: ${from}`)
    const records = [spf("ip4:127.0.0.1 -all"), dmarc("")]
    expect(await check(Buffer.from(raw, "latin1"), records)).toMatchObject({ dmarc: "pass", domain: "sender.test" })
  })

  it("checks a mail below the line of a mailbox file", async () => {
    const raw = Buffer.concat([Buffer.from("From x@else.test Mon Jan  1 12:00:00 2026\r\n"), await composeMail(key)])
    expect(await check(raw, [key.record, dmarc("")])).toMatchObject({
      dkim: "pass",
      dmarc: "pass",
      domain: "sender.test"
    })
  })

  it("pass by an aligned signature, whatever the SPF result", async () => {
    const records = [key.record, spf("-all"), dmarc("adkim=s; aspf=s")]
    expect(await check(await composeMail(key), records)).toEqual({
      spf: "fail",
      dkim: "pass",
      dmarc: "pass",
      domain: "sender.test"
    })
  })

  it("pass by aligned SPF alone", async () => {
    const records = [spf("ip4:127.0.0.1 -all"), dmarc("aspf=r")]
    expect(await check(await composeMail(undefined), records)).toEqual({
      spf: "pass",
      dkim: "none",
      dmarc: "pass",
      domain: "sender.test"
    })
  })

  it("fail if From contains another domain", async () => {
    const records = [key.record, txt("elsewhere.test", "v=spf1 +all"), txt("_dmarc.bank.test", "v=DMARC1; p=reject")]
    const raw = await composeMail(key, { from: "ceo@bank.test" })
    expect(await check(raw, records, { mailFrom: "x@elsewhere.test" })).toEqual({
      spf: "pass",
      dkim: "pass",
      dmarc: "fail",
      domain: null
    })
  })

  it("none without a record, with the domain if an aligned signature or SPF proves it", async () => {
    const signed = await composeMail(key)
    expect(await check(signed, [key.record])).toMatchObject({ dmarc: "none", domain: "sender.test" })
    const unsigned = await composeMail(undefined)
    expect(await check(unsigned, [spf("ip4:127.0.0.1 -all")])).toMatchObject({ dmarc: "none", domain: "sender.test" })
    expect(await check(unsigned, [])).toMatchObject({ dmarc: "none", domain: null })
    const elsewhere = { mailFrom: "x@elsewhere.test" }
    expect(await check(unsigned, [txt("elsewhere.test", "v=spf1 +all")], elsewhere)).toMatchObject({
      spf: "pass",
      dmarc: "none",
      domain: null
    })
    const forged = await composeMail(key, { from: "ceo@bank.test" })
    expect(await check(forged, [key.record])).toMatchObject({ dkim: "pass", dmarc: "none", domain: null })
  })

  it("permerror, even if signed, if there is not exactly one author", async () => {
    const records = [
      key.record,
      spf("ip4:127.0.0.1 -all"),
      dmarc("p=none"),
      txt("_dmarc.bank.test", "v=DMARC1; p=reject")
    ]
    const raw = (await composeMail(key)).toString("latin1")
    const own = "From: Sender <news@sender.test>"
    expect(raw).toContain(own)
    for (const from of [
      `From: ceo@bank.test\r\n${own}`,
      `${own}\r\nFrom: ceo@bank.test`,
      `${own}\r\nfrom : ceo@bank.test`,
      `${own}\r\nFROM:\r\n ceo@bank.test`,
      "From: ceo@bank.test, news@sender.test",
      "From: news@sender.test, ceo@bank.test",
      "From: team: news@sender.test;",
      "From: <>",
      "From:",
      "X-From: news@sender.test"
    ]) {
      const changed = Buffer.from(raw.replace(own, from), "latin1")
      expect(await check(changed, records)).toMatchObject({ dmarc: "permerror", domain: null })
    }
  })

  it("permerror for a header that is too large to be checked", async () => {
    const raw = Buffer.concat([Buffer.from(`X-Big: ${"x\r\n ".repeat(100_000)}\r\n`), await composeMail(key)])
    expect(await check(raw, [key.record])).toEqual({
      spf: "permerror",
      dkim: "permerror",
      dmarc: "permerror",
      domain: null
    })
  })
})

describe("a slow DNS", () => {
  const socket = createSocket("udp4")
  let dns: SenderDns
  const asked: Array<string> = []
  beforeAll(async () => {
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
    socket.on("message", (query) => asked.push(query.toString("latin1")))
    dns = { _tag: "Servers", servers: [`127.0.0.1:${socket.address().port}`] }
  })
  afterAll(() => void socket.close())

  it("affects the results, and is not asked after the time limit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    socket.once("message", () => vi.advanceTimersByTime(200))
    const results = await authenticateSender(await composeMail(key), envelope, {
      hostName: "mx.agents.test",
      dns,
      dnsMillis: 200
    })
    expect(results).toEqual({ spf: "temperror", dkim: "temperror", dmarc: "temperror", domain: null })
    // A resolver without the limit gives up after some seconds, and asks for the policy after that.
    expect(asked).not.toEqual([])
    expect(asked.filter((query) => query.includes("_dmarc"))).toEqual([])
  })
})
