import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import { createTransport } from "nodemailer"
import { answerParent } from "./ChildModule.ts"
import { repeat } from "./Comparison.ts"
import type { Work } from "./Side.ts"

/** Senders that open a connection for each mail, in a process of their own. */

/** Mail to one address, and the server that takes it. */
export interface Mailing {
  readonly host: string
  readonly port: number
  readonly from: string
  readonly to: string
  /** The size of its text, and of its attachment in base64; 0 for none. */
  readonly textBytes: number
  readonly attachmentBytes: number
  readonly dkim: { readonly domainName: string; readonly keySelector: string; readonly privateKey: string }
  readonly callers: number
  readonly millis: number
}

/** In the place of the Message-ID, which no signature covers. */
const MESSAGE_ID = "<unique-id-of-the-mail@outside.example>"

/** Returns the mail before and after its Message-ID, with the dots of SMTP and the last line. */
const composeMail = async ({
  attachmentBytes,
  dkim,
  from,
  textBytes,
  to
}: Mailing): Promise<readonly [Buffer, Buffer]> => {
  const line = "A line of text, as people write them in mails to each other, again.\r\n"
  const text = line.repeat(Math.ceil(textBytes / line.length))
  const file = { filename: "photo.jpg", content: randomBytes((attachmentBytes * 3) / 4) }
  const attachments = attachmentBytes === 0 ? [] : [file]
  const mail = { from, to, subject: "Bench", text, attachments, messageId: MESSAGE_ID }
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: "windows",
    dkim: { ...dkim, headerFieldNames: "from:to:subject:date:mime-version:content-type" }
  })
  const { message } = await transport.sendMail(mail)
  const stuffed = (message as Buffer).toString("latin1").replaceAll(/^\./gm, "..")
  const [before, after] = stuffed.split(MESSAGE_ID)
  if (before === undefined || after === undefined) throw new Error("the mail has no Message-ID")
  return [Buffer.from(before, "latin1"), Buffer.from(`${after}\r\n.\r\n`, "latin1")]
}

let sent = 0

/** Sends one mail over a new connection. Rejects if the server refuses a step. */
const sendMail = async (
  { from, host, port, to }: Mailing,
  [before, after]: readonly [Buffer, Buffer]
): Promise<void> => {
  const socket = connect({ host, port, noDelay: true })
  try {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const expect = async (code: string): Promise<void> => {
      for (;;) {
        const { done, value } = await lines.next()
        if (done === true) throw new Error(`the server closed the connection instead of ${code}`)
        if (!value.startsWith(code)) throw new Error(`the server answered ${value} instead of ${code}`)
        if (value[3] !== "-") return
      }
    }
    await expect("220")
    for (const [command, code] of [
      ["EHLO outside.example", "250"],
      [`MAIL FROM:<${from}>`, "250"],
      [`RCPT TO:<${to}>`, "250"],
      ["DATA", "354"]
    ] as const) {
      socket.write(`${command}\r\n`)
      await expect(code)
    }
    socket.write(before)
    socket.write(`<${process.pid}.${sent++}@outside.example>`)
    socket.write(after)
    await expect("250")
    socket.end("QUIT\r\n")
    await once(socket, "close")
  } finally {
    socket.destroy()
  }
}

answerParent(async (mailing: Mailing): Promise<Work> => {
  const mail = await composeMail(mailing)
  return repeat(mailing.callers, mailing.millis, () => sendMail(mailing, mail))
})
