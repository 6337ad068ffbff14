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

/** A mail that shares a process and its messages with others. Its sender is checked if there is an envelope. */
export interface SharedMail {
  readonly id: number
  readonly bytes: Uint8Array
  readonly envelope: InboundEnvelope | undefined
}

/** A message to the parser process: several small mails, each to read and then to check. */
export interface SharedMails {
  readonly settings: AuthenticationSettings
  readonly mails: ReadonlyArray<SharedMail>
}

/** A request about a mail that arrives by the pipe of the parser process. `Cancel` drops the pieces that have arrived. */
export type MailRequest =
  | { readonly _tag: "Read" }
  | { readonly _tag: "CheckSender"; readonly job: ParserJob }
  | { readonly _tag: "Cancel" }

/** The answer to `Read` or `CheckSender`; a mail of `SharedMails` has one of each. */
export type ParserAnswer =
  | { readonly _tag: "Unreadable"; readonly message: string }
  | { readonly _tag: "Content"; readonly content: MailContent }
  | { readonly _tag: "Authentication"; readonly authentication: SenderAuthentication }

export interface MailAnswer {
  readonly id: number
  readonly answer: ParserAnswer
}

/** A reply of the parser process: `Ready` once, then the answers to one or, after `SharedMails`, to several mails. */
export type ParserReply =
  | { readonly _tag: "Ready" }
  | ({ readonly _tag: "Answer" } & MailAnswer)
  | { readonly _tag: "Answers"; readonly answers: ReadonlyArray<MailAnswer> }

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
