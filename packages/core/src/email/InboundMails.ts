import { Context, Effect } from "effect"
import type { InboundEnvelope } from "./InboundMail.ts"

/** Inbound mail, from the wire to the mailboxes. */
export class InboundMails extends Context.Service<
  InboundMails,
  {
    /** Whether mail to an address has a mailbox to go to: asked at RCPT. */
    readonly isDeliverable: (address: string) => Effect.Effect<boolean>
    /** Stores a mail durably; only then may the sender be told that it was taken. */
    readonly accept: (envelope: InboundEnvelope, raw: Uint8Array) => Effect.Effect<void>
    /** Reads and delivers mail that was accepted and is not yet delivered; answers how many mails it finished. */
    readonly deliverWaiting: Effect.Effect<number>
  }
>()("@agentos/core/email/InboundMails") {}
