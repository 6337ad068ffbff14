import { connect, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { createTransport } from "nodemailer"
import type { Envelope } from "./Outbox.ts"

/** An SMTP error reply, which is passed on to the sender. */
export class SmtpError extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

const TIMEOUT_MILLIS = 20_000

/** The SMTP server of the service, as the relay uses it. */
export class MailService {
  private readonly host: string
  private readonly port: number

  constructor(host: string, port: number) {
    this.host = host
    this.port = port
  }

  /** Checks that the service accepts a recipient, as relays do before they accept a mail. Fails with its `SmtpError`. */
  async check(mailFrom: string, recipient: string): Promise<void> {
    const connection = await SmtpConnection.open(this.host, this.port)
    try {
      await connection.expectReply(220)
      await connection.send("EHLO relay.sandbox.test")
      await connection.send(`MAIL FROM:<${mailFrom}>`)
      await connection.send(`RCPT TO:<${recipient}>`)
    } finally {
      connection.end()
    }
  }

  /**
   * Delivers a mail with its bytes unchanged, except that a bare LF or CR becomes CRLF, which SMTP requires. Returns the
   * service's reply. Fails with its `SmtpError`, also if it rejects only some of the recipients: the sender then retries,
   * and the service recognizes the mail that it already has.
   */
  async deliver(envelope: Envelope, raw: Buffer): Promise<string> {
    const transport = createTransport({
      host: this.host,
      port: this.port,
      tls: { rejectUnauthorized: false },
      connectionTimeout: TIMEOUT_MILLIS,
      socketTimeout: TIMEOUT_MILLIS
    })
    try {
      const info = await transport.sendMail({ envelope: { from: envelope.mailFrom, to: [...envelope.rcptTo] }, raw })
      const [rejected] = info.rejectedErrors ?? []
      if (rejected !== undefined) throw rejected
      return info.response
    } catch (error) {
      throw toSmtpError(error)
    } finally {
      transport.close()
    }
  }
}

/** Returns the service's reply, or a temporary error if the service sent no reply. */
const toSmtpError = (error: unknown): SmtpError => {
  if (error instanceof SmtpError) return error
  const { response, responseCode } = error as { readonly response?: string; readonly responseCode?: number }
  return responseCode === undefined
    ? new SmtpError(451, "4.4.1 the mail service is unavailable")
    : new SmtpError(responseCode, withoutCode(response ?? ""))
}

/** Returns the text of a reply. */
export const withoutCode = (reply: string): string => reply.replace(/^\d{3}[ -]?/, "")

/** An SMTP connection that sends one command at a time. */
class SmtpConnection {
  private readonly socket: Socket
  private readonly lines: AsyncIterator<string>

  private constructor(socket: Socket) {
    this.socket = socket
    this.lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  }

  static open(host: string, port: number): Promise<SmtpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, timeout: TIMEOUT_MILLIS })
      socket.once("connect", () => resolve(new SmtpConnection(socket)))
      socket.once("timeout", () => socket.destroy(new Error("the mail service does not respond")))
      socket.on("error", (error) => reject(toSmtpError(error)))
    })
  }

  /** Sends a command and expects a reply with code 250. */
  async send(command: string): Promise<void> {
    this.socket.write(`${command}\r\n`)
    await this.expectReply(250)
  }

  /** Reads a reply of one or more lines. Fails if it has another code. */
  async expectReply(expectedCode: number): Promise<void> {
    for (;;) {
      const next = await this.lines.next()
      if (next.done === true) throw new SmtpError(451, "4.4.2 the mail service closed the connection")
      if (next.value[3] === "-") continue
      const code = Number(next.value.slice(0, 3))
      if (code !== expectedCode) throw new SmtpError(code, next.value.slice(4))
      return
    }
  }

  end(): void {
    this.socket.end("QUIT\r\n")
  }
}
