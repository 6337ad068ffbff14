import { Context, Effect } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** One email to send. Every text that becomes a header is free of control characters. */
export interface OutgoingMail {
  /** With its angle brackets; the same for every attempt, so that receivers drop a copy. */
  readonly messageIdHeader: string
  readonly from: { readonly address: string; readonly name: string | null }
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly subject: string
  readonly text: string
  readonly html: string | null
  /** The Date header. */
  readonly date: Timestamp
}

/** What the provider took. `accepted` and `rejected` together are every recipient once. */
export interface SendReceipt {
  readonly accepted: ReadonlyArray<string>
  readonly rejected: ReadonlyArray<{ readonly address: string; readonly reason: string }>
  /** The provider's own words, as `250 2.0.0 Ok: queued as …`. */
  readonly response: string
}

/** The port to whoever carries outbound mail. */
export class EmailProvider extends Context.Service<
  EmailProvider,
  {
    /** The source of its events and the provider of its errors: `smtp`, `resend`. */
    readonly name: string
    /** The domain of every mailbox. */
    readonly domain: string
    /**
     * Sends one mail. It succeeds when at least one recipient was taken; `Rejected` when all were
     * refused for good; `Unknown` when the connection was lost after the mail was handed over. An error after the
     * recipients were named says in `refused` which of them were refused.
     */
    readonly send: (mail: OutgoingMail) => Effect.Effect<SendReceipt, ProviderError>
  }
>()("@agentos/core/email/EmailProvider") {}
