import { Context, Effect, Schema } from "effect"
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

/** What a mail says, read from its bytes. Everything in it is the sender's claim but `authentication` and the hashes. */
export interface ParsedMail {
  readonly messageIdHeader: string | null
  readonly inReplyTo: string | null
  readonly references: ReadonlyArray<string>
  /** The address in From, else the envelope's sender. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
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
    readonly parse: (raw: Uint8Array, envelope: InboundEnvelope) => Effect.Effect<ParsedMail, MailUnreadable>
  }
>()("@agentos/core/email/MailParser") {}

/** The port that keeps mail between the wire and the mailboxes, so that nothing is lost that was answered with 250. */
export class InboundMailStore extends Context.Service<
  InboundMailStore,
  {
    readonly add: (mail: InboundMail) => Effect.Effect<void>
    /** Takes up to `limit` mails that nobody is reading, oldest first, for `leaseMillis`; each counts an attempt. */
    readonly lease: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<InboundMail>>
    /**
     * Marks a mail as done; whether it was not done before, which of several at once one alone is told. Its raw form
     * stays while a message refers to it, and goes otherwise.
     */
    readonly complete: (inboundMailId: string) => Effect.Effect<boolean>
    /**
     * Deletes up to `limit` mails that nobody could deliver, the oldest first, and answers their ids: received `age`
     * milliseconds ago or more, begun to be read at least `attempts` times and by nobody now, not completed, and with
     * no message that refers to them.
     */
    readonly giveUp: (given: {
      readonly age: number
      readonly attempts: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<string>>
    /** The raw bytes behind a message of the tenant, or undefined when it has none. */
    readonly readRaw: (tenantId: string, messageId: string) => Effect.Effect<Uint8Array | undefined>
  }
>()("@agentos/core/email/InboundMailStore") {}
