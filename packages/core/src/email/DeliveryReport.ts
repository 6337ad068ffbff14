import { Schema } from "effect"
import { foldAddress } from "./EmailAddress.ts"
import type { MessageSummary, OutboundStatus, Recipient, RecipientStatus } from "./Message.ts"

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
  Schema.TaggedStruct("Feedback", { feedbackType: Schema.String, recipients: Schema.Array(Schema.String) }),
  /**
   * A mail that is not a report and reached no mailbox: to the return path of a message that is not stored, or whose mailbox
   * is gone or inactive, or to a postmaster for whom no mailbox is configured.
   */
  Schema.TaggedStruct("Undelivered", {
    reason: Schema.Literals(["message unknown", "mailbox unknown", "no postmaster"])
  })
])
export type DeliveryReport = typeof DeliveryReport.Type

/** The answers of the relay about a recipient, the end of the attempts, and the reports of other servers. */
export type RecipientMove =
  | "Defer"
  | "Accept"
  | "Refuse"
  | "GiveUp"
  | "Cancel"
  | "ReportDelivery"
  | "ReportBounce"
  | "ReportComplaint"

/**
 * All allowed moves of a recipient of a sent message; any other move is refused. A report about a queued recipient means
 * that the relay had accepted it, and its answer was lost. A delivered mail may still bounce, because a later server refused
 * it, and be complained about. `bounced`, `complained`, `failed` and `canceled` are final.
 */
export const RECIPIENT_TRANSITIONS: Readonly<Record<OutboundStatus, Partial<Record<RecipientMove, OutboundStatus>>>> = {
  scheduled: {
    Cancel: "canceled",
    Defer: "queued",
    Accept: "sent",
    Refuse: "failed",
    GiveUp: "failed",
    ReportDelivery: "delivered",
    ReportBounce: "bounced",
    ReportComplaint: "complained"
  },
  queued: {
    Defer: "queued",
    Accept: "sent",
    Refuse: "failed",
    GiveUp: "failed",
    ReportDelivery: "delivered",
    ReportBounce: "bounced",
    ReportComplaint: "complained"
  },
  sent: { ReportDelivery: "delivered", ReportBounce: "bounced", ReportComplaint: "complained" },
  delivered: { ReportBounce: "bounced", ReportComplaint: "complained" },
  bounced: {},
  complained: {},
  failed: {},
  canceled: {}
}

const isOutbound = (status: RecipientStatus): status is OutboundStatus => status in RECIPIENT_TRANSITIONS

/** Returns the status after a move, or undefined if the move is not allowed. */
export const moveRecipient = (status: RecipientStatus, by: RecipientMove): OutboundStatus | undefined =>
  isOutbound(status) ? RECIPIENT_TRANSITIONS[status][by] : undefined

/** Returns the recipient after a move, with the reason; unchanged if the move is not allowed. */
export const recipientAfter = (recipient: Recipient, by: RecipientMove, reason: string | null): Recipient => {
  const status = moveRecipient(recipient.status, by)
  return status === undefined ? recipient : { ...recipient, status, reason }
}

/** The order in which the statuses of recipients decide the status of their message. */
export const STATUS_PRECEDENCE: ReadonlyArray<OutboundStatus> = [
  "sent",
  "queued",
  "scheduled",
  "delivered",
  "complained",
  "bounced",
  "failed",
  "canceled"
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
  readonly move: RecipientMove
  readonly reason: string | null
  readonly isHardBounce: boolean
}

/** The feedback types of RFC 5965, section 7.3, that are complaints. Others, for example `not-spam`, change nothing. */
const COMPLAINTS: ReadonlySet<string> = new Set(["abuse", "fraud", "virus"])

/** Whom a report may speak for. Everything else in it is a stranger's claim, and changes nothing. */
export interface ReportAuthority {
  /** The places of the recipients whose return paths it was sent to; null: that of the whole message. */
  readonly returnPaths: ReadonlyArray<number | null>
  /** Whether an authenticated and configured reporter sent it. Its complaints count for the recipients that it names. */
  readonly isReporter: boolean
}

/**
 * Returns the places of the recipients that a report is about. A recipient knows only its own return path, so a report to
 * it is about that recipient, whatever address it names: the mail may have been forwarded. The path of a whole message
 * was known to every recipient, so that it identifies a recipient only if there is no other.
 */
const identified = (report: DeliveryReport, recipients: ReadonlyArray<Recipient>, given: ReportAuthority) => {
  const places = new Set<number>()
  for (const place of given.returnPaths) {
    if (place !== null) places.add(place)
    else if (recipients.length === 1) places.add(0)
    else if (given.isReporter && report._tag === "Feedback") {
      const named = new Set(report.recipients.map(foldAddress))
      for (const [at, { address }] of recipients.entries()) if (named.has(foldAddress(address))) places.add(at)
    }
  }
  return places
}

/** Undoes xtext (RFC 3461, section 4) and its form for UTF-8 (RFC 6533, section 3), in which reports return an address. */
const decodeXtext = (address: string): string =>
  address
    .replace(/\+([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\x\{([0-9A-F]{2,6})\}/gi, (written, code: string) => {
      const point = Number.parseInt(code, 16)
      return point > 0x10_ffff ? written : String.fromCodePoint(point)
    })

type ReportedRecipient = typeof ReportedRecipient.Type

/** Whether a part of a report names an address, as it is or encoded. */
const isNaming = ({ final, original }: ReportedRecipient, address: string): boolean =>
  [final, original].some(
    (name) => name !== null && [name, decodeXtext(name)].some((each) => foldAddress(each) === foldAddress(address))
  )

/**
 * Returns the claim of a report about a recipient that it is about. If it has several, for example because the mail was
 * forwarded to several addresses, those that name the recipient count, and of these a failure before a delivery. A claim
 * that names another recipient of the message does not count: this one's path proves nothing about that one, and the
 * claim says nothing about this one.
 */
const outcomeOf = (
  report: DeliveryReport,
  { address }: Recipient,
  recipients: ReadonlyArray<Recipient>
): Outcome | undefined => {
  if (report._tag === "Undelivered") return undefined
  if (report._tag === "Feedback") {
    return COMPLAINTS.has(report.feedbackType)
      ? { move: "ReportComplaint", reason: report.feedbackType, isHardBounce: false }
      : undefined
  }
  const named = report.recipients.filter((claim) => isNaming(claim, address))
  const others = recipients.filter((other) => foldAddress(other.address) !== foldAddress(address))
  const claims =
    named.length > 0
      ? named
      : report.recipients.filter((claim) => !others.some((other) => isNaming(claim, other.address)))
  const failure = claims.find(({ action }) => action === "failed")
  if (failure !== undefined) {
    const { diagnostic, status } = failure
    return { move: "ReportBounce", reason: diagnostic ?? (status || null), isHardBounce: isHardBounceStatus(status) }
  }
  return claims.some(({ action }) => action === "delivered")
    ? { move: "ReportDelivery", reason: null, isHardBounce: false }
    : undefined
}

/** The effect of a report on a message: its recipients and status, and the folded addresses to suppress. */
export interface ReportEffect {
  readonly recipients: ReadonlyArray<Recipient>
  readonly status: OutboundStatus
  readonly bounced: ReadonlyArray<string>
  readonly complained: ReadonlyArray<string>
}

/**
 * Returns the effect of a report on an outbound message; undefined if it changes nothing: it is about no recipient, or
 * only claims moves that are not allowed.
 */
export const effectOf = (
  report: DeliveryReport,
  message: Pick<MessageSummary, "recipients">,
  authority: ReportAuthority
): ReportEffect | undefined => {
  const places = identified(report, message.recipients, authority)
  const moves = message.recipients.map((recipient, place) => {
    const outcome = places.has(place) ? outcomeOf(report, recipient, message.recipients) : undefined
    const isAllowed = outcome !== undefined && moveRecipient(recipient.status, outcome.move) !== undefined
    return { recipient, outcome: isAllowed ? outcome : undefined }
  })
  if (moves.every(({ outcome }) => outcome === undefined)) return undefined
  const recipients = moves.map(({ outcome, recipient }) =>
    outcome === undefined ? recipient : recipientAfter(recipient, outcome.move, outcome.reason)
  )
  const addressesOf = (isMeant: (outcome: Outcome) => boolean) =>
    moves
      .filter(({ outcome }) => outcome !== undefined && isMeant(outcome))
      .map(({ recipient }) => foldAddress(recipient.address))
  return {
    recipients,
    status: statusOf(recipients),
    bounced: addressesOf(({ isHardBounce }) => isHardBounce),
    complained: addressesOf(({ move }) => move === "ReportComplaint")
  }
}
