import type { Readable } from "node:stream"
import SMTPPool, { type SMTPPoolSendCallback, type SMTPPoolSentMessageInfo } from "nodemailer/lib/smtp-pool"
import type { MailMessage } from "nodemailer"

/**
 * nodemailer's connection pool, which also remembers of each failure whether the whole message had
 * been handed over by then: from that moment until the server's reply nobody can tell whether the
 * server took it (RFC 5321, section 4.1.1.4, and RFC 1047).
 */
export class RelayPool extends SMTPPool {
  readonly #handedOver = new WeakSet<object>()

  /** Whether the message of this failed send had been read to its end, and so its final dot may have reached the server. */
  wasHandedOver(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#handedOver.has(error)
  }

  override send(mail: MailMessage<SMTPPoolSentMessageInfo>, callback: SMTPPoolSendCallback): boolean {
    // A connection reads this stream after the server has agreed to DATA, and appends the dot when it ends.
    // A send that is moved to another connection reads a new one.
    let source: Readable | undefined
    const message = mail.message
    const createReadStream = message.createReadStream.bind(message)
    message.createReadStream = (options) => (source = createReadStream(options))
    return super.send(mail, (error, info) => {
      if (error !== null && source?.readableEnded === true) this.#handedOver.add(error)
      callback(error, info)
    })
  }
}
