import type { InboundEnvelope, SenderAuthentication } from "@agentos/core"
import type { SenderDns } from "../SenderDns.ts"
import type { MailContent } from "./ReadMail.ts"

/** Settings of the sender checks. Plain data. */
export interface AuthenticationSettings {
  /** The name of the host that received the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /** Time limit for all lookups together. */
  readonly dnsMillis: number
}

export interface ParserJob {
  readonly envelope: InboundEnvelope
  readonly settings: AuthenticationSettings
}

/**
 * A message to the parser process: the pieces of a mail in order, the last one with its job, or with the check of its
 * sender alone. Mails are sent one after the other.
 */
export type ParserRequest =
  | { readonly _tag: "Piece"; readonly bytes: Uint8Array }
  | { readonly _tag: "Job" | "SenderCheck"; readonly job: ParserJob; readonly bytes: Uint8Array }

/**
 * A reply of the parser process: `Ready` once, then for each job either `Unreadable`, or `Content`, later
 * `Authentication` unless `Content` has it, and at last `Reply`; for a check of a sender `Authentication` alone.
 */
export type ParserReply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Unreadable"; readonly message: string }
  | {
      readonly _tag: "Content"
      readonly content: MailContent
      readonly authentication?: SenderAuthentication | undefined
    }
  | { readonly _tag: "Authentication"; readonly authentication: SenderAuthentication }
  | { readonly _tag: "Reply"; readonly extractedText: string | null }

/** The results for a sender that could not be checked now, but perhaps later. */
export const UNDETERMINED: SenderAuthentication = {
  spf: "temperror",
  dkim: "temperror",
  dmarc: "temperror",
  domain: null
}

/** The results for a sender that can never be checked, because the header is too large. */
export const UNCHECKABLE: SenderAuthentication = {
  spf: "permerror",
  dkim: "permerror",
  dmarc: "permerror",
  domain: null
}
