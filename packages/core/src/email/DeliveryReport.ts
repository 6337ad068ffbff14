import { Schema } from "effect"
import { foldAddress } from "./EmailAddress.ts"
import type { MessageSummary, OutboundStatus, Recipient } from "./Message.ts"

/** One recipient in a delivery status notification (RFC 3464, section 2.3). */
const ReportedRecipient = Schema.Struct({
  /** Original-Recipient, and Final-Recipient, which differs if the mail was forwarded. */
  original: Schema.NullOr(Schema.String),
  final: Schema.NullOr(Schema.String),
  /** In lower case: failed, delayed, delivered, relayed or expanded. */
  action: Schema.String,
  /** The enhanced status code, for example `5.1.1`. */
  status: Schema.String,
  diagnostic: Schema.NullOr(Schema.String)
})

/** The content of a report that another server sent to a return path. All of it is the sender's claim. */
export const DeliveryReport = Schema.Union([
  Schema.TaggedStruct("DeliveryStatus", { recipients: Schema.Array(ReportedRecipient) }),
  /** RFC 5965. Many feedback reports name no recipient. */
  Schema.TaggedStruct("Feedback", { feedbackType: Schema.String, recipients: Schema.Array(Schema.String) })
])
export type DeliveryReport = typeof DeliveryReport.Type

/**
 * The moves of a recipient by a report. A report about a queued recipient means that the relay had accepted it, and its
 * answer was lost. A delivered mail may still bounce, because a later server refused it, and be
 * complained about. `bounced`, `complained` and `failed` are final.
 */
export const RECIPIENT_TRANSITIONS: Readonly<Record<OutboundStatus, ReadonlyArray<OutboundStatus>>> = {
  queued: ["delivered", "bounced", "complained"],
  sent: ["delivered", "bounced", "complained"],
  delivered: ["bounced", "complained"],
  bounced: [],
  complained: [],
  failed: []
}

/** The order in which the statuses of recipients decide the status of their message. */
export const STATUS_PRECEDENCE: ReadonlyArray<OutboundStatus> = [
  "sent",
  "queued",
  "delivered",
  "complained",
  "bounced",
  "failed"
]

/** Returns the status of a message: the first of `STATUS_PRECEDENCE` that one of its recipients has. */
export const statusOf = (recipients: ReadonlyArray<Pick<Recipient, "status">>): OutboundStatus =>
  STATUS_PRECEDENCE.find((status) => recipients.some((recipient) => recipient.status === status)) ?? "failed"

/**
 * Whether an enhanced status code (RFC 3463, section 3.2) means that the destination address is permanently invalid.
 * 5.1.7 and 5.1.8 concern the sender; 5.1.10 is from RFC 7505.
 */
export const isHardBounceStatus = (status: string): boolean => /^5\.1\.(?:[0-6]|10)$/.test(status)

/** The claim of a report about one recipient. */
interface Outcome {
  readonly status: OutboundStatus
  readonly reason: string | null
  readonly isHardBounce: boolean
}

/** The feedback types of RFC 5965, section 7.3, that are complaints. Others, for example `not-spam`, change nothing. */
const COMPLAINTS: ReadonlySet<string> = new Set(["abuse", "fraud", "virus"])

const outcomesOf = (report: DeliveryReport, message: MessageSummary): ReadonlyMap<string, Outcome> => {
  if (report._tag === "Feedback") {
    if (!COMPLAINTS.has(report.feedbackType)) return new Map()
    // A report without a recipient can only be about the one recipient of its message.
    const alone = message.recipients.length === 1 ? message.recipients.map(({ address }) => address) : []
    const addresses = report.recipients.length > 0 ? report.recipients : alone
    const outcome: Outcome = { status: "complained", reason: report.feedbackType, isHardBounce: false }
    return new Map(addresses.map((address) => [foldAddress(address), outcome]))
  }
  return new Map(
    report.recipients.flatMap(({ action, diagnostic, final, original, status }): Array<[string, Outcome]> => {
      const address = original ?? final
      if (address === null || (action !== "delivered" && action !== "failed")) return []
      const outcome: Outcome =
        action === "delivered"
          ? { status: "delivered", reason: null, isHardBounce: false }
          : { status: "bounced", reason: diagnostic ?? status, isHardBounce: isHardBounceStatus(status) }
      return [[foldAddress(address), outcome]]
    })
  )
}

/** The effect of a report on a message: its recipients and status, and the folded addresses to suppress. */
export interface ReportEffect {
  readonly recipients: ReadonlyArray<Recipient>
  readonly status: OutboundStatus
  readonly bounced: ReadonlyArray<string>
  readonly complained: ReadonlyArray<string>
}

/**
 * Returns the effect of a report on an outbound message; undefined if it changes nothing: it names no recipient of the
 * message, or only moves that are not allowed.
 */
export const effectOf = (report: DeliveryReport, message: MessageSummary): ReportEffect | undefined => {
  const outcomes = outcomesOf(report, message)
  const moved = message.recipients.flatMap((recipient) => {
    const outcome = outcomes.get(foldAddress(recipient.address))
    const allowed: ReadonlyArray<string> =
      recipient.status === "received" ? [] : RECIPIENT_TRANSITIONS[recipient.status]
    return outcome !== undefined && allowed.includes(outcome.status) ? [{ recipient, outcome }] : []
  })
  if (moved.length === 0) return undefined
  const byRecipient = new Map(moved.map(({ outcome, recipient }) => [recipient, outcome]))
  const recipients = message.recipients.map((recipient) => {
    const outcome = byRecipient.get(recipient)
    return outcome === undefined ? recipient : { ...recipient, status: outcome.status, reason: outcome.reason }
  })
  const addressesOf = (isMeant: (outcome: Outcome) => boolean) =>
    moved.filter(({ outcome }) => isMeant(outcome)).map(({ recipient }) => foldAddress(recipient.address))
  return {
    recipients,
    status: statusOf(recipients),
    bounced: addressesOf(({ isHardBounce }) => isHardBounce),
    complained: addressesOf(({ status }) => status === "complained")
  }
}
