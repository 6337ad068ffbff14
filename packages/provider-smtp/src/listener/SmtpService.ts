import type { AddressInfo, Socket } from "node:net"
import { createSecureContext } from "node:tls"
import {
  baseLocalPart,
  type ByteBudget,
  foldDomain,
  type InboundEnvelope,
  type InboundRefusal,
  type InboundSender,
  type ListenerRefusal,
  type RateDecision,
  type RateRule,
  ReturnPath
} from "@agentos/core"
import { type Cause, Exit } from "effect"
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from "smtp-server"
import { type Author, authorOf } from "../header/Author.ts"
import { readHeaderBlock } from "../header/HeaderBlock.ts"
import { BufferBudget, type MessageBuffer } from "./MessageBuffer.ts"
import { PacedServer, type Refusal } from "./PacedServer.ts"
import { ProcessorShare } from "./ProcessorShare.ts"
import { RecipientLookups } from "./RecipientLookups.ts"
import { type Peer, peerOf, SessionTable } from "./SessionTable.ts"
import { type SmtpLimits, smtpRates } from "./SmtpLimits.ts"
import { SmtpDismissal, SmtpReply } from "./SmtpReply.ts"
import { SmtpSession } from "./SmtpSession.ts"

export interface SmtpServiceOptions {
  readonly domain: string
  readonly hostName: string
  /** PEM. */
  readonly privateKey: string
  readonly certificate: string
  readonly limits: SmtpLimits
  /** Returns milliseconds with fractions, from any origin. */
  readonly now: () => number
  /** The memory budget of the process, which the messages being received share with others. */
  readonly memory: ByteBudget
  readonly take: (rule: RateRule, subject: string, cost?: number) => Promise<RateDecision>
  /** Resolves to why mail from the sender to the address is refused; null if it is accepted. */
  readonly refusalOf: (address: string, from: InboundSender) => Promise<Exit.Exit<InboundRefusal | null>>
  /** Resolves once the mail is stored safely, or with the reason why it is refused. */
  readonly accept: (
    envelope: InboundEnvelope,
    raw: Uint8Array,
    author: string
  ) => Promise<Exit.Exit<InboundRefusal | null>>
  readonly countRefused: (reason: ListenerRefusal, rcptTo: ReadonlyArray<string>) => void
  readonly report: (cause: Cause.Cause<never>) => void
}

const REFUSALS: Readonly<Record<InboundRefusal, () => Error>> = {
  "mailbox unknown": SmtpReply.noSuchMailbox,
  "tenant suspended": SmtpReply.mailboxDisabled,
  "mailbox full": SmtpReply.mailboxFull,
  "too much mail": SmtpReply.tooMuchMail,
  "sender refused": SmtpReply.senderRefused,
  "sender unchecked": SmtpReply.senderUnchecked
}

type Answer = (error?: Error | null, text?: string) => void

/** Time for sending the last replies before connections are cut. */
const FAREWELL_MILLIS = 200

/** Longer than any command with its parameters (RFC 5321, section 4.5.3.1.4, and its extensions). */
const COMMAND_LIMIT_CHARACTERS = 2_048

/** Cost of some commands relative to others: a database lookup, a handshake. */
const LOOKUP_COST = 5
const STARTTLS_COST = 50

/** Processor time that one lookup takes elsewhere in this process, for example in the database. */
const LOOKUP_MILLIS = 2
/** Processor time of storing a message, per MiB. */
const STORE_MILLIS_PER_MIB = 15
const MIB = 1024 * 1024

/** `<Postmaster>` is the only address without a domain (RFC 5321, section 4.1.1.3). */
const isPostmaster = (address: string): boolean => address.toLowerCase() === "postmaster"

/** A domain in ASCII, or an address literal (RFC 5321, section 4.1.3). */
const DOMAIN = /^(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-z:.]+\])$/
/** RFC 5321, section 4.5.3.1.2. */
const DOMAIN_LIMIT_CHARACTERS = 255

/** Returns an address with its domain in ASCII and lower case; undefined if its domain is ambiguous or none. */
const plainAddress = ({ address }: SMTPServerAddress) => {
  const at = address.lastIndexOf("@")
  if (at < 0) return { address, localPart: address, domain: "" }
  const localPart = address.slice(0, at)
  const written = address.slice(at + 1)
  // A literal such as [192.0.2.1] is compared as it is.
  const domain = written.startsWith("[") ? written.toLowerCase() : foldDomain(written)
  if (domain === undefined || domain.length > DOMAIN_LIMIT_CHARACTERS || !DOMAIN.test(domain)) return undefined
  return { address: `${localPart}@${domain}`, localPart, domain }
}

const refuseRecipient = (session: SmtpSession, reply: Error): Error =>
  session.countRefusedRecipient() ? SmtpReply.tooManyRefused() : reply

const replyTo = (session: SmtpSession, refusal: InboundRefusal | null): Error | null =>
  refusal === null ? null : refuseRecipient(session, REFUSALS[refusal]())

const envelopeSender = ({ mailFrom }: SMTPServerSession["envelope"]): string =>
  mailFrom === false ? "" : (plainAddress(mailFrom)?.address ?? "")

const envelopeOf = (session: SMTPServerSession, domain: string): InboundEnvelope => ({
  mailFrom: envelopeSender(session.envelope),
  rcptTo: session.envelope.rcptTo.flatMap((recipient) => {
    if (isPostmaster(recipient.address)) return `${recipient.address}@${domain}`
    return plainAddress(recipient)?.address ?? []
  }),
  remoteAddress: session.remoteAddress,
  helo: session.hostNameAppearsAs,
  secure: session.secure
})

/** Whether a mail is from the null sender, and to return paths only. */
const isToReturnPaths = ({ mailFrom, rcptTo }: SMTPServerSession["envelope"]): boolean =>
  mailFrom !== false &&
  mailFrom.address === "" &&
  rcptTo.every(({ address }) => ReturnPath.hasForm(address.slice(0, address.lastIndexOf("@"))))

/**
 * Returns the author, or refuses a message whose header is ambiguous or does not name exactly one: otherwise a mail
 * program could show one address while the sender checks use another (RFC 7489, section 6.6.1). Old servers write bounces
 * with an empty From, or none: such mail to return paths is accepted without an author.
 */
const readAuthor = (
  raw: Uint8Array,
  { headerBytes }: SmtpLimits,
  isReturned: boolean
): Pick<Author, "address"> | ListenerRefusal => {
  const header = readHeaderBlock(raw, headerBytes)
  switch (header._tag) {
    case "TooLarge":
      return "header too large"
    case "Malformed":
      return "header malformed"
    case "Fields":
      return authorOf(header.fields) ?? (isReturned ? { address: "" } : "no single author")
  }
}

/** The listener without Effect: smtp-server with the limits that it leaves to its user. */
export class SmtpService {
  readonly #options: SmtpServiceOptions
  readonly #rates: ReturnType<typeof smtpRates>
  readonly #server: PacedServer
  readonly #share: ProcessorShare
  readonly #budget: BufferBudget
  /** The budget of each address from which a message is arriving. */
  readonly #shares = new Map<string, BufferBudget>()
  readonly #lookups: RecipientLookups
  /** The open sockets, and some that were closed since the last one was opened. */
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Map<string, SmtpSession>()
  readonly #deadlines = new Map<string, NodeJS.Timeout>()
  /** Sessions whose message is arriving or being stored. */
  readonly #receiving = new Set<string>()
  #closing: { readonly drained: () => void } | undefined

  constructor(options: SmtpServiceOptions) {
    const { limits } = options
    const table = new SessionTable(limits)
    this.#options = options
    this.#rates = smtpRates(limits)
    this.#share = new ProcessorShare(options.now)
    this.#budget = new BufferBudget(limits.bufferedBytes, limits.messages, options.memory)
    this.#lookups = new RecipientLookups((address, from) => {
      this.#share.charge(LOOKUP_MILLIS)
      return options.refusalOf(address, from)
    }, limits.lookups)
    this.#server = new PacedServer(
      {
        name: options.hostName,
        heloResponse: "%s at your service",
        key: options.privateKey,
        cert: options.certificate,
        minVersion: "TLSv1.2",
        size: limits.messageBytes,
        disabledCommands: ["AUTH", "XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"],
        authOptional: true,
        disableReverseLookup: true,
        // Mobile carriers and devices have addresses whose local part has dots in a row or at an end. Domains are checked here.
        lenientAddressParsing: true,
        maxCommandLength: COMMAND_LIMIT_CHARACTERS,
        socketTimeout: limits.idleMillis,
        closeTimeout: limits.shutdownMillis,
        logger: false,
        onConnect: (session, answer) => void this.#onConnect(session, answer),
        onClose: (session) => this.#onClose(session),
        onMailFrom: (sender, session, answer) => this.#onMailFrom(sender, session, answer),
        onRcptTo: (recipient, session, answer) => void this.#onRcptTo(recipient, session, answer),
        onData: (stream, session, answer) => this.#onData(stream, session, answer)
      },
      this.#share,
      {
        enter: (peer) => (table.enter(peer) ? undefined : SmtpDismissal.tooManyConnections),
        leave: (peer) => table.leave(peer),
        command: (id, peer, verb) => this.#countCommand(id, peer, verb),
        refusal: (id, verb) => this.#sessions.get(id)?.countRefusal(verb),
        message: (peer) => this.#countMessage(peer)
      }
    )
    // A sender that disconnects, or whose TLS fails, is not an error of the server.
    this.#server.on("error", () => undefined)
    this.#server.server.on("connection", (socket: Socket) => {
      // The close event of a socket cannot be used: STARTTLS removes all listeners.
      for (const known of this.#sockets) if (known.destroyed) this.#sockets.delete(known)
      this.#sockets.add(socket)
    })
  }

  /** Bytes of memory that arriving mails use now. */
  get bufferedBytes(): number {
    return this.#budget.bytes
  }

  /** Uses another certificate for the sessions that begin TLS from now on. Throws, and keeps the old one, if it can't be used. */
  replaceCertificate(key: string, cert: string): void {
    // The library forgets the old one before it knows whether the new one can be used.
    createSecureContext({ key, cert })
    this.#server.updateSecureContext({ key, cert })
  }

  /** Resolves to the port; rejects if it cannot be opened. */
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

  /** Sends 421 to a session and closes it. */
  #dismiss(sessionId: string, text: string = SmtpDismissal.shuttingDown): void {
    for (const connection of this.#server.connections) if (connection.id === sessionId) connection.send(421, text)
  }

  async #onConnect({ id, remoteAddress }: SMTPServerSession, answer: Answer): Promise<void> {
    const { limits } = this.#options
    const { isAdmitted, retryAfterSeconds } = await this.#options.take(
      this.#rates.session,
      peerOf(remoteAddress).address
    )
    if (!isAdmitted) {
      return answer(Object.assign(new Error(SmtpDismissal.tooManySessions(retryAfterSeconds)), { responseCode: 421 }))
    }
    this.#sessions.set(id, new SmtpSession(limits, this.#options.now))
    this.#deadlines.set(
      id,
      setTimeout(() => this.#endSession(id), limits.sessionMillis)
    )
    answer()
  }

  /** Ends a session at its time limit, or after the message that is arriving, which has a time limit of its own. */
  #endSession(id: string): void {
    if (!this.#receiving.has(id)) return this.#dismiss(id, SmtpDismissal.sessionTooLong)
    this.#deadlines.set(
      id,
      setTimeout(() => this.#endSession(id), this.#options.limits.messageMillis)
    )
  }

  #onClose({ id }: SMTPServerSession): void {
    clearTimeout(this.#deadlines.get(id))
    this.#deadlines.delete(id)
    this.#sessions.delete(id)
  }

  #countCommand(id: string, peer: Peer, verb: string): Promise<string | undefined> | string | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined) return undefined
    const reason = session.countCommand(verb)
    return reason ?? this.#takeCommands(session, peer, verb === "STARTTLS" ? STARTTLS_COST : 1)
  }

  #takeCommands(session: SmtpSession, { address }: Peer, cost: number): Promise<string | undefined> | undefined {
    const tokens = session.rateCost(cost)
    if (tokens === 0) return undefined
    return this.#options
      .take(this.#rates.command, address, tokens)
      .then((taken) => (taken.isAdmitted ? undefined : SmtpDismissal.tooFast(taken.retryAfterSeconds)))
  }

  async #countMessage({ address }: Peer): Promise<Refusal | undefined> {
    const { isAdmitted, retryAfterSeconds } = await this.#options.take(this.#rates.message, address)
    return isAdmitted ? undefined : SmtpReply.tooManyMessages(retryAfterSeconds)
  }

  /** Refuses a sender whose domain is ambiguous, and a message whose declared size cannot be received now. */
  #onMailFrom(sender: SMTPServerAddress, { remoteAddress }: SMTPServerSession, answer: Answer): void {
    const { args } = sender
    if (plainAddress(sender) === undefined) return answer(SmtpReply.badSender())
    const declared = args === false ? 0 : Number(args["SIZE"] ?? 0)
    const budget = this.#shares.get(peerOf(remoteAddress).address) ?? this.#budget
    answer(budget.admits(declared) ? null : SmtpReply.storageFull())
  }

  /** Returns the budget of an address, which is deleted once it is unused. */
  #shareOf(address: string): BufferBudget {
    const { bufferedBytesPerAddress, messagesPerAddress } = this.#options.limits
    const share =
      this.#shares.get(address) ?? new BufferBudget(bufferedBytesPerAddress, messagesPerAddress, this.#budget)
    this.#shares.set(address, share)
    return share
  }

  async #onRcptTo(recipient: SMTPServerAddress, { envelope, id, remoteAddress }: SMTPServerSession, answer: Answer) {
    const session = this.#sessions.get(id)
    if (session === undefined) return answer(SmtpReply.localError())
    if (session.hasTooManyRecipients) return answer(SmtpReply.tooManyRecipients())
    const plain = plainAddress(recipient)
    if (plain === undefined) return answer(refuseRecipient(session, SmtpReply.relayingDenied()))
    const { address, domain, localPart } = plain
    if (domain !== "" && domain !== this.#options.domain.toLowerCase()) {
      return answer(refuseRecipient(session, SmtpReply.relayingDenied()))
    }
    const mailbox = ReturnPath.hasForm(localPart) ? localPart.toLowerCase() : baseLocalPart(localPart)
    const known = session.verdictOn(mailbox)
    if (known !== undefined) return answer(replyTo(session, known))
    const tooFast = await this.#takeCommands(session, peerOf(remoteAddress), LOOKUP_COST)
    if (tooFast !== undefined) return answer(Object.assign(new Error(tooFast), { responseCode: 421 }))
    const complete = isPostmaster(address) ? `${address}@${this.#options.domain}` : address
    const exit = await this.#lookups.find(complete, { mailFrom: envelopeSender(envelope), remoteAddress })
    if (Exit.isFailure(exit)) {
      this.#options.report(exit.cause)
      return answer(SmtpReply.localError())
    }
    session.keepVerdict(mailbox, exit.value)
    answer(replyTo(session, exit.value))
  }

  #refuse(reason: ListenerRefusal, session: SMTPServerSession): Error {
    const { countRefused, domain, limits } = this.#options
    countRefused(reason, envelopeOf(session, domain).rcptTo)
    switch (reason) {
      case "header too large":
        return SmtpReply.headerTooLarge(limits.headerBytes)
      case "header malformed":
        return SmtpReply.headerMalformed()
      case "no single author":
        return SmtpReply.noSingleAuthor()
      case "message too large":
        return SmtpReply.messageTooLarge(limits.messageBytes)
    }
  }

  #onData(stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer): void {
    const { limits } = this.#options
    const { id } = session
    const { address } = peerOf(session.remoteAddress)
    const buffer = this.#shareOf(address).open()
    let refusal: Error | undefined = buffer === undefined ? SmtpReply.storageFull() : undefined
    const refuse = (reason: Error) => {
      refusal = reason
      buffer?.release()
    }
    this.#receiving.add(id)
    const deadline = setTimeout(() => {
      refuse(SmtpReply.localError())
      this.#dismiss(id, SmtpDismissal.messageTooLong)
    }, limits.messageMillis)
    const end = () => {
      clearTimeout(deadline)
      buffer?.release()
      if (this.#shares.get(address)?.isUnused === true) this.#shares.delete(address)
      this.#receiving.delete(id)
      // The reply is written first.
      if (this.#closing !== undefined) setImmediate(() => this.#dismiss(id))
      if (this.#receiving.size === 0) this.#closing?.drained()
    }

    stream.on("data", (chunk: Buffer) => {
      if (stream.sizeExceeded) return refuse(SmtpReply.messageTooLarge(limits.messageBytes))
      if (refusal === undefined && buffer?.append(chunk) === false) refuse(SmtpReply.storageFull())
    })
    // The sender disconnected within the message.
    stream.once("error", end)
    stream.once("end", () => {
      clearTimeout(deadline)
      if (stream.sizeExceeded) refuse(this.#refuse("message too large", session))
      if (buffer === undefined || refusal !== undefined) {
        answer(refusal)
        end()
      } else void this.#store(buffer, session, answer).finally(end)
    })
  }

  async #store(buffer: MessageBuffer, session: SMTPServerSession, answer: Answer): Promise<void> {
    const raw = buffer.take()
    const author = readAuthor(raw, this.#options.limits, isToReturnPaths(session.envelope))
    if (typeof author === "string") return answer(this.#refuse(author, session))
    this.#share.charge((raw.length / MIB) * STORE_MILLIS_PER_MIB)
    const exit = await this.#options.accept(envelopeOf(session, this.#options.domain), raw, author.address)
    if (Exit.isFailure(exit)) {
      this.#options.report(exit.cause)
      return answer(SmtpReply.localError())
    }
    if (exit.value !== null) return answer(REFUSALS[exit.value]())
    this.#sessions.get(session.id)?.acceptMessage()
    answer(null, "2.6.0 Message accepted")
  }
}
