import * as Timestamp from "../kernel/Timestamp.ts"

/** Why sending is paused. */
export type PauseReason = "bounced" | "complained"

/** How many recipients may bounce or complain on a day: fewer than `count`, or a smaller share than `rate`. */
export interface FeedbackLimit {
  readonly count: number
  readonly rate: number
}

/** How many recipients a tenant may write to. The operator configures it. */
export interface SendingPolicy {
  /** Of a new tenant. The limit doubles after each day on which at least half of it was used without a pause. */
  readonly recipientsPerDayAtFirst: number
  readonly recipientsPerDay: number
  readonly bounces: FeedbackLimit
  readonly complaints: FeedbackLimit
  /** How long sending pauses, in milliseconds. The limit then starts again as that of a new tenant. */
  readonly pause: number
}

/** What a tenant has sent on the last day on which it sent, and what follows from the days before. */
export interface SendingRecord {
  /** UTC days since the epoch. */
  readonly day: number
  /** Counted when a send is claimed; never given back. */
  readonly recipients: number
  readonly bounced: number
  readonly complained: number
  /** How often the limit has doubled. */
  readonly level: number
  readonly pause: { readonly until: Timestamp.Timestamp; readonly reason: PauseReason } | null
}

/** Why a tenant can't write to so many recipients now. */
export type SendingRefusal =
  | { readonly _tag: "Paused"; readonly until: Timestamp.Timestamp; readonly reason: PauseReason }
  | {
      readonly _tag: "DayLimit"
      readonly limit: number
      readonly left: number
      /** When the next day begins. */
      readonly until: Timestamp.Timestamp
    }

/** Enough for every number of recipients there is, and no more than a double holds. */
const LEVEL_MAX = 30

const dayOf = (now: Timestamp.Timestamp): number => Math.floor(now / Timestamp.DAY)

const limitOf = ({ recipientsPerDay, recipientsPerDayAtFirst }: SendingPolicy, level: number): number =>
  Math.min(recipientsPerDay, recipientsPerDayAtFirst * 2 ** level)

/** The record of this day: a new one for a tenant that has never sent. A clock that is set back begins no day. */
export const today = (
  policy: SendingPolicy,
  record: SendingRecord | undefined,
  now: Timestamp.Timestamp
): SendingRecord => {
  const day = dayOf(now)
  const fresh = { day, recipients: 0, bounced: 0, complained: 0 }
  if (record === undefined) return { ...fresh, level: 0, pause: null }
  const pause = record.pause !== null && record.pause.until > now ? record.pause : null
  if (day <= record.day) return { ...record, pause }
  const isUsed = record.recipients >= limitOf(policy, record.level) / 2
  const isHigher = isUsed && record.pause === null && limitOf(policy, record.level) < policy.recipientsPerDay
  return { ...fresh, level: isHigher ? Math.min(record.level + 1, LEVEL_MAX) : record.level, pause }
}

/** Why so many more recipients can't be written to on the record's day; undefined if they can. */
export const refusalOf = (
  policy: SendingPolicy,
  { day, level, pause, recipients }: SendingRecord,
  more: number
): SendingRefusal | undefined => {
  if (pause !== null) return { _tag: "Paused", ...pause }
  const limit = limitOf(policy, level)
  if (recipients + more <= limit) return undefined
  const until = Timestamp.Timestamp.make((day + 1) * Timestamp.DAY)
  return { _tag: "DayLimit", limit, left: Math.max(0, limit - recipients), until }
}

export const sent = (record: SendingRecord, recipients: number): SendingRecord => ({
  ...record,
  recipients: record.recipients + recipients
})

const isOver = ({ count, rate }: FeedbackLimit, feedback: number, recipients: number): boolean =>
  feedback >= count && feedback >= rate * recipients

/** The record after so many more recipients bounced or complained: paused where those are too many. */
export const withFeedback = (
  policy: SendingPolicy,
  record: SendingRecord,
  reason: PauseReason,
  recipients: number,
  now: Timestamp.Timestamp
): SendingRecord => {
  const counted = { ...record, [reason]: record[reason] + recipients }
  const limit = reason === "bounced" ? policy.bounces : policy.complaints
  if (recipients === 0 || !isOver(limit, counted[reason], counted.recipients)) return counted
  return { ...counted, level: 0, pause: { until: Timestamp.add(now, policy.pause), reason } }
}
