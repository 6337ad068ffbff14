import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"

export const IncidentKind = Schema.Literals([
  "refund_due",
  "ledger_unequal",
  "wallet_low",
  "job_late",
  "mail_failing",
  "tenant_paused",
  "certificate_expiring"
])
export type IncidentKind = typeof IncidentKind.Type

/** A condition that an operator must handle, as it was found. Contains no secret and no address of a person. */
export interface Condition {
  readonly kind: IncidentKind
  /** The token, network, job, tenant or listener that it is about. */
  readonly subject: string
  readonly summary: string
  /** What to do. */
  readonly action: string
}

/** A condition from when it is first found until its operators know that it is gone. There is one for each kind and subject. */
export interface Incident extends Condition {
  readonly incidentId: string
  /** When it was first found, since it was last gone. */
  readonly openedAt: Timestamp.Timestamp
  /** When the condition was last found. */
  readonly seenAt: Timestamp.Timestamp
  /** Null while the condition holds. */
  readonly resolvedAt: Timestamp.Timestamp | null
  /** The channels that know of it, and were not told that it is resolved. */
  readonly informed: ReadonlyArray<string>
  /** Failed attempts to inform the other channels; none once it is given up. */
  readonly attempts: number
  /** When the next attempt is made; null if none is. */
  readonly attemptAt: Timestamp.Timestamp | null
}

/** A condition that was not found for so long is gone, in milliseconds. So one that comes and goes is one incident. */
export const SETTLED_AFTER = 5 * Timestamp.MINUTE
/** Limit of incidents at the same time. Further conditions wait. */
export const INCIDENTS_MAX = 100
const FIRST_RETRY = Timestamp.MINUTE
const LONGEST_RETRY = Timestamp.HOUR
/** Over about half a day. */
const ATTEMPTS_MAX = 16

/** The conditions that hold now, and the kinds of which that is not known. */
export interface Observation {
  readonly found: ReadonlyArray<Condition>
  readonly unknown: ReadonlySet<IncidentKind>
}

const isOf = ({ kind, subject }: Condition, other: Condition): boolean =>
  kind === other.kind && subject === other.subject

/** Returns the incidents that an observation changes or begins. */
export const follow = (
  stored: ReadonlyArray<Incident>,
  { found, unknown }: Observation,
  now: Timestamp.Timestamp,
  newId: () => string
): ReadonlyArray<Incident> => {
  const known = stored.map((incident): Incident => {
    const condition = found.find((each) => isOf(each, incident))
    if (condition !== undefined) {
      const isBack = incident.resolvedAt !== null
      return {
        ...incident,
        ...condition,
        seenAt: now,
        resolvedAt: null,
        ...(isBack ? { openedAt: now, ...due(now) } : {})
      }
    }
    if (incident.resolvedAt !== null || unknown.has(incident.kind) || now - incident.seenAt < SETTLED_AFTER)
      return incident
    return { ...incident, resolvedAt: now, ...due(now) }
  })
  const begun = found
    .filter((condition) => !stored.some((incident) => isOf(condition, incident)))
    .slice(0, Math.max(0, INCIDENTS_MAX - stored.length))
    .map((condition): Incident => ({
      ...condition,
      incidentId: newId(),
      openedAt: now,
      seenAt: now,
      resolvedAt: null,
      informed: [],
      ...due(now)
    }))
  return [...known.filter((incident, index) => incident !== stored[index]), ...begun]
}

const due = (now: Timestamp.Timestamp) => ({ attempts: 0, attemptAt: now })

/** Returns the channels that are to be told the state of the incident now. */
export const toInform = (
  { attemptAt, informed, resolvedAt }: Incident,
  channels: ReadonlyArray<string>,
  now: Timestamp.Timestamp
): ReadonlyArray<string> => {
  if (attemptAt === null || attemptAt > now) return []
  return channels.filter((channel) => informed.includes(channel) === (resolvedAt !== null))
}

/**
 * Returns the incident after an attempt that some channels accepted and others did not; undefined if it is resolved, and
 * every channel that knew of it knows that too, or it is given up.
 */
export const afterAttempt = (
  incident: Incident,
  accepted: ReadonlyArray<string>,
  failed: boolean,
  now: Timestamp.Timestamp
): Incident | undefined => {
  const { resolvedAt } = incident
  const informed =
    resolvedAt === null
      ? [...incident.informed, ...accepted]
      : incident.informed.filter((channel) => !accepted.includes(channel))
  const attempts = failed ? incident.attempts + 1 : 0
  const isOver = !failed || attempts >= ATTEMPTS_MAX
  if (isOver && resolvedAt !== null) return undefined
  const delay = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (attempts - 1))
  return { ...incident, informed, attempts, attemptAt: isOver ? null : Timestamp.add(now, delay) }
}

/** The messages about an incident: that it began, or that it ended. */
export interface Notification {
  /** The same for each attempt, and another one if an incident whose end was told is back. */
  readonly id: string
  readonly type: "operator.incident.opened" | "operator.incident.resolved"
  /** When that was, in ISO 8601. */
  readonly timestamp: string
  readonly data: Condition & {
    readonly incidentId: string
    readonly openedAt: string
    readonly resolvedAt: string | null
  }
}

export const notificationOf = ({
  action,
  incidentId,
  kind,
  openedAt,
  resolvedAt,
  subject,
  summary
}: Incident): Notification => {
  const event = resolvedAt === null ? "opened" : "resolved"
  const at = resolvedAt ?? openedAt
  return {
    id: `${incidentId}_${event}_${at}`,
    type: `operator.incident.${event}`,
    timestamp: Timestamp.toIso(at),
    data: {
      incidentId,
      kind,
      subject,
      summary,
      action,
      openedAt: Timestamp.toIso(openedAt),
      resolvedAt: resolvedAt === null ? null : Timestamp.toIso(resolvedAt)
    }
  }
}
