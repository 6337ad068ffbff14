import type { RateRule } from "@agentos/core"
import { HEADER_LIMIT_BYTES } from "../header/HeaderBlock.ts"
import type { SessionTableLimits } from "./SessionTable.ts"

/** All limits of senders. Times are in milliseconds; "address" and "network" are those of `Peer`. */
export interface SmtpLimits extends SessionTableLimits {
  readonly messageBytes: number
  /** Size of the header of one message. */
  readonly headerBytes: number
  /** Recipients of one message, repeated ones included. RFC 5321, section 4.5.3.1.8, requires at least 100. */
  readonly recipients: number
  /** Recipients without a mailbox in one session: more indicate a search for addresses. */
  readonly refusedRecipients: number
  /** Commands since the session began or its last message was accepted. */
  readonly commands: number
  /** Commands without effect (NOOP, RSET, VRFY, HELP and repeated greetings), counted like `commands`. */
  readonly idleCommands: number
  /** Replies that refuse anything but a recipient, counted like `commands`. */
  readonly errors: number
  /** Recipient lookups at the same time. */
  readonly lookups: number
  /**
   * Messages arriving at the same time, and the memory that they share. Each needs its size once more while it
   * is stored.
   */
  readonly messages: number
  readonly bufferedBytes: number
  /** The part of both that one address may use. */
  readonly messagesPerAddress: number
  readonly bufferedBytesPerAddress: number
  /** Messages of one address per hour. As a rate, it does not apply if rate limits are disabled. */
  readonly messagesPerHour: number
  /** Silence of a sender. RFC 5321, section 4.5.3.2.7, requires 5 minutes. */
  readonly idleMillis: number
  readonly sessionMillis: number
  /** From DATA to the last byte, even if it arrives steadily. */
  readonly messageMillis: number
  readonly shutdownMillis: number
}

/** Divides `connections` sessions: at most half for one network, a quarter reserved. */
export const sessionLimits = (connections: number, connectionsPerAddress: number): SessionTableLimits => ({
  connections,
  connectionsPerAddress,
  connectionsPerNetwork: Math.max(connectionsPerAddress, Math.floor(connections / 2)),
  connectionsReserved: Math.floor(connections / 4)
})

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  messageBytes: 25 * 1024 * 1024,
  headerBytes: HEADER_LIMIT_BYTES,
  recipients: 100,
  refusedRecipients: 100,
  commands: 1_000,
  idleCommands: 50,
  errors: 50,
  lookups: 4,
  ...sessionLimits(256, 80),
  messages: 128,
  bufferedBytes: 48 * 1024 * 1024,
  messagesPerAddress: 32,
  bufferedBytesPerAddress: 28 * 1024 * 1024,
  messagesPerHour: 6_000,
  idleMillis: 5 * 60_000,
  sessionMillis: 30 * 60_000,
  messageMillis: 10 * 60_000,
  shutdownMillis: 4_000
}

const HOUR_SECONDS = 3_600

/**
 * Returns the rates of one address. Twice as many sessions as messages are allowed, since not every session
 * delivers one.
 */
export const smtpRates = ({ messagesPerHour }: SmtpLimits): Record<"command" | "message" | "session", RateRule> => ({
  command: { name: "smtp.command", burst: 10_000, perSecond: 500, isShared: false },
  message: {
    name: "smtp.message",
    burst: messagesPerHour,
    perSecond: messagesPerHour / HOUR_SECONDS,
    isShared: true
  },
  session: {
    name: "smtp.session",
    burst: messagesPerHour * 2,
    perSecond: (messagesPerHour * 2) / HOUR_SECONDS,
    isShared: false
  }
})
