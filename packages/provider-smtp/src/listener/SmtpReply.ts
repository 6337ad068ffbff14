import type { Refusal } from "./PacedServer.ts"

/** Makes a refusal in the form of smtp-server. The enhanced code (RFC 3463) is part of the text. */
const refusal = (responseCode: number, text: string): Refusal => Object.assign(new Error(text), { responseCode })

/** The refusals that the listener itself sends. */
export const SmtpReply = {
  noSuchMailbox: () => refusal(550, "5.1.1 No such mailbox here"),
  mailboxDisabled: () => refusal(550, "5.2.1 Mailbox disabled"),
  mailboxFull: () => refusal(452, "4.2.2 Mailbox full: try again later"),
  tooMuchMail: () => refusal(450, "4.7.1 Too much mail this hour: try again later"),
  senderRefused: () => refusal(550, "5.7.1 The mailbox does not accept mail from this sender"),
  senderUnchecked: () => refusal(451, "4.7.0 The sender could not be checked now: try again later"),
  badSender: () => refusal(553, "5.1.7 The domain of the sender must be in ASCII, or in lower case and NFC (RFC 5891)"),
  relayingDenied: () => refusal(550, "5.7.1 Relaying denied: not a domain of this server"),
  tooManyRecipients: () => refusal(452, "4.5.3 Too many recipients: send the rest in another message"),
  tooManyRefused: () => refusal(421, "4.7.0 Too many unknown recipients"),
  messageTooLarge: (limitBytes: number) => refusal(552, `5.3.4 Message larger than ${limitBytes} bytes`),
  headerTooLarge: (limitBytes: number) => refusal(552, `5.3.4 Header larger than ${limitBytes} bytes or 4000 lines`),
  headerMalformed: () => refusal(550, "5.6.0 The header is malformed (RFC 5322, section 2.2)"),
  noSingleAuthor: () =>
    refusal(550, "5.7.1 The message must have one From field with one unambiguous address (RFC 5322, section 3.6.2)"),
  storageFull: () => refusal(452, "4.3.1 Too much mail at once: try again in a moment"),
  tooManyMessages: (seconds: number) =>
    refusal(450, `4.7.1 Too many messages from your address: try again in ${seconds} seconds`),
  localError: () => refusal(451, "4.3.0 The message could not be handled now: try again later")
} as const

/** The reasons for ending a session with 421. */
export const SmtpDismissal = {
  tooManyConnections: "4.7.0 Too many connections from your address",
  tooManySessions: (seconds: number) => `4.7.0 Too many sessions from your address: try again in ${seconds} seconds`,
  tooFast: (seconds: number) => `4.7.0 Too many commands from your address: try again in ${seconds} seconds`,
  tooManyCommands: "4.7.0 Too many commands without a message",
  tooManyErrors: "4.7.0 Too many errors",
  sessionTooLong: "4.4.2 The session took too long: connect again",
  messageTooLong: "4.4.2 The message took too long",
  shuttingDown: "4.3.2 Server shutting down"
} as const
