import type { InboundEnvelope, SenderAuthentication } from "@agentos/core"
import type { AuthenticationSettings } from "./AuthenticateSender.ts"
import type { MailContent } from "./ReadMail.ts"

/** What the parser process is told: one mail, and no second one before the first has had its last reply. */
export interface ParserJob {
  readonly raw: Uint8Array
  readonly envelope: InboundEnvelope
  readonly settings: AuthenticationSettings
}

/** What it answers: `Ready` once, then to each job either `Unreadable`, or `Content` and later `Authentication`. */
export type ParserReply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Unreadable"; readonly message: string }
  | { readonly _tag: "Content"; readonly content: MailContent }
  | { readonly _tag: "Authentication"; readonly authentication: SenderAuthentication }
