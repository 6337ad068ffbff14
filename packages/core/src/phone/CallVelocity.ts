import * as Timestamp from "../kernel/Timestamp.ts"
import type { RefusalReason } from "../limits/Refusals.ts"
import type { Call } from "./Call.ts"
import type { CallPolicy } from "./CallPolicy.ts"

/** The time within which calls are counted. */
export const WINDOW = Timestamp.HOUR
/** Calls that are looked at: the newest of the window. */
export const RECENT_LIMIT = 1_000
/** An answered call that is over after so many seconds said little. */
export const SHORT_CALL_SECONDS = 6

/** Why a tenant can't place another call now, and what to do. */
export interface VelocityRefusal {
  readonly reason: RefusalReason
  readonly message: string
}

const isShort = ({ answeredAt, connectedSeconds, state }: Call): boolean =>
  state === "ended" && answeredAt !== null && connectedSeconds <= SHORT_CALL_SECONDS

/** When fewer than `limit` of these calls, newest first, are within the window: the end of the refusal. */
const untilOf = (calls: ReadonlyArray<Call>, limit: number): string => {
  const oldest = calls[limit - 1]?.createdAt ?? calls.at(-1)?.createdAt
  return oldest === undefined ? "" : Timestamp.toIso(Timestamp.add(oldest, WINDOW))
}

/** Why a call from this number to that one is too many after a tenant's recent outbound calls, newest first. */
export const refusalOf = (
  { atOnce, perHour }: CallPolicy,
  recent: ReadonlyArray<Call>,
  { phoneNumberId, toNumber }: Pick<Call, "phoneNumberId" | "toNumber">
): VelocityRefusal | undefined => {
  const live = recent.filter(({ state }) => state !== "ended")
  if (live.filter((call) => call.phoneNumberId === phoneNumberId).length >= atOnce.perNumber) {
    return {
      reason: "calls_at_once",
      message: `The number has ${atOnce.perNumber} outbound calls now, and can have no more. Wait until one ends.`
    }
  }
  if (live.length >= atOnce.perTenant) {
    return {
      reason: "calls_at_once",
      message: `Your numbers have ${atOnce.perTenant} outbound calls now, and can have no more. Wait until one ends.`
    }
  }
  const toOne = recent.filter((call) => call.toNumber === toNumber)
  if (toOne.length >= perHour.toOneNumber) {
    return {
      reason: "calls_to_one_number",
      message: `You have called ${toNumber} ${toOne.length} times within an hour. Call it again after ${untilOf(toOne, perHour.toOneNumber)}.`
    }
  }
  const short = recent.filter(isShort)
  if (short.length >= perHour.short) {
    return {
      reason: "calls_short",
      message: `${short.length} of your calls within an hour ended within ${SHORT_CALL_SECONDS} s of their answer, which looks like traffic pumping. Call again after ${untilOf(short, perHour.short)}.`
    }
  }
  if (recent.length < perHour.calls) return undefined
  return {
    reason: "calls_per_hour",
    message: `You have placed ${recent.length} calls within an hour. Place the next one after ${untilOf(recent, perHour.calls)}.`
  }
}
