import { Context, Effect, Schema, type Stream } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Attachment, SenderAuthentication } from "./Message.ts"

/** How a mail came in: what SMTP itself said, which its headers need not repeat. */
export interface InboundEnvelope {
  /** MAIL FROM; empty for a bounce. */
  readonly mailFrom: string
  /** Each RCPT TO that was taken. */
  readonly rcptTo: ReadonlyArray<string>
  readonly remoteAddress: string
  readonly helo: string
  /** Whether the connection was encrypted. */
  readonly secure: boolean
}

/** A mail as it was taken from the wire, before anybody has looked into it. */
export interface InboundMail {
  readonly inboundMailId: string
  readonly envelope: InboundEnvelope
  readonly raw: Uint8Array
  readonly receivedAt: Timestamp
  /** How many workers have begun to read it; the one that holds it is counted. */
  readonly attempts: number
}

/** A mail that waits to be delivered. Its bytes are read apart from it, by `InboundMailStore.readPieces`. */
export type WaitingMail = Omit<InboundMail, "raw"> & { readonly sizeBytes: number }

/** What a mail says, read from its bytes. Everything in it is the sender's claim but `authentication` and the hashes. */
export interface ParsedMail {
  readonly messageIdHeader: string | null
  readonly inReplyTo: string | null
  readonly references: ReadonlyArray<string>
  /** The address of the one author; empty when there is not exactly one. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  /** Whether text or html was cut. */
  readonly truncated: boolean
  readonly attachments: ReadonlyArray<Attachment>
  readonly authentication: SenderAuthentication
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string
}

/** The mail can't be read: broken beyond repair, or it took more time or memory than any mail may. */
export class MailUnreadable extends Schema.TaggedError<MailUnreadable>()("MailUnreadable", {
  message: Schema.String
}) {}

/** The port that reads mail. It holds out against any input: what takes too long or too much is given up. */
export class MailParser extends Context.Service<
  MailParser,
  {
    /** Reads a mail whose bytes come in pieces of whatever size. */
    readonly parse: (
      raw: Stream.Stream<Uint8Array>,
      envelope: InboundEnvelope
    ) => Effect.Effect<ParsedMail, MailUnreadable>
  }
>()("@agentos/core/email/MailParser") {}

/** Why mail is not taken: for good, or, where a mailbox is full or there is too much of it, for now. */
export const InboundRefusal = Schema.Literals(["mailbox unknown", "tenant suspended", "mailbox full", "too much mail"])
export type InboundRefusal = typeof InboundRefusal.Type

/** Mail to a mailbox is not taken. */
export class InboundRefused extends Schema.TaggedError<InboundRefused>()("InboundRefused", {
  refusal: InboundRefusal
}) {}

/** The port that keeps mail between the wire and the mailboxes, so that nothing is lost that was answered with 250. */
export class InboundMailStore extends Context.Service<
  InboundMailStore,
  {
    /**
     * Stores the bytes of a large mail ahead of `add`, piece by piece, so that no transaction is open as long. It is no
     * mail yet: it is neither leased nor counted. Does nothing for a small mail.
     */
    readonly stage: (mail: InboundMail) => Effect.Effect<void>
    /** Deletes what was staged of a mail that is not added after all. */
    readonly discard: (inboundMailId: string) => Effect.Effect<void>
    /**
     * Adds a mail, staged or not. Until it is completed or given up it counts, with its raw size, as a message of each
     * of these mailboxes that exists.
     */
    readonly add: (mail: InboundMail, mailboxIds: ReadonlyArray<string>) => Effect.Effect<void>
    /** Takes up to `limit` mails that nobody is reading, oldest first, for `leaseMillis`; each counts an attempt. */
    readonly lease: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<WaitingMail>>
    /** The bytes of a mail, in pieces that are each read on demand; they end early when the mail is deleted meanwhile. */
    readonly readPieces: (inboundMailId: string) => Stream.Stream<Uint8Array>
    /**
     * Marks a mail as done; whether it was not done before, which of several at once one alone is told. Its raw form
     * stays while a message refers to it, and goes otherwise.
     */
    readonly complete: (inboundMailId: string) => Effect.Effect<boolean>
    /**
     * Deletes up to `limit` mails that nobody could deliver, the oldest first, and answers their ids: received `age`
     * milliseconds ago or more, begun to be read at least `attempts` times and by nobody now, not completed, and with
     * no message that refers to them. Mail that was staged and never added is not among them.
     */
    readonly giveUp: (given: {
      readonly age: number
      readonly attempts: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<string>>
    /**
     * Deletes up to `limit` mails that were staged and never added, received `age` milliseconds ago or more, the oldest
     * first, and returns how many.
     */
    readonly removeStaged: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
    /**
     * Deletes up to `limit` raw mails that are completed, received `age` milliseconds ago or more, the oldest first, and
     * returns how many. Their messages stay, and no longer count what the raw mail took.
     */
    readonly removeRaw: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
    /** The raw bytes behind a message of the tenant, or undefined when it has none. */
    readonly readRaw: (tenantId: string, messageId: string) => Effect.Effect<Uint8Array | undefined>
  }
>()("@agentos/core/email/InboundMailStore") {}
