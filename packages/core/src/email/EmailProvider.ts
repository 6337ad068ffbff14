import { Context, Effect, type Stream } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** A file of an email. Its bytes are read when the mail is transferred, for each attempt again. */
export interface OutgoingAttachment {
  /** Without a path or control characters. */
  readonly filename: string
  /** A media type, neither multipart nor message. */
  readonly contentType: string
  readonly sizeBytes: number
  readonly content: Stream.Stream<Uint8Array>
  /** Content-ID without its brackets, by which the HTML shows the file; absent or null if it does not. */
  readonly contentId?: string | null | undefined
}

/** One email to send. All texts for headers are free of control characters. */
export interface OutgoingMail {
  /** Includes the angle brackets. It is the same for every attempt, so that receivers drop duplicates. */
  readonly messageIdHeader: string
  /**
   * The Message-ID that the mail answers, if any, and those of its conversation, oldest first. A mail that begins a
   * conversation names itself: a relay may replace its Message-ID, and answers then keep this one.
   */
  readonly inReplyTo: string | null
  readonly references: ReadonlyArray<string>
  readonly from: { readonly address: string; readonly name: string | null }
  /** The recipients of this attempt, each once: all of to, cc and bcc, or those to which it is sent again. */
  readonly recipients: ReadonlyArray<string>
  /**
   * The envelope senders, to which delivery reports are sent: one for each of `recipients`, in their order. Each recipient
   * gets the mail in a transaction of its own, so that it learns no return path but its own.
   */
  readonly returnPaths: ReadonlyArray<string>
  /**
   * The envelope sender of a provider that can't send to each recipient alone. Reports to it count only if the mail has
   * one recipient.
   */
  readonly returnPath: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  /** Addresses for Reply-To; empty without the field. */
  readonly replyTo: ReadonlyArray<string>
  /** The value of Auto-Submitted (RFC 3834); null without the field. */
  readonly autoSubmitted: "auto-replied" | "auto-generated" | null
  readonly subject: string
  readonly text: string
  readonly html: string | null
  readonly attachments: ReadonlyArray<OutgoingAttachment>
  readonly date: Timestamp
}

/**
 * The provider's answer to a mail. `accepted` and `rejected` together contain every recipient exactly once. A reason
 * begins with the code of the reply: a recipient that was refused with 4xx is retried later. So is one whose transaction
 * failed without a reply, with the reason 421 4.4.2.
 */
export interface SendReceipt {
  readonly accepted: ReadonlyArray<string>
  readonly rejected: ReadonlyArray<{ readonly address: string; readonly reason: string }>
  /** The provider's response text, for example `250 2.0.0 Ok: queued as …`. */
  readonly response: string
  /**
   * Ids that the relay gave the mail, one for each transaction, without brackets and domain. Relays such as Amazon SES
   * replace Message-ID by one with this local part, so answers may name it.
   */
  readonly relayIds?: ReadonlyArray<string> | undefined
}

/** The port to the provider of outbound mail. */
export class EmailProvider extends Context.Service<
  EmailProvider,
  {
    /** The source of its events and the provider of its errors, for example `smtp` or `resend`. */
    readonly name: string
    /** The domain of every mailbox. */
    readonly domain: string
    /**
     * Sends one mail. Succeeds if at least one recipient was accepted, or was deferred by a provider that answered for
     * each (then `accepted` may be empty). Fails with `Rejected` if the mail, or every recipient, was refused permanently,
     * and with `Unknown` if the connection was lost after the mail was handed over.
     * An error that occurs after the recipients were named lists the refused ones in `refused`.
     */
    readonly send: (mail: OutgoingMail) => Effect.Effect<SendReceipt, ProviderError>
  }
>()("@agentos/core/email/EmailProvider") {}
