import { readFile } from "node:fs/promises"
import { createPrivateKey, createPublicKey } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MailRig } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { type RelayHop, startRelayHop } from "./support/RelayHop.ts"

const spamassassin = await installPeer("spamassassin")
const dkimpy = await installPeer("python3-dkim")
const opendkim = await installPeer("opendkim")
afterAll(() => Promise.all([spamassassin, dkimpy, opendkim].map(async ({ root }) => root?.close())))

/** The header field that a receiving server puts before a mail. */
const RECEIVED =
  "Received: from relay.example.com (relay.example.com [192.0.2.1])\r\n\tby mx.outside.test with ESMTPS id 4711\r\n\tfor <reader@outside.test>; "

const MAILS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "a text": {},
  "an empty subject": { subject: "" },
  "HTML beside text": { html: "<p>Please find the <b>invoice</b> below.</p>", text: "Please find the invoice below." },
  "text that is not ASCII": { subject: "Grüße aus Köln 👋", text: "Schöne Grüße\n\n.\nFrom here\n" },
  "an attachment": {
    attachments: [
      { filename: "bill.txt", contentType: "text/plain", contentBase64: Buffer.from("1 €").toString("base64") }
    ]
  }
}

let rig: MailRig
let hop: RelayHop
let record = ""
const raws = new Map<string, string>()
beforeAll(async () => {
  rig = await MailRig.start()
  hop = await startRelayHop(rig.relayPort)
  const mailbox = await rig.mailbox()
  for (const [index, [name, content]] of Object.entries(MAILS).entries()) {
    await mailbox.send(`reader-${index}@outside.test`, content)
    raws.set(name, (await hop.arrived(`reader-${index}@outside.test`)).raw)
  }
  const key = createPublicKey(createPrivateKey(await readFile(rig.dkimKeyFile)))
  record = `v=DKIM1; k=rsa; p=${key.export({ type: "spki", format: "der" }).toString("base64")}`
})
afterAll(async () => {
  await hop?.close()
  await rig?.close()
})

const mailNames = Object.keys(MAILS)

/** The name of the DKIM key that a mail names. */
const keyName = (raw: string): string => {
  const field = /^DKIM-Signature:(?:.*\r?\n)(?:[ \t].*\r?\n)*/m.exec(raw)?.[0] ?? ""
  return `${/\bs=([^;\s]+)/.exec(field)?.[1]}._domainkey.${/\bd=([^;\s]+)/.exec(field)?.[1]}`
}

/** Rules about the relay's address of the rig, which is reserved for documents. */
const RIG_RULES: ReadonlyArray<string> = ["RCVD_ILLEGAL_IP"]

describe.skipIf(spamassassin.root === undefined)(spamassassin.title, () => {
  it.each(mailNames)("finds no fault in %s", async (name) => {
    const raw = raws.get(name)!
    const received = `${RECEIVED}${new Date().toUTCString().replace("GMT", "+0000")}\r\n`
    const { output } = await spamassassin.root!.run(["spamassassin", "-L", "-t", "-x"], received + raw)
    const tests = /tests=([\w,\s]+?)\s*(?:autolearn|version)/.exec(output)?.[1] ?? ""
    const scored = [...output.matchAll(/^\s*(-?\d+\.\d) (\w+) /gm)].filter(([, score]) => Number(score) > 0)
    const rules = scored.map(([, score, rule]) => `${rule} ${score}`)
    expect({ tests, output }).toMatchObject({ tests: expect.stringMatching(/./) })
    expect(rules.filter((rule) => !RIG_RULES.includes(rule.split(" ")[0]!))).toEqual([])
  })

  it("sees the field of an empty subject", () => {
    expect(raws.get("an empty subject")).toMatch(/^Subject:/m)
  })
})

describe.skipIf(dkimpy.root === undefined)(dkimpy.title, () => {
  const VERIFY = `
import dkim, sys
record = sys.argv[1].encode()
raw = sys.stdin.buffer.read()
print(dkim.verify(raw, dnsfunc=lambda name, timeout=5: record))
print(dkim.verify(raw.replace(b"From: ", b"From: x", 1), dnsfunc=lambda name, timeout=5: record))
`
  it.each(mailNames)("verifies the signature of %s, and not that of a changed header", async (name) => {
    const { output } = await dkimpy.root!.run(["/usr/bin/python3", "-c", VERIFY, record], raws.get(name))
    expect(output.trim()).toBe("True\nFalse")
  })
})

describe.skipIf(opendkim.root === undefined)(opendkim.title, () => {
  const verify = async (raw: string) => {
    await opendkim.root!.write("keys", `${keyName(raw)} ${record}\n`)
    const config = "Mode v\nSyslog no\nTestDNSData file:/peer/keys\nRequireSafeKeys no\n"
    await opendkim.root!.write("opendkim.conf", config)
    const file = await opendkim.root!.write("mail.eml", raw)
    const { output } = await opendkim.root!.run(["opendkim", "-x", "/peer/opendkim.conf", "-vvv", "-t", file])
    return output
  }

  it.each(mailNames)("verifies the signature of %s, and not that of a changed header", async (name) => {
    const raw = raws.get(name)!
    expect(await verify(raw)).toMatch(/verification \(.*\) succeeded$/m)
    expect(await verify(raw.replace("From: ", "From: x"))).not.toMatch(/verification \(.*\) succeeded$/m)
  })
})
