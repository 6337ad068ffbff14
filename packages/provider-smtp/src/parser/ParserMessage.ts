import type { InboundEnvelope, SenderAuthentication } from "@agentos/core"
import type { AuthenticationSettings } from "./AuthenticateSender.ts"
import type { MailContent } from "./ReadMail.ts"

export interface ParserJob {
  readonly envelope: InboundEnvelope
  readonly settings: AuthenticationSettings
}

/** A message to the parser process: the pieces of a mail in order, then its job. Mails are sent one after the other. */
export type ParserRequest =
  | { readonly _tag: "Piece"; readonly bytes: Uint8Array }
  | { readonly _tag: "Job"; readonly job: ParserJob }

/**
 * A reply of the parser process: `Ready` once, then for each job either `Unreadable`, or `Content` and later
 * `Authentication`.
 */
export type ParserReply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Unreadable"; readonly message: string }
  | { readonly _tag: "Content"; readonly content: MailContent }
  | { readonly _tag: "Authentication"; readonly authentication: SenderAuthentication }
