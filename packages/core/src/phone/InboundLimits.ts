import { Effect } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import type { CallStore } from "./CallStore.ts"
import * as InboundAllowance from "./InboundAllowance.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"

/** The live inbound calls of a number, as its allowance counts them. */
export const liveInbound = (live: ReadonlyArray<Call>): ReadonlyArray<InboundAllowance.LiveCall> =>
  live.flatMap(({ answeredAt, callId, direction }) =>
    direction === "inbound" && answeredAt !== null ? [{ callId, answeredAt }] : []
  )

/**
 * Shares out what a number's allowance has left among its live inbound calls, in the caller's transaction: whenever one
 * of them begins or ends, and when the allowance grows. The watch then tells the carrier.
 */
export const shareOut = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  { allowance, phoneNumberId }: PhoneNumber,
  now: Timestamp
) {
  const live = yield* calls.live(phoneNumberId)
  const limits = InboundAllowance.limits(allowance, liveInbound(live), now)
  const changed = live.filter(
    ({ authorizedSeconds, callId }) => (limits.get(callId) ?? authorizedSeconds) !== authorizedSeconds
  )
  yield* Effect.forEach(
    changed,
    (call) => calls.update(CallProgress.limited(call, limits.get(call.callId) ?? call.authorizedSeconds, now)),
    { discard: true }
  )
})
