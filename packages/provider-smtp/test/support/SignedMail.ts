import { buffer } from "node:stream/consumers"
import { Redacted } from "effect"
import nodemailer, { type SendMailOptions } from "nodemailer"
import type { DkimKey } from "../../src/DkimKey.ts"

/** Returns the bytes of a mail from sender.test, signed if a key is given (selector s1). */
export const composeMail = async (key: DkimKey | undefined, more: SendMailOptions = {}): Promise<Buffer> => {
  const transport = nodemailer.createTransport({ streamTransport: true })
  const dkim =
    key === undefined
      ? {}
      : { dkim: { domainName: "sender.test", keySelector: "s1", privateKey: Redacted.value(key.privateKey) } }
  const { message } = await transport.sendMail({
    from: "Sender <news@sender.test>",
    to: "ada@agents.test",
    subject: "hello",
    text: "the text\n",
    ...dkim,
    ...more
  })
  return Buffer.isBuffer(message) ? message : buffer(message)
}
