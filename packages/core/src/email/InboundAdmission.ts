import { Effect, Exit, Metric, Option, Stream } from "effect"
import * as CallGroup from "../kernel/CallGroup.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as ClientAddress from "../limits/ClientAddress.ts"
import * as RateLimiter from "../limits/RateLimiter.ts"
import type { RateRule } from "../limits/RateLimitStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { countRefusal, type RefusalReason } from "../limits/Refusals.ts"
import { baseLocalPart, isRoleLocalPart, splitAddress } from "./EmailAddress.ts"
import { EmailProvider } from "./EmailProvider.ts"
import { type InboundEnvelope, InboundRefused, MailParser } from "./InboundMail.ts"
import type { InboundRefusal } from "./RefusedMail.ts"
import type { Mailbox } from "./Mailbox.ts"
import { MailboxStore } from "./MailboxStore.ts"
import { MessageStore } from "./MessageStore.ts"
import { type InboundPerHour, MailPolicy, type MailUsage, reachedLimit } from "./MailPolicy.ts"
import type { Message, SenderAuthentication } from "./Message.ts"
import * as ReturnPath from "./ReturnPath.ts"
import { decide, type SenderVerdict } from "./SenderPolicy.ts"

/** Age of a message, in milliseconds, from which it is stored for certain, or deleted: a relay answers before it is stored. */
const STORED_AFTER = 1 * Timestamp.HOUR

export type InboundSender = Pick<InboundEnvelope, "mailFrom" | "remoteAddress">

/** The recipients whose return paths a mail was sent to, by messageId. Null: the path of the whole message. */
export type ReturnPaths = ReadonlyMap<string, ReadonlyArray<number | null>>

/** The part of an outbound message that leads to its mailbox. */
export type SentMessage = Pick<Message, "from" | "mailboxId" | "messageId" | "tenantId" | "threadId">

/** Takes the tokens of a mail, or only checks that they are available. */
type TokenUse = "check" | "take"

/** The size in which a mail that is not stored yet is passed to the parser. */
const PIECE_BYTES = 256 * 1024

/** Limit of addresses whose mailboxes one statement reads. */
const PEEKED_ADDRESSES = 500

export const piecesOf = (raw: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (start) =>
    Effect.succeed(
      start >= raw.length ? undefined : ([raw.subarray(start, start + PIECE_BYTES), start + PIECE_BYTES] as const)
    )
  )

const hourly = (name: string, count: number): RateRule => ({
  name,
  burst: count,
  perSecond: count / 3_600,
  isShared: true
})

/** Returns the envelope sender without its plus-tag. */
const senderOf = (mailFrom: string): string => {
  const { domain, localPart } = splitAddress(mailFrom)
  return `${baseLocalPart(localPart)}@${domain}`
}

/** A failed DMARC check disproves nothing while a check that it is based on can't be made. */
const dmarcOf = ({ dkim, dmarc, spf }: SenderAuthentication): string =>
  dmarc === "fail" && (spf === "temperror" || dkim === "temperror") ? "temperror" : dmarc

const keptOut = (outcome: "refused" | "deferred" | "withheld") =>
  Metric.counter("agentos_mail_sender_policy_total", {
    description: "Mailboxes that did not receive a mail because of their sender policy.",
    attributes: { outcome },
    incremental: true
  })

/** Refuses a mail for some mailboxes; without `concerned`, for all of its recipients. */
const refuse = (refusal: InboundRefusal, reason: RefusalReason, concerned?: Mailbox) =>
  Effect.andThen(
    countRefusal(reason),
    new InboundRefused({ refusal, ...(concerned && { localParts: [concerned.localPart] }) })
  )

/** Why a mailbox has no room for a mail, how that is counted, and the mailbox. */
export type RoomRefusal = readonly [refusal: InboundRefusal, reason: RefusalReason, mailbox: Mailbox]

type Standings = Effect.Success<ReturnType<MailboxStore["Service"]["findStandings"]>>

export type InboundAdmission = Effect.Success<typeof makeInboundAdmission>

const withMail = ({ bytes, messages }: MailUsage, mailBytes: number): MailUsage => ({
  messages: messages + 1,
  bytes: bytes + mailBytes
})

/** The decisions on whether inbound mail is accepted, and for which of its recipients. */
export const makeInboundAdmission = Effect.gen(function* () {
  const provider = yield* EmailProvider
  const keyring = yield* Keyring
  const parser = yield* MailParser
  const mailboxes = yield* MailboxStore
  const messages = yield* MessageStore
  const policy = yield* MailPolicy
  const limiter = yield* RateLimiter.RateLimiter
  const ruleOf = (kind: keyof InboundPerHour) => hourly(`mail.inbound.${kind}`, policy.inboundPerHour[kind])

  const refusalOf = (effect: Effect.Effect<void, InboundRefused>) =>
    effect.pipe(
      Effect.as(undefined),
      Effect.catchTag("InboundRefused", (refused) => Effect.succeed(refused))
    )

  const isOwn = ({ domain }: { readonly domain: string }) => domain === provider.domain.toLowerCase()

  const requireTokens = Effect.fnUntraced(function* (
    buckets: ReadonlyArray<readonly [rule: RateRule, subject: string, mailbox?: Mailbox]>,
    use: TokenUse
  ) {
    for (const [rule, subject, mailbox] of buckets) {
      const { isAdmitted, remaining } = yield* limiter.take(rule, subject, use === "take" ? 1 : 0)
      if (!isAdmitted || (use === "check" && remaining < 1)) {
        return yield* refuse("too much mail", "mail_inbound_rate", mailbox)
      }
    }
  })

  /** Whether an address is one that every domain must accept. */
  const isRole = (address: string): boolean => {
    const named = splitAddress(address)
    return isOwn(named) && isRoleLocalPart(named.localPart)
  }

  /** Returns the local part of the mailbox that an address of this domain names. */
  const mailboxPartOf = (address: string): string => {
    const { localPart } = splitAddress(policy.postmaster !== null && isRole(address) ? policy.postmaster : address)
    return baseLocalPart(localPart)
  }

  const localPartsOf = (addresses: ReadonlyArray<string>): ReadonlySet<string> =>
    new Set(addresses.filter((address) => isOwn(splitAddress(address))).map(mailboxPartOf))

  /** Reads the mailboxes that these addresses name, as part of an open transaction. */
  const findMailboxes = (addresses: ReadonlyArray<string>) => {
    const localParts = [...localPartsOf(addresses)]
    return localParts.length === 0 ? Effect.succeed([]) : mailboxes.findActive(localParts)
  }

  /** Returns those of the mailboxes that these addresses name. */
  const mailboxesOf = (found: ReadonlyArray<Mailbox>, addresses: ReadonlyArray<string>) => {
    const localParts = localPartsOf(addresses)
    return found.filter(({ localPart }) => localParts.has(localPart))
  }

  /** Reads mailboxes outside of transactions: for overlapping calls together. */
  const peekMailboxes = yield* CallGroup.make<ReadonlyArray<string>, ReadonlyArray<Mailbox>, never>({
    limit: PEEKED_ADDRESSES,
    sizeOf: ({ length }) => length,
    work: (calls) =>
      Effect.map(findMailboxes(calls.flat()), (found) =>
        calls.map((addresses) => Exit.succeed(mailboxesOf(found, addresses)))
      )
  })

  /** Reads how full mailboxes are, outside of transactions: for overlapping calls together. */
  const peekStandings = yield* CallGroup.make<ReadonlyArray<string>, Standings, never>({
    limit: PEEKED_ADDRESSES,
    sizeOf: ({ length }) => length,
    work: (calls) =>
      Effect.map(mailboxes.findStandings([...new Set(calls.flat())]), (standings) =>
        calls.map(() => Exit.succeed(standings))
      )
  })

  /**
   * Reads how full mailboxes are. The result decides on one mail after the other, and counts each mail that has room in
   * all of its mailboxes.
   */
  const readRoom = Effect.fnUntraced(function* (
    found: ReadonlyArray<Mailbox>,
    find: (mailboxIds: ReadonlyArray<string>) => Effect.Effect<Standings> = mailboxes.findStandings
  ) {
    const standings = new Map(yield* find(found.map(({ mailboxId }) => mailboxId)))
    return (recipients: ReadonlyArray<Mailbox>, mailBytes: number): RoomRefusal | undefined => {
      const present = recipients.filter(({ mailboxId }) => standings.has(mailboxId))
      for (const mailbox of present) {
        const standing = standings.get(mailbox.mailboxId)!
        if (standing.isTenantSuspended) return ["tenant suspended", "tenant_suspended", mailbox]
        if (reachedLimit(policy, standing) !== undefined) return ["mailbox full", "mail_storage", mailbox]
      }
      for (const { mailboxId, tenantId } of present) {
        for (const other of found) {
          const standing = standings.get(other.mailboxId)
          if (standing === undefined || other.tenantId !== tenantId) continue
          standings.set(other.mailboxId, {
            ...standing,
            usage: other.mailboxId === mailboxId ? withMail(standing.usage, mailBytes) : standing.usage,
            tenantUsage: withMail(standing.tenantUsage, mailBytes)
          })
        }
      }
      return undefined
    }
  })

  /** Returns the messages whose return paths are among these addresses, each with the recipients of these paths. */
  const findReported = (addresses: ReadonlyArray<string>): ReturnPaths => {
    const found = addresses
      .map(splitAddress)
      .filter(isOwn)
      .flatMap(({ localPart }) => Option.toArray(ReturnPath.read(keyring, localPart)))
    return new Map(
      [...Map.groupBy(found, ({ messageId }) => messageId)].map(([messageId, paths]) => [
        messageId,
        paths.map(({ recipient }) => recipient)
      ])
    )
  }

  /** Returns the mailboxes that sent these messages, and are active. As part of an open transaction. */
  const findSenders = Effect.fnUntraced(function* (sent: ReadonlyArray<SentMessage>) {
    const found = sent.length === 0 ? [] : yield* findMailboxes(sent.map(({ from }) => from))
    const ids = new Set(sent.map(({ mailboxId }) => mailboxId))
    return found.filter(({ mailboxId }) => ids.has(mailboxId))
  })

  const requireMailboxRate = (recipients: ReadonlyArray<Mailbox>, use: TokenUse) =>
    requireTokens(
      recipients.map((mailbox) => [ruleOf("mailbox"), mailbox.mailboxId, mailbox] as const),
      use
    )

  const requireRoom = Effect.fnUntraced(function* (recipients: ReadonlyArray<Mailbox>) {
    const refusal = (yield* readRoom(recipients, peekStandings))(recipients, 0)
    if (refusal !== undefined) return yield* refuse(...refusal)
  })

  /** Returns why a mail would be refused as a message to the sender of one of these messages; undefined if it would not. */
  const refusalToSenders = Effect.fnUntraced(function* (
    envelope: InboundEnvelope,
    raw: Uint8Array,
    author: string,
    paths: ReturnPaths
  ) {
    const sent = yield* Effect.forEach(paths.keys(), messages.findSent)
    const senders = yield* findSenders(sent.flatMap(Option.toArray))
    const present = new Set(senders.map(({ mailboxId }) => mailboxId))
    const now = yield* Timestamp.now
    const isLost = [...paths.keys()].some((messageId, at) =>
      Option.match(sent[at]!, {
        onNone: () => Uuid.toParts(messageId).millis < now - STORED_AFTER,
        onSome: ({ mailboxId }) => !present.has(mailboxId)
      })
    )
    const refusedBySenders = (refusal: InboundRefusal) => ({
      senders,
      refused: new InboundRefused({ refusal, localParts: senders.map(({ localPart }) => localPart) })
    })
    if (isLost) return refusedBySenders("mailbox unknown")
    const given = envelope.authentication
    const verdictsBy = (dmarc: string | undefined) =>
      senders.map(({ senderPolicy }) => decide(senderPolicy, author, dmarc))
    const first = verdictsBy(given === undefined ? undefined : dmarcOf(given))
    const verdicts =
      given === undefined && first.includes("undetermined")
        ? verdictsBy(dmarcOf(yield* parser.authenticate(piecesOf(raw), envelope)))
        : first
    if (verdicts.includes("refused")) return refusedBySenders("sender refused")
    if (verdicts.includes("undetermined")) return refusedBySenders("sender unchecked")
    const refused = yield* refusalOf(Effect.andThen(requireRoom(senders), requireMailboxRate(senders, "take")))
    return { senders, refused }
  })

  return {
    findMailboxes,
    findReported,
    findSenders,
    isRole,

    /** Returns the local parts of the mailboxes that these addresses name, apart from return paths. */
    namedLocalParts: (addresses: ReadonlyArray<string>): ReadonlySet<string> =>
      localPartsOf(addresses.filter((address) => !ReturnPath.hasForm(splitAddress(address).localPart))),

    /**
     * Returns the mailboxes that a mail to return paths reaches if it is no report. If they do not accept it, the mail is
     * read now, and refused unless it is a report: a mail that was accepted is never dropped. Reports need no mailbox.
     */
    requireReturnPaths: Effect.fnUntraced(function* (envelope: InboundEnvelope, raw: Uint8Array, author: string) {
      const paths = findReported(envelope.rcptTo)
      if (paths.size === 0) return []
      const { refused, senders } = yield* refusalToSenders(envelope, raw, author, paths)
      if (refused === undefined) return senders
      const parsed = yield* Effect.option(parser.parse(piecesOf(raw), envelope))
      if (Option.getOrUndefined(parsed)?.report === undefined) return yield* refused
      return []
    }),
    mailboxesOf,
    peekMailboxes,
    readRoom,
    refuse,

    /** Limits the mail of a sender and of its network. */
    requireSourceRate: ({ mailFrom, remoteAddress }: InboundSender, use: TokenUse) => {
      const network = ClientAddress.networkOf(remoteAddress)
      // The sender is only a claim: mail from one network in a sender's name does not count against other networks.
      const sender = mailFrom === "" ? [] : [[ruleOf("sender"), `${senderOf(mailFrom)} ${network}`] as const]
      return requireTokens([...sender, [ruleOf("network"), network]], use)
    },

    requireMailboxRate,
    requireRoom,

    /**
     * Returns the envelope with the recipients whose sender policies admit the mail, their mailboxes, and the local parts
     * of those that don't admit it; fails without any that do, or if a decision depends on a sender that can't be checked now. Return paths of outbound messages admit
     * every sender. The sender is checked only if a decision depends on it.
     */
    applySenderPolicies: Effect.fnUntraced(function* (envelope: InboundEnvelope, raw: Uint8Array, author: string) {
      const found = yield* peekMailboxes(envelope.rcptTo)
      const decideWith = (dmarc: string | undefined) =>
        new Map(found.map(({ localPart, senderPolicy }) => [localPart, decide(senderPolicy, author, dmarc)]))
      const hasUndetermined = (decisions: ReadonlyMap<string, SenderVerdict>) =>
        [...decisions.values()].includes("undetermined")

      const first = decideWith(undefined)
      const authentication = hasUndetermined(first) ? yield* parser.authenticate(piecesOf(raw), envelope) : undefined
      const verdicts = authentication === undefined ? first : decideWith(dmarcOf(authentication))
      if (hasUndetermined(verdicts)) {
        yield* Metric.update(keptOut("deferred"), found.length)
        return yield* new InboundRefused({ refusal: "sender unchecked" })
      }
      const isAdmitting = (address: string) => verdicts.get(mailboxPartOf(address)) !== "refused"
      const rcptTo = envelope.rcptTo.filter(isAdmitting)
      const recipients = found.filter(({ address }) => isAdmitting(address))
      const withheld = found.filter((mailbox) => !recipients.includes(mailbox)).map(({ localPart }) => localPart)
      const admitted = { envelope: { ...envelope, rcptTo, authentication }, recipients, withheld }
      const refusing = withheld.length
      if (refusing === 0) return admitted
      if (recipients.length === 0 && findReported(rcptTo).size === 0) {
        yield* Metric.update(keptOut("refused"), refusing)
        return yield* new InboundRefused({ refusal: "sender refused" })
      }
      yield* Metric.update(keptOut("withheld"), refusing)
      yield* Effect.logInfo(`inbound mail is withheld from ${refusing} of ${found.length} mailboxes by sender policies`)
      return admitted
    })
  }
})
