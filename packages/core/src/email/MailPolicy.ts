import { Context } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { SendingPolicy } from "./SendingQuota.ts"

/** The number of messages, and the bytes that they use: raw mail, text and HTML. */
export interface MailUsage {
  readonly messages: number
  readonly bytes: number
}

/** The maximum number of messages accepted per hour. The rate limiter counts them; without one there is no limit. */
export interface InboundPerHour {
  /** From one envelope sender. Bounces have no sender. */
  readonly sender: number
  /** From one network, because senders can choose any sender address. */
  readonly network: number
  readonly mailbox: number
}

const GIBIBYTE = 1024 ** 3

/** The limits on the mail that a tenant may store and send, configured by the operator. */
export interface MailPolicy {
  /** A mailbox accepts mail while it is below both limits, so its last message may exceed `bytes`. */
  readonly mailboxLimit: MailUsage
  /** The same limits for all mailboxes of a tenant together. */
  readonly tenantLimit: MailUsage
  readonly sending: SendingPolicy
  /** The domains whose complaints count for the recipients that they name, if DMARC or an aligned check proves them. */
  readonly feedbackReporters: ReadonlyArray<string>
  readonly inboundPerHour: InboundPerHour
  /**
   * The address of the mailbox that receives mail to `postmaster` and `abuse` (RFC 5321, section 4.5.1; RFC 2142); null:
   * such mail is accepted, and only recorded and logged.
   */
  readonly postmaster: string | null
  /** How long raw mail is kept after it was received, in milliseconds; null: as long as its message. */
  readonly rawRetention: number | null
  /** How long a message is kept after it was received or sent, in milliseconds; null: as long as its mailbox. */
  readonly messageRetention: number | null
}

export const DEFAULT_MAIL_POLICY: MailPolicy = {
  mailboxLimit: { messages: 50_000, bytes: GIBIBYTE },
  tenantLimit: { messages: 200_000, bytes: 5 * GIBIBYTE },
  sending: {
    recipientsPerDayAtFirst: 200,
    recipientsPerDay: 10_000,
    bounces: { count: 10, rate: 0.05 },
    complaints: { count: 5, rate: 0.003 },
    pause: Timestamp.DAY
  },
  feedbackReporters: [],
  inboundPerHour: { sender: 1_000, network: 5_000, mailbox: 2_000 },
  postmaster: null,
  rawRetention: null,
  messageRetention: null
}

/** The policy of the host; `DEFAULT_MAIL_POLICY` unless the host provides another. */
export const MailPolicy = Context.Reference<MailPolicy>("@agentos/core/email/MailPolicy", {
  defaultValue: () => DEFAULT_MAIL_POLICY
})

const isBelow = (usage: MailUsage, limit: MailUsage): boolean =>
  usage.messages < limit.messages && usage.bytes < limit.bytes

/** Returns the limit that a mailbox has reached: its own, its tenant's, or undefined for neither. */
export const reachedLimit = (
  { mailboxLimit, tenantLimit }: MailPolicy,
  { tenantUsage, usage }: { readonly usage: MailUsage; readonly tenantUsage: MailUsage }
): "mailbox" | "tenant" | undefined => {
  if (!isBelow(usage, mailboxLimit)) return "mailbox"
  return isBelow(tenantUsage, tenantLimit) ? undefined : "tenant"
}
