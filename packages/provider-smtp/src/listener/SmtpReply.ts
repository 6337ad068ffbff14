import type { SMTPServerError } from "smtp-server"

/** A refusal as smtp-server takes it. The enhanced code (RFC 3463) is part of the text. */
const refusal = (responseCode: number, text: string): SMTPServerError =>
  Object.assign(new Error(text), { responseCode })

/** Every refusal of the listener's own. */
export const SmtpReply = {
  noSuchMailbox: () => refusal(550, "5.1.1 No such mailbox here"),
  relayingDenied: () => refusal(550, "5.7.1 Relaying denied: not a domain of this server"),
  tooManyRecipients: () => refusal(452, "4.5.3 Too many recipients: send the rest in another message"),
  tooManyRefused: () => refusal(421, "4.7.0 Too many unknown recipients"),
  tooManyConnections: () => refusal(421, "4.7.0 Too many connections from your address"),
  messageTooLarge: (limit: number) => refusal(552, `5.3.4 Message larger than ${limit} bytes`),
  storageFull: () => refusal(452, "4.3.1 Too much mail at once: try again in a moment"),
  localTrouble: () => refusal(451, "4.3.0 The message could not be handled now: try again later")
} as const
