import type { Readable } from "node:stream"
import SMTPPool, { type SMTPPoolSendCallback, type SMTPPoolSentMessageInfo } from "nodemailer/lib/smtp-pool"
import type { MailMessage, SendMailOptions } from "nodemailer"

/** The parts of nodemailer's connections that its types leave out. A test fails if another version has others. */
interface Connection {
  readonly _supportedExtensions: ReadonlyArray<string>
  send: (envelope: { readonly to: string | Array<string> }, message: Readable, done: (error: Error) => void) => void
}
interface Resource {
  connection?: Connection
  send: (mail: unknown, done: unknown) => void
}
interface Internals {
  _createConnection: (this: SMTPPool) => Resource
}

const needsUnicode = (to: string | ReadonlyArray<string>): boolean =>
  [to].flat().some((each) => /[^\0-\x7f]/.test(each))

/** RFC 6531, section 3.5: the reply of a server for an address that it can't take. */
const NO_SMTPUTF8 = "553 5.6.7 The mail relay does not offer SMTPUTF8, which this address requires"

const withoutSmtpUtf8 = (): Error => {
  const response = { code: "EENVELOPE", command: "RCPT TO", response: NO_SMTPUTF8, responseCode: 553 }
  return Object.assign(new Error(NO_SMTPUTF8), response, { rejectedErrors: [response] })
}

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
   * nodemailer names a recipient beyond ASCII also to a relay without SMTPUTF8, which may read other characters. This
   * refuses it, as a relay would do, and before the transaction begins.
   */
  _createConnection(): Resource {
    const resource = (SMTPPool.prototype as unknown as Internals)._createConnection.call(this)
    const send = resource.send.bind(resource)
    let checked: Connection | undefined
    // It connects with the first mail, and then calls itself.
    resource.send = (mail, done) => {
      const { connection } = resource
      if (connection !== undefined && connection !== checked) {
        checked = connection
        const transfer = connection.send.bind(connection)
        connection.send = (envelope, message, answered) => {
          if (needsUnicode(envelope.to) && !connection._supportedExtensions.includes("SMTPUTF8")) {
            message.destroy()
            answered(withoutSmtpUtf8())
          } else transfer(envelope, message, answered)
        }
      }
      send(mail, done)
    }
    return resource
  }

  /**
   * Returns whether the message of this failed send was read to its end, so that its final dot may have reached
   * the server.
   */
  wasHandedOver(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#handedOver.has(error)
  }

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
