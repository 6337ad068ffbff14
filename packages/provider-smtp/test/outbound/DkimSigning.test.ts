import { generateKeyPairSync, randomBytes } from "node:crypto"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import DKIM from "nodemailer/lib/dkim"
import type { SendMailOptions } from "nodemailer"
import MailComposer from "nodemailer/lib/mail-composer"
import { describe, expect, it } from "vitest"
import { type DkimSigner, signing } from "../../src/outbound/DkimSigning.ts"

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const dkim: DkimSigner = { domainName: "agents.test", keySelector: "s1", privateKey }

/** Signs bytes that are composed in pieces of this size, and reads the signed mail twice. */
const signed = async (raw: Buffer, pieceBytes: number, signer = dkim): Promise<ReadonlyArray<Buffer>> => {
  const pieces = Array.from({ length: Math.ceil(raw.length / pieceBytes) }, (_, index) =>
    raw.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  )
  const message = { createReadStream: () => Readable.from(pieces, { objectMode: false }) }
  type Mail = Parameters<ReturnType<typeof signing>>[0]
  await new Promise<void>((resolve, reject) => {
    const plugin = signing(signer)
    plugin({ message } as unknown as Mail, (error) => (error ? reject(error as Error) : resolve()))
  })
  return [await buffer(message.createReadStream()), await buffer(message.createReadStream())]
}

const basic = { from: "Ada <ada@agents.test>", to: "one@else.test", subject: "Hello", messageId: "<1@agents.test>" }
const mails: Readonly<Record<string, SendMailOptions>> = {
  "of one line": { ...basic, text: "Hello" },
  "without text": { ...basic, text: "" },
  "with blank lines and spaces at its end": { ...basic, text: "Hello \t \n\n \n.\n\n\n" },
  "with other scripts in header and text": {
    ...basic,
    subject: "Grüße 你好",
    text: "Grüße\r\n你好",
    cc: "Ü <u@else.test>"
  },
  "with HTML and a long header": { ...basic, text: "a", html: "<p>a</p>", references: Array(40).fill("<2@else.test>") },
  "with an attachment": { ...basic, text: "a", attachments: [{ filename: "a.bin", content: randomBytes(150_000) }] }
}

describe("a signed mail", () => {
  for (const [name, mail] of Object.entries(mails)) {
    it(`${name} has the bytes that nodemailer's signer makes, however it is composed`, async () => {
      const raw = await new MailComposer(mail).compile().build()
      const expected = await buffer(new DKIM({ ...dkim }).sign(raw))
      expect(expected.toString("latin1")).toMatch(
        /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed; d=agents.test;/
      )
      for (const pieceBytes of [7, 1_000, raw.length]) {
        for (const actual of await signed(raw, pieceBytes)) expect(actual.equals(expected)).toBe(true)
      }
    })
  }

  it("is not sent unsigned if its key cannot sign", async () => {
    const { privateKey: other } = generateKeyPairSync("x25519")
    const raw = await new MailComposer({ ...basic, text: "a" }).compile().build()
    await expect(signed(raw, raw.length, { ...dkim, privateKey: other })).rejects.toThrow("could not be signed")
  })
})
