import { Context } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { RefusalReason } from "../limits/Refusals.ts"
import type { Call } from "./Call.ts"

/** The limits on the calls that a tenant may place, configured by the operator. */
export interface CallPolicy {
  /**
   * The countries and territories that may be called (ISO 3166-1 alpha-2). The price is the same for all of them, so
   * the operator decides on each one.
   */
  readonly countries: ReadonlySet<string>
  /** The maximum number of concurrent outbound calls. */
  readonly atOnce: { readonly perNumber: number; readonly perTenant: number }
  readonly perHour: CallsPerHour
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
  perHour: { calls: 60, toOneNumber: 10, short: 20 }
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
  readonly reason: RefusalReason
  readonly message: string
}

const isShort = ({ answeredAt, connectedSeconds, state }: Call): boolean =>
  state === "ended" && answeredAt !== null && connectedSeconds <= SHORT_CALL_SECONDS

/** Returns when fewer than `limit` of these calls, newest first, will be inside the window: the end of the refusal. */
const untilOf = (calls: ReadonlyArray<Call>, limit: number): string => {
  const oldest = calls[limit - 1]?.createdAt ?? calls.at(-1)?.createdAt
  return oldest === undefined ? "" : Timestamp.toIso(Timestamp.add(oldest, VELOCITY_WINDOW))
}

/**
 * Returns why another call between these numbers exceeds the policy, given the tenant's recent outbound calls, newest
 * first. Returns undefined if the call is allowed.
 */
export const velocityRefusal = (
  { atOnce, perHour }: CallPolicy,
  recent: ReadonlyArray<Call>,
  { phoneNumberId, toNumber }: Pick<Call, "phoneNumberId" | "toNumber">
): VelocityRefusal | undefined => {
  const live = recent.filter(({ state }) => state !== "ended")
  const ofNumber = live.filter((call) => call.phoneNumberId === phoneNumberId)
  const toOne = recent.filter((call) => call.toNumber === toNumber)
  const short = recent.filter(isShort)
  if (ofNumber.length >= atOnce.perNumber) return atOnceRefusal("The number has reached its", atOnce.perNumber)
  if (live.length >= atOnce.perTenant) return atOnceRefusal("Your numbers have reached their", atOnce.perTenant)
  if (toOne.length >= perHour.toOneNumber) {
    const after = untilOf(toOne, perHour.toOneNumber)
    const message = `You have called ${toNumber} ${toOne.length} times within an hour. Call it again after ${after}.`
    return { reason: "calls_to_one_number", message }
  }
  if (short.length >= perHour.short) {
    return {
      reason: "calls_short",
      message: `${short.length} of your calls within an hour ended within ${SHORT_CALL_SECONDS} s of their answer, which looks like traffic pumping. Call again after ${untilOf(short, perHour.short)}.`
    }
  }
  if (recent.length < perHour.calls) return undefined
  const after = untilOf(recent, perHour.calls)
  const message = `You have placed ${recent.length} calls within an hour. Place the next one after ${after}.`
  return { reason: "calls_per_hour", message }
}

const atOnceRefusal = (subject: string, limit: number): VelocityRefusal => ({
  reason: "calls_at_once",
  message: `${subject} limit of ${limit} concurrent outbound calls. Wait until one ends.`
})
