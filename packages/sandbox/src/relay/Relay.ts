import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server"
import { type FaultMode, makeFaultPlan } from "../fault/FaultPlan.ts"
import { faultRoutes } from "../fault/FaultRoutes.ts"
import { startJsonServer } from "../http/JsonServer.ts"
import { MailService, Refusal, withoutCode } from "./MailService.ts"
import { Outbox } from "./Outbox.ts"

/** The sandbox's stand-in for the mail system of the world. */
export interface RelayOptions {
  /** 0 or none takes a free one, of 127.0.0.1. */
  readonly port?: number
  readonly outboxDir: string
  /** Mail to this domain goes to the service; all other mail stays in the outbox. */
  readonly domain: string
  /** Where the service takes mail. */
  readonly service: { readonly host: string; readonly port: number }
  /** Where its faults are planned over HTTP; 0 or none takes a free one. */
  readonly faultsPort?: number
}

export interface Relay {
  readonly port: number
  /** Of the HTTP server for its faults: `/sandbox/faults` follows. */
  readonly faultsUrl: string
  /** Resolves within about a second. */
  readonly close: () => Promise<void>
}

/** More than the service itself takes, so that it is the service who says no. */
const SIZE_LIMIT_BYTES = 30 * 1024 * 1024

/** At a time: each may hold a whole mail in memory. */
const CLIENTS_MAX = 100

/** Clients keep their connections open; when the relay ends, a mail that is being taken has this long. */
const CLOSE_MILLIS = 1_000

/** Recipients by which a test tells the relay how the world answers. */
const SCRIPTED: ReadonlyMap<string, Refusal> = new Map([
  ["reject.test", new Refusal(550, "5.7.1 this domain takes no mail")],
  ["bounce.test", new Refusal(550, "5.1.1 no such user")],
  ["defer.test", new Refusal(451, "4.3.2 not now")]
])
/** Mail for this domain is taken, and then the connection is cut instead of an answer. */
const DROPPED = "drop.test"

const FAULTY = ["send"] as const

/** The answers to faults that keep nothing. */
const FAULT_REPLIES: Readonly<Partial<Record<FaultMode, Refusal>>> = {
  before: new Refusal(451, "4.3.0 sandbox fault"),
  reject: new Refusal(550, "5.7.1 sandbox fault")
}

/** A client that has no time-out of its own is let go after this. */
const HANG_MILLIS_MAX = 120_000

/**
 * Starts the relay: an SMTP server for the service's outbound mail.
 *
 * Mail to the service's own domain goes on to the service within the same
 * transaction, with its bytes unchanged, and gets the service's answers, a
 * recipient's at RCPT. All other mail is kept as files and goes nowhere. For
 * tests, recipients at `reject.test`, `bounce.test` and `defer.test` are refused
 * with 550 5.7.1, 550 5.1.1 and 451; after a mail to `drop.test` the connection is cut.
 *
 * Faults of the operation `send` are planned over HTTP, see `faultRoutes`: `before` refuses the mail with 451 at the end
 * of DATA, `reject` with 550; `after` takes it and cuts the connection, `hang` takes it and says no more. Those that
 * are `only` for one recipient name its address. A second copy of a mail that is kept (by its Message-ID) meets no
 * `reject`, as receivers drop copies: a sender who is told 550 may be sure that the mail is not here.
 *
 * A service that can't be reached is answered with 451. Rejects when the port can't be had.
 */
export const startRelay = async (options: RelayOptions): Promise<Relay> => {
  const outbox = await Outbox.open(options.outboxDir)
  const service = new MailService(options.service.host, options.service.port)
  const isOwn = (address: string) => domainOf(address) === options.domain.toLowerCase()

  const takeRecipient = async (address: string, session: SMTPServerSession): Promise<void> => {
    const scripted = SCRIPTED.get(domainOf(address))
    if (scripted !== undefined) throw scripted
    if (isOwn(address)) await service.check(senderOf(session), address)
  }

  const read = async (stream: SMTPServerDataStream): Promise<Buffer> => {
    const chunks: Array<Buffer> = []
    for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer)
    if (stream.sizeExceeded) throw new Refusal(552, "5.3.4 the mail is too large")
    return Buffer.concat(chunks)
  }

  /** Answers what the sender is told. */
  const takeMail = async (raw: Buffer, session: SMTPServerSession): Promise<string> => {
    const mailFrom = senderOf(session)
    const recipients = session.envelope.rcptTo.map(({ address }) => address)
    const others = recipients.filter((address) => !isOwn(address))
    const own = recipients.filter(isOwn)
    const answer = own.length > 0 ? withoutCode(await service.deliver({ mailFrom, rcptTo: own }, raw)) : undefined
    if (others.length === 0 && answer !== undefined) return answer
    return `2.0.0 Ok: kept as ${await outbox.keep({ mailFrom, rcptTo: others }, raw)}`
  }

  const faults = makeFaultPlan<(typeof FAULTY)[number]>()
  const silences = new Set<NodeJS.Timeout>()

  /** Takes a mail, or fails as the oldest fault planned for it says. */
  const endData = async (
    stream: SMTPServerDataStream,
    session: SMTPServerSession
  ): Promise<{ readonly reply: string } | "cut" | "hang"> => {
    const recipients = session.envelope.rcptTo.map(({ address }) => address)
    const raw = await read(stream)
    const fault = faults.take("send", recipients)
    const refusal = fault === undefined ? undefined : FAULT_REPLIES[fault]
    // That nothing was done can't be said any more of a mail that was kept before.
    const isFalse = fault === "reject" && outbox.hasKept(raw)
    if (refusal !== undefined && !isFalse) throw refusal
    const answer = await takeMail(raw, session)
    if (fault === "after" || recipients.some((address) => domainOf(address) === DROPPED)) return "cut"
    return fault === "hang" ? "hang" : { reply: answer }
  }

  const server = new SMTPServer({
    name: "relay.sandbox.test",
    banner: "AgentOS sandbox relay: mail to the rest of the world stays here",
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: SIZE_LIMIT_BYTES,
    maxClients: CLIENTS_MAX,
    closeTimeout: CLOSE_MILLIS,
    logger: false,
    onRcptTo: ({ address }, session, reply) => {
      takeRecipient(address, session).then(() => reply(), reply)
    },
    onData: (stream, session, reply) => {
      endData(stream, session).then((answer) => {
        if (answer === "cut") return cut(server, session)
        if (answer !== "hang") return reply(null, answer.reply)
        const silence = setTimeout(() => {
          silences.delete(silence)
          cut(server, session)
        }, HANG_MILLIS_MAX)
        silences.add(silence)
      }, reply)
    }
  })
  server.on("error", (error) => console.error(`the relay: ${error.message}`))
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const control = await startJsonServer({ routes: faultRoutes(faults, FAULTY), port: options.faultsPort ?? 0 }).catch(
    (error: unknown) => close(server).then(() => Promise.reject(error))
  )
  return {
    port: (server.server.address() as AddressInfo).port,
    faultsUrl: control.url,
    close: async () => {
      for (const silence of silences) clearTimeout(silence)
      await Promise.all([control.close(), close(server)])
    }
  }
}

const close = (server: SMTPServer): Promise<void> => new Promise((resolve) => server.close(resolve))

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

const senderOf = ({ envelope }: SMTPServerSession): string =>
  envelope.mailFrom === false ? "" : envelope.mailFrom.address

/** Cuts a session's connection without a word. */
const cut = (server: SMTPServer, { id }: SMTPServerSession): void => {
  for (const connection of server.connections) {
    if (connection.session?.id === id) connection._socket.destroy()
  }
}
