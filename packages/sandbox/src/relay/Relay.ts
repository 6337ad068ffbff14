import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server"
import { type FaultMode, faultRoutes, makeFaultPlan } from "../shared/FaultPlan.ts"
import { startJsonServer } from "../shared/JsonServer.ts"
import { MailService, SmtpError, withoutCode } from "./MailService.ts"
import { Outbox } from "./Outbox.ts"
import { outsideMailRoutes } from "./OutsideMail.ts"
import { reportKindOf, reportOn } from "./Reports.ts"

export interface RelayOptions {
  /** A port of 127.0.0.1. 0, the default, selects a free one. */
  readonly port?: number
  readonly outboxDir: string
  /** Mail to this domain is delivered to the service. Other mail is stored in the outbox. */
  readonly domain: string
  /** The address of the service's SMTP server. */
  readonly service: { readonly host: string; readonly port: number }
  /** The port of the HTTP server for faults. 0, the default, selects a free one. */
  readonly faultsPort?: number
}

export interface Relay {
  readonly port: number
  /** The base URL for `/sandbox/faults`, `/sandbox/mail` and `/sandbox/reports`. */
  readonly faultsUrl: string
  /** Resolves within about a second. */
  readonly close: () => Promise<void>
}

/** Larger than the service's own limit, so that the service rejects large mail itself. */
const SIZE_LIMIT_BYTES = 30 * 1024 * 1024

/** Bounds the memory: each client may hold a whole mail. */
const CLIENTS_MAX = 100

/** Clients keep connections open. On close, a mail that is being received has this long to complete. */
const CLOSE_MILLIS = 1_000

/** Recipient domains with a fixed reply, for tests. */
const REJECTED_DOMAINS: ReadonlyMap<string, SmtpError> = new Map([
  ["reject.test", new SmtpError(550, "5.7.1 this domain accepts no mail")],
  ["bounce.test", new SmtpError(550, "5.1.1 no such user")],
  ["defer.test", new SmtpError(451, "4.3.2 try again later")]
])
/** The first mail to each recipient at this domain is rejected with 451, as a greylist does. */
const GREYLIST_DOMAIN = "greylist.test"
/** Bounds the memory: when so many recipients are known, all are forgotten. */
const GREYLISTED_MAX = 10_000
/** Mail to this domain is stored, and the connection is closed without a reply. */
const DROPPED_DOMAIN = "drop.test"

const FAULT_OPERATIONS = ["send"] as const

/** The replies to faults that store nothing. */
const FAULT_REPLIES: Readonly<Partial<Record<FaultMode, SmtpError>>> = {
  before: new SmtpError(451, "4.3.0 sandbox fault"),
  reject: new SmtpError(550, "5.7.1 sandbox fault")
}

/** Closes the connection of a client that has no timeout of its own. */
const HANG_MILLIS_MAX = 120_000

/**
 * Starts the sandbox's mail relay: an SMTP server for the service's outbound mail.
 *
 * Mail to the service's own domain is delivered to the service within the same transaction, with its bytes unchanged.
 * The sender receives the service's replies, for a recipient at RCPT. Other mail is stored in files and sent nowhere.
 * For tests, recipients at `reject.test`, `bounce.test` and `defer.test` are rejected with 550 5.7.1, 550 5.1.1 and 451.
 * A recipient at `greylist.test` is rejected with 451 the first time, and accepted later.
 * After a mail to `drop.test` the connection is closed. For each recipient at `delivered.test`, `bounced.test` and
 * `complained.test` the relay sends a delivery report, a bounce or a complaint to the envelope sender. It offers DSN.
 *
 * `faultRoutes` control faults of `send`: `before` rejects the mail with 451 at the end of DATA, `reject` with 550.
 * `after` stores it and closes the connection, `hang` stores it and does not reply. The subject of a fault is a
 * recipient. `reject` does not apply to a second copy of a stored mail, by its Message-ID, because receivers drop copies:
 * a sender that receives 550 can rely on the mail not being stored.
 *
 * If the service is unavailable, the relay replies with 451. Rejects if a port is not available.
 */
export const startRelay = async (options: RelayOptions): Promise<Relay> => {
  const outbox = await Outbox.open(options.outboxDir)
  const service = new MailService(options.service.host, options.service.port)
  const isOwn = (address: string) => domainOf(address) === options.domain.toLowerCase()

  const greylisted = new Set<string>()

  const acceptRecipient = async (address: string, session: SMTPServerSession): Promise<void> => {
    const rejection = REJECTED_DOMAINS.get(domainOf(address))
    if (rejection !== undefined) throw rejection
    if (domainOf(address) === GREYLIST_DOMAIN && !greylisted.has(address)) {
      if (greylisted.size >= GREYLISTED_MAX) greylisted.clear()
      greylisted.add(address)
      throw new SmtpError(451, "4.7.1 greylisted: try again later")
    }
    if (isOwn(address)) await service.check(senderOf(session), address)
  }

  const read = async (stream: SMTPServerDataStream): Promise<Buffer> => {
    const chunks: Array<Buffer> = []
    for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer)
    if (stream.sizeExceeded) throw new SmtpError(552, "5.3.4 the mail is too large")
    return Buffer.concat(chunks)
  }

  /** Returns the reply. */
  const acceptMail = async (raw: Buffer, session: SMTPServerSession): Promise<string> => {
    const mailFrom = senderOf(session)
    const recipients = session.envelope.rcptTo.map(({ address }) => address)
    const others = recipients.filter((address) => !isOwn(address))
    const own = recipients.filter(isOwn)
    const reply = own.length > 0 ? withoutCode(await service.deliver({ mailFrom, rcptTo: own }, raw)) : undefined
    if (others.length === 0 && reply !== undefined) return reply
    const name = await outbox.store({ mailFrom, rcptTo: others }, raw)
    for (const recipient of others) void sendReport(mailFrom, recipient)
    return `2.0.0 Ok: stored as ${name}`
  }

  /** Reports on a recipient whose domain reports. A report that the service refuses is lost, as on the internet. */
  const sendReport = async (returnPath: string, recipient: string): Promise<void> => {
    const kind = reportKindOf(recipient)
    if (kind === undefined || !isOwn(returnPath)) return
    const { envelope, raw } = reportOn(returnPath, recipient, kind)
    await service
      .deliver(envelope, raw)
      .catch((error: unknown) => console.error(`mail relay: the report on ${recipient} was refused: ${String(error)}`))
  }

  const faults = makeFaultPlan<(typeof FAULT_OPERATIONS)[number]>()
  const hangTimers = new Set<NodeJS.Timeout>()

  /** Accepts a mail, or fails as the oldest matching fault says. */
  const endData = async (
    stream: SMTPServerDataStream,
    session: SMTPServerSession
  ): Promise<{ readonly reply: string } | "drop" | "hang"> => {
    const recipients = session.envelope.rcptTo.map(({ address }) => address)
    const raw = await read(stream)
    const fault = faults.take("send", recipients)
    const rejection = fault === undefined ? undefined : FAULT_REPLIES[fault]
    // A permanent rejection says that nothing was stored, which would be false for a mail that was stored before.
    const isStored = fault === "reject" && outbox.has(raw)
    if (rejection !== undefined && !isStored) throw rejection
    const reply = await acceptMail(raw, session)
    if (fault === "after" || recipients.some((address) => domainOf(address) === DROPPED_DOMAIN)) return "drop"
    return fault === "hang" ? "hang" : { reply }
  }

  const server = new SMTPServer({
    name: "relay.sandbox.test",
    banner: "AgentOS sandbox relay: mail to other domains is stored, not sent",
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    hideDSN: false,
    size: SIZE_LIMIT_BYTES,
    maxClients: CLIENTS_MAX,
    closeTimeout: CLOSE_MILLIS,
    logger: false,
    onRcptTo: ({ address }, session, reply) => {
      acceptRecipient(address, session).then(() => reply(), reply)
    },
    onData: (stream, session, reply) => {
      endData(stream, session).then((result) => {
        if (result === "drop") return drop(server, session)
        if (result !== "hang") return reply(null, result.reply)
        const timer = setTimeout(() => {
          hangTimers.delete(timer)
          drop(server, session)
        }, HANG_MILLIS_MAX)
        hangTimers.add(timer)
      }, reply)
    }
  })
  server.on("error", (error) => console.error(`mail relay: ${error.message}`))
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const control = await startJsonServer({
    routes: { ...faultRoutes(faults, FAULT_OPERATIONS), ...outsideMailRoutes(service, outbox) },
    port: options.faultsPort ?? 0
  }).catch((error: unknown) => close(server).then(() => Promise.reject(error)))
  return {
    port: (server.server.address() as AddressInfo).port,
    faultsUrl: control.url,
    close: async () => {
      for (const timer of hangTimers) clearTimeout(timer)
      await Promise.all([control.close(), close(server)])
    }
  }
}

const close = (server: SMTPServer): Promise<void> => new Promise((resolve) => server.close(resolve))

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

const senderOf = ({ envelope }: SMTPServerSession): string =>
  envelope.mailFrom === false ? "" : envelope.mailFrom.address

/** Closes a session's connection without a reply. */
const drop = (server: SMTPServer, { id }: SMTPServerSession): void => {
  for (const connection of server.connections) {
    if (connection.session?.id === id) connection._socket.destroy()
  }
}
