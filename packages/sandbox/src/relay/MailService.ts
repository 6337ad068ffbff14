import { connect, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { createTransport } from "nodemailer"
import type { Envelope } from "./Outbox.ts"

/** An SMTP reply that refuses, to be passed on to the sender as it is. */
export class Refusal extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

const TIMEOUT_MILLIS = 20_000

/** The service's own SMTP door, seen from the relay. */
export class MailService {
  private readonly host: string
  private readonly port: number

  constructor(host: string, port: number) {
    this.host = host
    this.port = port
  }

  /** Asks whether a recipient would be taken, as relays do before they take a mail for it; fails with the service's refusal. */
  async check(mailFrom: string, recipient: string): Promise<void> {
    const dialogue = await Dialogue.open(this.host, this.port)
    try {
      await dialogue.say(undefined, 220)
      await dialogue.say("EHLO relay.sandbox.test", 250)
      await dialogue.say(`MAIL FROM:<${mailFrom}>`, 250)
      await dialogue.say(`RCPT TO:<${recipient}>`, 250)
    } finally {
      dialogue.end()
    }
  }

  /**
   * Hands a mail over with its bytes unchanged (but for bare LF and CR, which SMTP does not carry: each becomes
   * CRLF). Answers the service's words; fails with its refusal, also when it refuses only some recipients: the
   * sender then comes again, and the service knows the mail that it already has.
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
      const [refused] = info.rejectedErrors ?? []
      if (refused !== undefined) throw refused
      return info.response
    } catch (error) {
      throw toRefusal(error)
    } finally {
      transport.close()
    }
  }
}

/** The service's reply, or, where there was none, one that asks the sender to come again. */
const toRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const { response, responseCode } = error as { readonly response?: string; readonly responseCode?: number }
  return responseCode === undefined
    ? new Refusal(451, "4.4.1 the mail service can't be reached")
    : new Refusal(responseCode, withoutCode(response ?? ""))
}

/** The text of a reply. */
export const withoutCode = (reply: string): string => reply.replace(/^\d{3}[ -]?/, "")

/** An SMTP connection on which one thing is said after the other. */
class Dialogue {
  private readonly socket: Socket
  private readonly lines: AsyncIterator<string>

  private constructor(socket: Socket) {
    this.socket = socket
    this.lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  }

  static open(host: string, port: number): Promise<Dialogue> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, timeout: TIMEOUT_MILLIS })
      socket.once("connect", () => resolve(new Dialogue(socket)))
      socket.once("timeout", () => socket.destroy(new Error("the mail service is silent")))
      socket.on("error", (error) => reject(toRefusal(error)))
    })
  }

  /** Sends a line and reads the reply, all its lines; fails when its code is another. */
  async say(line: string | undefined, expected: number): Promise<void> {
    if (line !== undefined) this.socket.write(`${line}\r\n`)
    for (;;) {
      const next = await this.lines.next()
      if (next.done === true) throw new Refusal(451, "4.4.2 the mail service hung up")
      if (next.value[3] === "-") continue
      const code = Number(next.value.slice(0, 3))
      if (code !== expected) throw new Refusal(code, next.value.slice(4))
      return
    }
  }

  end(): void {
    this.socket.end("QUIT\r\n")
  }
}
