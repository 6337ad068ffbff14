import { Context, Effect, type Option, Schema, Stream } from "effect"
import type { Backlog } from "../kernel/Backlog.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { DeliveryReport } from "./DeliveryReport.ts"
import { InboundRefusal } from "./RefusedMail.ts"
import type { Attachment, AutomaticReason, Contact, MailingList, MailLink, SenderAuthentication } from "./Message.ts"

/** The SMTP envelope of a mail, whose values the mail's headers need not repeat. */
export interface InboundEnvelope {
  /** MAIL FROM; empty for a bounce. */
  readonly mailFrom: string
  /** Each RCPT TO that was accepted. */
  readonly rcptTo: ReadonlyArray<string>
  readonly remoteAddress: string
  /** The network of `remoteAddress`, whose mail shares the queue fairly; absent in mail from before it was recorded. */
  readonly network?: string | undefined
  readonly helo: string
  /** Whether the connection was encrypted. */
  readonly secure: boolean
  /** The results for the sender, if they were needed before the mail was accepted. */
  readonly authentication?: SenderAuthentication | undefined
}

/** A mail as it was received, before it is parsed. */
export interface InboundMail {
  readonly inboundMailId: string
  readonly envelope: InboundEnvelope
  readonly raw: Uint8Array
  readonly receivedAt: Timestamp
  /**
   * The number of leases so far, including the current one. It is the fence of the lease: a worker whose lease was
   * followed by another can neither renew it nor complete the mail.
   */
  readonly attempts: number
}

/** A mail to store. Until it is completed or given up, it counts as a message of these mailboxes, with its raw size. */
export interface CountedMail {
  readonly mail: InboundMail
  /** Those that do not exist are ignored. */
  readonly mailboxIds: ReadonlyArray<string>
  /** The duration of a lease that begins as the mail is added, which its attempts include. Absent: it has no lease. */
  readonly leaseMillis?: number | undefined
}

/** A mail that waits for delivery. Its bytes are read separately, by `InboundMailStore.readPieces`. */
export type WaitingMail = Omit<InboundMail, "raw"> & {
  readonly sizeBytes: number
  /** The attempts before `replay`, which are not held against the mail; absent or null if it was not replayed. */
  readonly replayedAfter?: number | null
  /** The last attempt that failed without ending its server; absent or null if none did. */
  readonly failedAttempt?: number | null
}

/** A mail that waits, with its mailboxes and attempts. */
export interface QueuedMail extends Omit<WaitingMail, "replayedAfter" | "failedAttempt"> {
  /** The mailboxes in which it counts until it is delivered. */
  readonly mailboxIds: ReadonlyArray<string>
  /** Why the last attempt that ended failed; null if none did. */
  readonly failure: string | null
  /** Whether a worker holds the lease. */
  readonly isLeased: boolean
  /** When it is due, or its lease ends. */
  readonly dueAt: Timestamp
}

/** The failure of mail that arrived before the message that it is about. The service did not fail. */
export const NO_MESSAGE_YET = "The message of its return path is not stored yet."

/** Selects a page of waiting mails, oldest first. All given conditions must match. */
export interface QueuedMailQuery {
  readonly hasFailed?: boolean | undefined
  /** Only mails that count in this mailbox. */
  readonly mailboxId?: string | undefined
  /** Only mails that count in a mailbox of this tenant. */
  readonly tenantId?: TenantId | undefined
  /** Only mails that were received at least so many milliseconds ago. */
  readonly age?: number | undefined
  /** Only mails after the one with this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/** The raw mail of a delivered message. Its bytes never change. */
export type RawMail = Pick<WaitingMail, "inboundMailId" | "sizeBytes">

export interface RawPart {
  readonly offset: number
  readonly bytes: number
}

export type MailLease = Pick<InboundMail, "inboundMailId" | "attempts">

/** The parsed content of a mail. Everything in it is the sender's claim, except `authentication` and the hashes. */
export interface ParsedMail {
  readonly messageIdHeader: string | null
  readonly inReplyTo: string | null
  readonly references: ReadonlyArray<string>
  /** The author; with an empty address and no name if there is not exactly one. */
  readonly from: Contact
  readonly to: ReadonlyArray<Contact>
  readonly cc: ReadonlyArray<Contact>
  readonly replyTo: ReadonlyArray<string>
  /** The reason that the header gives; null if it gives none. */
  readonly automatic: AutomaticReason | null
  readonly mailingList: MailingList | null
  readonly subject: string
  /** The text that the HTML shows if the mail has no text, or a blank one. */
  readonly text: string | null
  readonly html: string | null
  /** The part of the text that the author wrote, without quotes and signature; null if it could not be determined. */
  readonly extractedText: string | null
  /** The links of the HTML, or those in the text if it has none. */
  readonly links?: ReadonlyArray<MailLink> | undefined
  /** Whether text or html was truncated. */
  readonly truncated: boolean
  readonly attachments: ReadonlyArray<Attachment>
  readonly authentication: SenderAuthentication
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string
  /** SHA-256 of the From, Subject and Date fields, in hex. */
  readonly headerHash?: string | undefined
  /** Present if the mail is a delivery status notification or a feedback report. */
  readonly report?: DeliveryReport | undefined
}

/** The mail can't be parsed: it is malformed, or it took more time or memory than allowed. */
export class MailUnreadable extends Schema.TaggedError<MailUnreadable>()("MailUnreadable", {
  message: Schema.String
}) {}

/** The bytes of a mail: whole, or in pieces of any size. */
export type MailBytes = Uint8Array | Stream.Stream<Uint8Array>

export const mailPieces = (raw: MailBytes): Stream.Stream<Uint8Array> =>
  raw instanceof Uint8Array ? Stream.make(raw) : raw

/** The port that parses mail. It must be safe for any input: it aborts if a mail takes too much time or memory. */
export class MailParser extends Context.Service<
  MailParser,
  {
    /** Parses a mail, which is whole if it is small. Keeps the results of a sender that was checked before. */
    readonly parse: (raw: MailBytes, envelope: InboundEnvelope) => Effect.Effect<ParsedMail, MailUnreadable>
    /**
     * Checks the sender of a mail while its SMTP client waits for the answer. The results are `temperror` if the check
     * takes too long.
     */
    readonly authenticate: (
      raw: Stream.Stream<Uint8Array>,
      envelope: InboundEnvelope
    ) => Effect.Effect<SenderAuthentication>
  }
>()("@agentos/core/email/MailParser") {}

/** The parser of a host without mail, which can't read any. */
export const noMailParser = MailParser.of({
  parse: () => Effect.fail(new MailUnreadable({ message: "mail is not configured" })),
  authenticate: () => Effect.succeed({ spf: "temperror", dkim: "temperror", dmarc: "temperror", domain: null })
})

/** Mail is refused. */
export class InboundRefused extends Schema.TaggedError<InboundRefused>()("InboundRefused", {
  refusal: InboundRefusal,
  /** The local parts of the mailboxes for which it is refused; absent: for all recipients. */
  localParts: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

/** The port that stores inbound mail until it is delivered, so that no mail is lost that was answered with 250. */
export class InboundMailStore extends Context.Service<
  InboundMailStore,
  {
    /**
     * Stores the bytes of a large mail before `add`, piece by piece, to keep each transaction short. A staged mail is
     * not leased and not counted. Does nothing for a small mail.
     */
    readonly stage: (mail: InboundMail) => Effect.Effect<void>
    /** Deletes the staged bytes of a mail that is not added after all. */
    readonly discard: (inboundMailId: string) => Effect.Effect<void>
    /** Adds mails, staged or not: all of them, or none. */
    readonly add: (mails: ReadonlyArray<CountedMail>) => Effect.Effect<void>
    /**
     * Leases up to `limit` mails without a lease for `leaseMillis`, oldest first, except those from some networks; each
     * lease counts as an attempt.
     */
    readonly lease: (
      limit: number,
      leaseMillis: number,
      exceptNetworks?: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<WaitingMail>>
    /**
     * Extends the lease to `leaseMillis` from now, even if it has expired. Returns false if the mail was leased again,
     * completed or given up.
     */
    readonly renew: (lease: MailLease, leaseMillis: number) => Effect.Effect<boolean>
    /**
     * Ends the lease of a failed attempt, with its failure: the mail is due in `millis`. Returns false if the mail was leased
     * again, completed or given up.
     */
    readonly postpone: (lease: MailLease, millis: number, failure: string) => Effect.Effect<boolean>
    /** Returns a page of waiting mails by their ids, which begin with the time of their acceptance. */
    readonly listQueued: (query: QueuedMailQuery) => Effect.Effect<ReadonlyArray<QueuedMail>>
    readonly findQueued: (inboundMailId: string) => Effect.Effect<Option.Option<QueuedMail>>
    /**
     * Makes a waiting mail due at once, as if it had no attempts. Returns false, and changes nothing, while a worker holds its
     * lease, and for a mail that does not wait.
     */
    readonly replay: (inboundMailId: string) => Effect.Effect<boolean>
    /**
     * Deletes a waiting mail for good, so that no mailbox receives it. Returns false, and changes nothing, while a worker holds its
     * lease, and for a mail that does not wait or that a message refers to.
     */
    readonly drop: (inboundMailId: string) => Effect.Effect<boolean>
    /**
     * Streams the bytes of a mail, or of a part of it, in pieces of at most 256 KiB, each read on demand. The stream
     * ends early if the mail is deleted meanwhile.
     */
    readonly readPieces: (inboundMailId: string, part?: RawPart) => Stream.Stream<Uint8Array>
    /**
     * Marks mails as completed and returns their ids. Exactly one of several concurrent calls returns the id of a mail.
     * A mail that was leased again is left out and does not change. The raw form of a mail is kept while a message refers
     * to it, and is deleted otherwise.
     */
    readonly complete: (leases: ReadonlyArray<MailLease>) => Effect.Effect<ReadonlySet<string>>
    /** Counts the accepted mails that are not completed, oldest first, up to `limit`. */
    readonly backlog: (limit: number) => Effect.Effect<Backlog>
    /**
     * Deletes up to `limit` undeliverable mails, oldest first, and returns their ids. A mail is undeliverable if it was
     * received at least `age` milliseconds ago, had at least `attempts` attempts since it was replayed, has no lease, is not completed and
     * has no message that refers to it. Mail that was staged and never added is not included.
     */
    readonly giveUp: (given: {
      readonly age: number
      readonly attempts: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<string>>
    /**
     * Deletes up to `limit` mails that were staged and never added, received at least `age` milliseconds ago, oldest
     * first. Returns how many it deleted.
     */
    readonly removeStaged: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
    /**
     * Deletes up to `limit` raw mails that are completed, received at least `age` milliseconds ago, oldest first.
     * Returns how many it deleted. Their messages stay, and no longer count the size of the raw mail.
     */
    readonly removeRaw: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
    /** Returns the raw mail of a message of the tenant, or undefined if the message has none. */
    readonly findRaw: (tenantId: string, messageId: string) => Effect.Effect<RawMail | undefined>
  }
>()("@agentos/core/email/InboundMailStore") {}
