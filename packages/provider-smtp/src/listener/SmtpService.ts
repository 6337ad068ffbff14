import type { AddressInfo, Socket } from "node:net"
import { domainToASCII } from "node:url"
import type { InboundEnvelope } from "@agentos/core"
import { type Cause, Exit } from "effect"
import { SMTPServer, type SMTPServerAddress, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server"
import { BufferBudget, type MessageBuffer } from "./MessageBuffer.ts"
import { SmtpReply } from "./SmtpReply.ts"

/** Every bound on what senders may take. Times in milliseconds. */
export interface SmtpLimits {
  readonly messageBytes: number
  /** Of one mail. RFC 5321, section 4.5.3.1.8, asks for 100 at least. */
  readonly recipients: number
  readonly connections: number
  readonly connectionsPerAddress: number
  /** Refused recipients of one connection: beyond, it looks for addresses rather than sends mail. */
  readonly refusedRecipients: number
  /** Mails arriving at a time, and the memory that they share. Each takes its size once more while it is stored. */
  readonly messages: number
  readonly bufferedBytes: number
  /** What of both one address may take, so that no slow sender keeps the mail of all others away. */
  readonly messagesPerAddress: number
  readonly bufferedBytesPerAddress: number
  /** Silence of a sender. RFC 5321, section 4.5.3.2.7, asks for 5 minutes. */
  readonly idleMillis: number
  /** From DATA to the last byte, however steadily it trickles. */
  readonly messageMillis: number
  readonly shutdownMillis: number
}

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  messageBytes: 25 * 1024 * 1024,
  recipients: 100,
  connections: 100,
  connectionsPerAddress: 50,
  refusedRecipients: 100,
  messages: 32,
  bufferedBytes: 64 * 1024 * 1024,
  messagesPerAddress: 16,
  bufferedBytesPerAddress: 32 * 1024 * 1024,
  idleMillis: 5 * 60_000,
  messageMillis: 10 * 60_000,
  shutdownMillis: 4_000
}

export interface SmtpServiceOptions {
  readonly domain: string
  readonly hostName: string
  /** PEM. */
  readonly privateKey: string
  readonly certificate: string
  readonly limits: SmtpLimits
  readonly isDeliverable: (address: string) => Promise<Exit.Exit<boolean>>
  /** Resolves once the mail is safe. */
  readonly accept: (envelope: InboundEnvelope, raw: Uint8Array) => Promise<Exit.Exit<void>>
  readonly report: (cause: Cause.Cause<never>) => void
}

type Answer = (error?: Error | null, text?: string) => void

/** How long the last replies have to leave before connections are cut. */
const FAREWELL_MILLIS = 200

/** An address as it is looked up: its domain in ASCII and lower case. */
const plainAddress = ({ address }: SMTPServerAddress): { readonly address: string; readonly domain: string } => {
  const at = address.lastIndexOf("@")
  if (at < 0) return { address, domain: "" }
  const domain = domainToASCII(address.slice(at + 1)) || address.slice(at + 1).toLowerCase()
  return { address: `${address.slice(0, at)}@${domain}`, domain }
}

const envelopeOf = (session: SMTPServerSession): InboundEnvelope => ({
  mailFrom: session.envelope.mailFrom === false ? "" : plainAddress(session.envelope.mailFrom).address,
  rcptTo: session.envelope.rcptTo.map((recipient) => plainAddress(recipient).address),
  remoteAddress: session.remoteAddress,
  helo: session.hostNameAppearsAs,
  secure: session.secure
})

/** The listener without Effect: smtp-server with the limits that it leaves to its user. */
export class SmtpService {
  readonly #options: SmtpServiceOptions
  readonly #server: SMTPServer
  readonly #budget: BufferBudget
  /** What of it each remote address has that a mail arrives from. */
  readonly #shares = new Map<string, BufferBudget>()
  /** Those that are open, and some that have closed since the last one came. */
  readonly #sockets = new Set<Socket>()
  /** The remote address of each session. */
  readonly #addresses = new Map<string, string>()
  readonly #refused = new Map<string, number>()
  /** Sessions with a mail that is arriving or being stored. */
  readonly #receiving = new Set<string>()
  #closing: { readonly drained: () => void } | undefined

  constructor(options: SmtpServiceOptions) {
    const { limits } = options
    this.#options = options
    this.#budget = new BufferBudget(limits.bufferedBytes, limits.messages)
    this.#server = new SMTPServer({
      name: options.hostName,
      heloResponse: "%s at your service",
      key: options.privateKey,
      cert: options.certificate,
      minVersion: "TLSv1.2",
      size: limits.messageBytes,
      disabledCommands: ["AUTH", "XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"],
      authOptional: true,
      disableReverseLookup: true,
      maxClients: limits.connections,
      socketTimeout: limits.idleMillis,
      closeTimeout: limits.shutdownMillis,
      logger: false,
      onConnect: (session, answer) => this.#onConnect(session, answer),
      onClose: (session) => this.#onClose(session),
      onMailFrom: (sender, session, answer) => this.#onMailFrom(sender, session, answer),
      onRcptTo: (recipient, session, answer) => void this.#onRcptTo(recipient, session, answer),
      onData: (stream, session, answer) => this.#onData(stream, session, answer)
    })
    // A sender that goes away, or whose TLS fails, is nobody's error here.
    this.#server.on("error", () => undefined)
    this.#server.server.on("connection", (socket: Socket) => {
      // A socket can't be listened to for its end: STARTTLS takes all listeners from it.
      for (const known of this.#sockets) if (known.destroyed) this.#sockets.delete(known)
      this.#sockets.add(socket)
    })
  }

  /** Bytes of memory that arriving mails hold at present. */
  get bufferedBytes(): number {
    return this.#budget.bytes
  }

  /** Resolves to the port; rejects when it can't be had. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const { server } = this.#server
      server.once("error", reject)
      server.listen(port, host, () => {
        server.off("error", reject)
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  async close(): Promise<void> {
    const drained = new Promise<void>((resolve) => (this.#closing = { drained: resolve }))
    const closed = new Promise<void>((resolve) => this.#server.close(resolve))
    for (const { id } of this.#server.connections) if (!this.#receiving.has(id)) this.#dismiss(id)
    if (this.#receiving.size === 0) this.#closing?.drained()
    await Promise.race([closed, drained])
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, FAREWELL_MILLIS))])
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Says 421 to a session and closes it. */
  #dismiss(sessionId: string, text = "4.3.2 Server shutting down"): void {
    for (const connection of this.#server.connections) if (connection.id === sessionId) connection.send(421, text)
  }

  #onConnect({ id, remoteAddress }: SMTPServerSession, answer: Answer): void {
    const { connectionsPerAddress } = this.#options.limits
    let count = 0
    for (const address of this.#addresses.values()) if (address === remoteAddress) count++
    if (count >= connectionsPerAddress) return answer(SmtpReply.tooManyConnections())
    this.#addresses.set(id, remoteAddress)
    answer()
  }

  #onClose({ id }: SMTPServerSession): void {
    this.#addresses.delete(id)
    this.#refused.delete(id)
  }

  /** A mail that says its size beforehand is put off before it is sent in vain. */
  #onMailFrom({ args }: SMTPServerAddress, { remoteAddress }: SMTPServerSession, answer: Answer): void {
    const declared = args === false ? 0 : Number(args["SIZE"] ?? 0)
    const budget = this.#shares.get(remoteAddress) ?? this.#budget
    answer(budget.admits(declared) ? null : SmtpReply.storageFull())
  }

  /** The share of an address; it is forgotten once nothing of it is used. */
  #shareOf(remoteAddress: string): BufferBudget {
    const { bufferedBytesPerAddress, messagesPerAddress } = this.#options.limits
    const share =
      this.#shares.get(remoteAddress) ?? new BufferBudget(bufferedBytesPerAddress, messagesPerAddress, this.#budget)
    this.#shares.set(remoteAddress, share)
    return share
  }

  async #onRcptTo(recipient: SMTPServerAddress, session: SMTPServerSession, answer: Answer): Promise<void> {
    const { domain, limits, isDeliverable, report } = this.#options
    if (session.envelope.rcptTo.length >= limits.recipients) return answer(SmtpReply.tooManyRecipients())
    const plain = plainAddress(recipient)
    if (plain.domain !== "" && plain.domain !== domain.toLowerCase()) {
      return answer(this.#refuse(session, SmtpReply.relayingDenied()))
    }
    const exit = await isDeliverable(plain.address)
    if (Exit.isFailure(exit)) {
      report(exit.cause)
      return answer(SmtpReply.localTrouble())
    }
    answer(exit.value ? null : this.#refuse(session, SmtpReply.noSuchMailbox()))
  }

  #refuse({ id }: SMTPServerSession, reply: Error): Error {
    const count = (this.#refused.get(id) ?? 0) + 1
    this.#refused.set(id, count)
    return count > this.#options.limits.refusedRecipients ? SmtpReply.tooManyRefused() : reply
  }

  #onData(stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer): void {
    const { limits } = this.#options
    const { id, remoteAddress } = session
    const buffer = this.#shareOf(remoteAddress).open()
    let refusal: Error | undefined = buffer === undefined ? SmtpReply.storageFull() : undefined
    const refuse = (reason: Error) => {
      refusal = reason
      buffer?.release()
    }
    this.#receiving.add(id)
    const deadline = setTimeout(() => {
      refuse(SmtpReply.localTrouble())
      this.#dismiss(id, "4.4.2 The message took too long")
    }, limits.messageMillis)
    const end = () => {
      clearTimeout(deadline)
      buffer?.release()
      if (this.#shares.get(remoteAddress)?.isUnused === true) this.#shares.delete(remoteAddress)
      this.#receiving.delete(id)
      // The reply is written first.
      if (this.#closing !== undefined) setImmediate(() => this.#dismiss(id))
      if (this.#receiving.size === 0) this.#closing?.drained()
    }

    stream.on("data", (chunk: Buffer) => {
      if (stream.sizeExceeded) return refuse(SmtpReply.messageTooLarge(limits.messageBytes))
      if (refusal === undefined && buffer?.append(chunk) === false) refuse(SmtpReply.storageFull())
    })
    // The sender went away in the middle.
    stream.once("error", end)
    stream.once("end", () => {
      clearTimeout(deadline)
      if (stream.sizeExceeded) refuse(SmtpReply.messageTooLarge(limits.messageBytes))
      if (buffer === undefined || refusal !== undefined) {
        answer(refusal)
        end()
      } else void this.#store(buffer, session, answer).finally(end)
    })
  }

  async #store(buffer: MessageBuffer, session: SMTPServerSession, answer: Answer): Promise<void> {
    const exit = await this.#options.accept(envelopeOf(session), buffer.take())
    if (Exit.isFailure(exit)) {
      this.#options.report(exit.cause)
      return answer(SmtpReply.localTrouble())
    }
    answer(null, "2.6.0 Message accepted")
  }
}
