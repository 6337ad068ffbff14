import * as Timestamp from "../kernel/Timestamp.ts"

export type PauseReason = "bounced" | "complained"

/**
 * The number of recipients that may bounce or complain within `FEEDBACK_WINDOW`: fewer than `count`, or a smaller share
 * than `rate` of the recipients of the last two days.
 */
export interface FeedbackLimit {
  readonly count: number
  readonly rate: number
}

/** The limits on the recipients that a tenant may write to, configured by the operator. */
export interface SendingPolicy {
  /** The limit of a new tenant. It doubles after each day on which at least half of it was used without a pause. */
  readonly recipientsPerDayAtFirst: number
  readonly recipientsPerDay: number
  readonly bounces: FeedbackLimit
  readonly complaints: FeedbackLimit
  /** How long sending is paused, in milliseconds. Afterwards the limit starts again as for a new tenant. */
  readonly pause: number
}

/** The sending of a tenant on the last day on which it sent, and the state carried over from the days before. */
export interface SendingRecord {
  /** UTC days since the epoch. */
  readonly day: number
  /** Counted when a send is claimed, and never reduced. */
  readonly recipients: number
  /** Those of the day before. */
  readonly recipientsBefore: number
  /** The number of times the limit has doubled. */
  readonly level: number
  readonly pause: { readonly until: Timestamp.Timestamp; readonly reason: PauseReason } | null
}

/** How long a bounce or complaint counts towards a pause. */
export const FEEDBACK_WINDOW = Timestamp.DAY

/** The bounces or complaints of a tenant within `FEEDBACK_WINDOW`. */
export interface FeedbackCount {
  /** Those who count, each once: recipients, or domains whose recipients count together. */
  readonly reporters: number
  /** The different messages that they reported on. */
  readonly messages: number
}

/** The reason why a tenant can't write to this many recipients now. */
export type SendingRefusal =
  | { readonly _tag: "Paused"; readonly until: Timestamp.Timestamp; readonly reason: PauseReason }
  | {
      readonly _tag: "DayLimit"
      readonly limit: number
      readonly left: number
      /** When the next day begins. */
      readonly until: Timestamp.Timestamp
    }

/** The highest level: enough for any number of recipients, and within the exact range of a double. */
const LEVEL_MAX = 30

const dayOf = (now: Timestamp.Timestamp): number => Math.floor(now / Timestamp.DAY)

/** Returns the recipients a day that a tenant of this level may write to. */
export const limitOf = ({ recipientsPerDay, recipientsPerDayAtFirst }: SendingPolicy, level: number): number =>
  Math.min(recipientsPerDay, recipientsPerDayAtFirst * 2 ** level)

/**
 * Returns the record of the current day, or a new one for a tenant that has never sent. A clock that is set back does
 * not start a new day.
 */
export const today = (
  policy: SendingPolicy,
  record: SendingRecord | undefined,
  now: Timestamp.Timestamp
): SendingRecord => {
  const day = dayOf(now)
  const fresh = { day, recipients: 0 }
  if (record === undefined) return { ...fresh, recipientsBefore: 0, level: 0, pause: null }
  const pause = record.pause !== null && record.pause.until > now ? record.pause : null
  if (day <= record.day) return { ...record, pause }
  const isUsed = record.recipients >= limitOf(policy, record.level) / 2
  const isHigher = isUsed && record.pause === null && limitOf(policy, record.level) < policy.recipientsPerDay
  const recipientsBefore = day === record.day + 1 ? record.recipients : 0
  return { ...fresh, recipientsBefore, level: isHigher ? Math.min(record.level + 1, LEVEL_MAX) : record.level, pause }
}

/** Returns when the record's day ends. */
export const endOf = ({ day }: SendingRecord): Timestamp.Timestamp => Timestamp.fromMillis((day + 1) * Timestamp.DAY)

/** Returns why the tenant can't write to `more` recipients on the record's day, or undefined if it can. */
export const refusalOf = (policy: SendingPolicy, record: SendingRecord, more: number): SendingRefusal | undefined => {
  const { level, pause, recipients } = record
  if (pause !== null) return { _tag: "Paused", ...pause }
  const limit = limitOf(policy, level)
  if (recipients + more <= limit) return undefined
  return { _tag: "DayLimit", limit, left: Math.max(0, limit - recipients), until: endOf(record) }
}

export const sent = (record: SendingRecord, recipients: number): SendingRecord => ({
  ...record,
  recipients: record.recipients + recipients
})

/**
 * Returns the record after feedback that counts. Sending is paused if there is too much of it. Bounces count by reporter,
 * as one message to a bought list is enough of a reason. Complaints count by reporter and by message, whichever are fewer.
 */
export const withFeedback = (
  policy: SendingPolicy,
  record: SendingRecord,
  reason: PauseReason,
  { messages, reporters }: FeedbackCount,
  now: Timestamp.Timestamp
): SendingRecord => {
  const [limit, feedback] =
    reason === "bounced" ? [policy.bounces, reporters] : [policy.complaints, Math.min(reporters, messages)]
  const recipients = record.recipients + record.recipientsBefore
  if (feedback === 0 || feedback < limit.count || feedback < limit.rate * recipients) return record
  return { ...record, level: 0, pause: { until: Timestamp.add(now, policy.pause), reason } }
}
