import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { SMTPServer } from "smtp-server"

export interface ReceivedMail {
  readonly mailFrom: string
  readonly rcptTo: ReadonlyArray<string>
  readonly raw: Buffer
}

/** An SMTP server in place of the service. It stores received mail. */
export interface ServiceDouble {
  readonly port: number
  readonly received: Array<ReceivedMail>
  /** The replies. By default only ada and bob are valid recipients. */
  readonly replies: {
    recipient: (address: string) => readonly [number, string] | undefined
    mail: readonly [number, string] | undefined
  }
  readonly close: () => Promise<void>
}

const toError = ([responseCode, text]: readonly [number, string]) => Object.assign(new Error(text), { responseCode })

export const startServiceDouble = async (): Promise<ServiceDouble> => {
  const received: Array<ReceivedMail> = []
  const replies: ServiceDouble["replies"] = {
    recipient: (address) => (/^(ada|bob)@/i.test(address) ? undefined : [550, "5.1.1 No such mailbox here"]),
    mail: undefined
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onRcptTo: ({ address }, _session, reply) => {
      const rejection = replies.recipient(address)
      reply(rejection === undefined ? null : toError(rejection))
    },
    onData: (stream, { envelope }, reply) =>
      void buffer(stream).then((raw) => {
        if (replies.mail !== undefined) return reply(toError(replies.mail))
        const mailFrom = envelope.mailFrom === false ? "" : envelope.mailFrom.address
        received.push({ mailFrom, rcptTo: envelope.rcptTo.map(({ address }) => address), raw })
        reply(null, "2.6.0 Message accepted")
      })
  })
  server.on("error", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    replies,
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
