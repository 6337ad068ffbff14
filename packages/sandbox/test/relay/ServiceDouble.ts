import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { SMTPServer } from "smtp-server"

export interface TakenMail {
  readonly mailFrom: string
  readonly rcptTo: ReadonlyArray<string>
  readonly raw: Buffer
}

/** What the relay takes for the service: an SMTP server that keeps what it is given. */
export interface ServiceDouble {
  readonly port: number
  readonly taken: Array<TakenMail>
  /** Its answers from now on, by default of one that knows ada and bob. */
  readonly answers: {
    recipient: (address: string) => readonly [number, string] | undefined
    mail: readonly [number, string] | undefined
  }
  readonly close: () => Promise<void>
}

const refusal = ([responseCode, text]: readonly [number, string]) => Object.assign(new Error(text), { responseCode })

export const startServiceDouble = async (): Promise<ServiceDouble> => {
  const taken: Array<TakenMail> = []
  const answers: ServiceDouble["answers"] = {
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
      const answer = answers.recipient(address)
      reply(answer === undefined ? null : refusal(answer))
    },
    onData: (stream, { envelope }, reply) =>
      void buffer(stream).then((raw) => {
        if (answers.mail !== undefined) return reply(refusal(answers.mail))
        const mailFrom = envelope.mailFrom === false ? "" : envelope.mailFrom.address
        taken.push({ mailFrom, rcptTo: envelope.rcptTo.map(({ address }) => address), raw })
        reply(null, "2.6.0 Message accepted")
      })
  })
  server.on("error", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    taken,
    answers,
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
