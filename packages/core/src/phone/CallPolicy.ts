import { Context } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { TimedQuota } from "../limits/Refusals.ts"
import type { Call } from "./Call.ts"

/** The limits on the calls that a tenant may place, and how long calls are kept, configured by the operator. */
export interface CallPolicy {
  /**
   * The countries and territories that may be called (ISO 3166-1 alpha-2). The price is the same for all of them, so
   * the operator decides on each one.
   */
  readonly countries: ReadonlySet<string>
  /** The maximum number of concurrent outbound calls. */
  readonly atOnce: { readonly perNumber: number; readonly perTenant: number }
  readonly perHour: CallsPerHour
  /** How long a call is kept after its end, in milliseconds; null: permanently. */
  readonly retention: number | null
  /** How long the turns of a call are kept after its end, in milliseconds; null: as long as the call. */
  readonly transcriptRetention: number | null
}

/** The maximum number of calls that a tenant may place within an hour. */
export interface CallsPerHour {
  readonly calls: number
  /** To one number. */
  readonly toOneNumber: number
  /** Calls that ended within `SHORT_CALL_SECONDS` of their answer: many of them indicate traffic pumping. */
  readonly short: number
}

export const DEFAULT_CALL_POLICY: CallPolicy = {
  countries: new Set(["US", "CA"]),
  atOnce: { perNumber: 5, perTenant: 20 },
  perHour: { calls: 60, toOneNumber: 10, short: 20 },
  retention: null,
  transcriptRetention: null
}

/** The policy of the host; `DEFAULT_CALL_POLICY` unless the host provides another. */
export const CallPolicy = Context.Reference<CallPolicy>("@agentos/core/phone/CallPolicy", {
  defaultValue: () => DEFAULT_CALL_POLICY
})

/** The window in which calls are counted. */
export const VELOCITY_WINDOW = Timestamp.HOUR
/** The maximum number of calls that are counted: the newest ones of the window. */
export const RECENT_LIMIT = 1_000
/** An answered call of at most this length counts as short. */
export const SHORT_CALL_SECONDS = 6

/** The reason why a tenant can't place another call now. `message` says what to do. */
export interface VelocityRefusal {
  readonly quota: TimedQuota
  readonly message: string
  /** When a call may be allowed again. */
  readonly until: Timestamp.Timestamp
}

const isShort = ({ answeredAt, connectedSeconds, state }: Call): boolean =>
  state === "ended" && answeredAt !== null && connectedSeconds <= SHORT_CALL_SECONDS

/** How soon a call that was refused because of concurrent ones may be tried again: one of them may end at any time. */
const AT_ONCE_RETRY = 10 * Timestamp.SECOND

/** Returns when fewer than `limit` of these calls, newest first, will be inside the window: the end of the refusal. */
const untilOf = (calls: ReadonlyArray<Call>, limit: number, now: Timestamp.Timestamp): Timestamp.Timestamp =>
  Timestamp.add(calls[limit - 1]?.createdAt ?? calls.at(-1)?.createdAt ?? now, VELOCITY_WINDOW)

/**
 * Returns why another call between these numbers exceeds the policy, given the tenant's recent outbound calls, newest
 * first. Returns undefined if the call is allowed.
 */
export const velocityRefusal = (
  { atOnce, perHour }: CallPolicy,
  recent: ReadonlyArray<Call>,
  { phoneNumberId, toNumber }: Pick<Call, "phoneNumberId" | "toNumber">,
  now: Timestamp.Timestamp
): VelocityRefusal | undefined => {
  const { live, short } = countCalls(recent)
  const ofNumber = live.filter((call) => call.phoneNumberId === phoneNumberId)
  const toOne = recent.filter((call) => call.toNumber === toNumber)
  if (ofNumber.length >= atOnce.perNumber) return atOnceRefusal("The number has reached its", atOnce.perNumber, now)
  if (live.length >= atOnce.perTenant) return atOnceRefusal("Your numbers have reached their", atOnce.perTenant, now)
  if (toOne.length >= perHour.toOneNumber) {
    const until = untilOf(toOne, perHour.toOneNumber, now)
    const message = `You have called ${toNumber} ${toOne.length} times within an hour. Call it again after ${Timestamp.toIso(until)}.`
    return { quota: "calls_to_one_number", message, until }
  }
  if (short.length >= perHour.short) {
    const until = untilOf(short, perHour.short, now)
    const message = `${short.length} of your calls within an hour ended within ${SHORT_CALL_SECONDS} s of their answer, which looks like traffic pumping. Call again after ${Timestamp.toIso(until)}.`
    return { quota: "calls_short", message, until }
  }
  if (recent.length < perHour.calls) return undefined
  const until = untilOf(recent, perHour.calls, now)
  const message = `You have placed ${recent.length} calls within an hour. Place the next one after ${Timestamp.toIso(until)}.`
  return { quota: "calls_per_hour", message, until }
}

/** Returns those of a tenant's recent outbound calls that are live, and those that were short. */
export const countCalls = (
  recent: ReadonlyArray<Call>
): { readonly live: ReadonlyArray<Call>; readonly short: ReadonlyArray<Call> } => ({
  live: recent.filter(({ state }) => state !== "ended"),
  short: recent.filter(isShort)
})

const atOnceRefusal = (subject: string, limit: number, now: Timestamp.Timestamp): VelocityRefusal => ({
  quota: "calls_at_once",
  message: `${subject} limit of ${limit} concurrent outbound calls. Wait until one ends.`,
  until: Timestamp.add(now, AT_ONCE_RETRY)
})
