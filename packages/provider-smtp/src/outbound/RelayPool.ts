import type { Readable } from "node:stream"
import SMTPPool, { type SMTPPoolSendCallback, type SMTPPoolSentMessageInfo } from "nodemailer/lib/smtp-pool"
import type { MailMessage, SendMailOptions } from "nodemailer"

/** A mail that is composed and signed. Each transaction transfers the same bytes. */
export type PreparedMail = MailMessage<SMTPPoolSentMessageInfo>

/** One transaction (RFC 5321, section 3.3): the envelope of a mail, the reports that it requests, and what cancels it. */
export interface Transaction extends Required<Pick<SendMailOptions, "dsn">> {
  readonly from: string
  readonly to: string
  readonly signal: AbortSignal
}

/**
 * nodemailer's connection pool, which also records for each failure whether the whole message had been
 * transferred by then. From that moment until the server's reply, it is unknown whether the server accepted the
 * message (RFC 5321, section 4.1.1.4, and RFC 1047).
 */
export class RelayPool extends SMTPPool {
  readonly #handedOver = new WeakSet<object>()

  /**
   * Returns whether the message of this failed send was read to its end, so that its final dot may have reached
   * the server.
   */
  wasHandedOver(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#handedOver.has(error)
  }

  /** Transfers a mail to one recipient. */
  transact(mail: PreparedMail, { dsn, from, signal, to }: Transaction): Promise<SMTPPoolSentMessageInfo> {
    const message: PreparedMail["message"] = Object.create(mail.message)
    message.setEnvelope({ from, to: [to] })
    const addressed: PreparedMail = Object.assign(Object.create(mail), { message, data: { ...mail.data, dsn, signal } })
    return new Promise((resolve, reject) => {
      this.send(addressed, (error, info) => (info === undefined ? reject(error) : resolve(info)))
    })
  }

  override send(mail: MailMessage<SMTPPoolSentMessageInfo>, callback: SMTPPoolSendCallback): boolean {
    // A connection reads this stream after the server has accepted DATA, and appends the dot when it ends. A
    // send that moves to another connection reads a new stream.
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
