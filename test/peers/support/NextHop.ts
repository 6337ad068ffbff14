import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

/** A mail that arrived at the next hop. */
export interface DeliveredMail {
  readonly mailFrom: string
  readonly rcptTo: ReadonlyArray<string>
  readonly raw: string
}

/** The replies to recipients by the beginning of their local parts, in the words of several mail hosts. */
const REFUSALS: ReadonlyArray<readonly [RegExp, number, string]> = [
  [/^nobody/, 550, "5.1.1 The email account that you tried to reach does not exist."],
  [/^plain/, 550, "Requested action not taken: mailbox unavailable"],
  [/^full/, 552, "5.2.2 Mailbox full"],
  [/^spam/, 554, "5.7.1 Message rejected as spam"],
  [/^later/, 451, "4.7.1 Greylisted, please try again later"]
]

export interface NextHop {
  readonly port: number
  readonly mails: ReadonlyArray<DeliveredMail>
  readonly close: () => Promise<void>
}

export interface NextHopOptions {
  /** Whether it offers delivery status notifications; it writes none. */
  readonly hasDsn?: boolean
  /** By default a free one. */
  readonly port?: number
  /** Whether it accepts every recipient. */
  readonly acceptsAll?: boolean
}

/** Starts the mail host of the recipients, to which a server under test forwards. */
export const startNextHop = async (options: NextHopOptions = {}): Promise<NextHop> => {
  const mails: Array<DeliveredMail> = []
  const server = new SMTPServer({
    name: "mx.outside.test",
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    hideDSN: options.hasDsn !== true,
    logger: false,
    onRcptTo: ({ address }, _session, reply) => {
      const refusal = REFUSALS.find(([localPart]) => localPart.test(address))
      if (refusal === undefined || options.acceptsAll === true) return reply()
      const [, responseCode, text] = refusal
      reply(Object.assign(new Error(text), { responseCode }))
    },
    onData: (stream, { envelope }, reply) => {
      const pieces: Array<Buffer> = []
      stream.on("data", (piece: Buffer) => pieces.push(piece))
      stream.once("end", () => {
        mails.push({
          mailFrom: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
          rcptTo: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(pieces).toString()
        })
        reply()
      })
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
