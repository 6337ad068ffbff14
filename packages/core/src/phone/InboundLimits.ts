import { Effect } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import type { CallStore } from "./CallStore.ts"
import * as InboundAllowance from "./InboundAllowance.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"

/** Returns the answered inbound calls among the live calls of a number. */
export const liveInbound = (live: ReadonlyArray<Call>): ReadonlyArray<InboundAllowance.LiveCall> =>
  live.flatMap(({ answeredAt, callId, direction }) =>
    direction === "inbound" && answeredAt !== null ? [{ callId, answeredAt }] : []
  )

/**
 * Shares the remaining allowance of a number among its live inbound calls. Must run in a transaction, whenever one of
 * them begins or ends, and when the allowance grows. The watch then sends the new limits to the carrier.
 */
export const shareOut = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  { allowance, phoneNumberId }: PhoneNumber,
  now: Timestamp
) {
  const live = yield* calls.live(phoneNumberId)
  const limits = InboundAllowance.limits(allowance, liveInbound(live), now)
  const changed = live.flatMap((call) => {
    const limit = limitOf(call, limits.get(call.callId), now)
    return limit === call.authorizedSeconds ? [] : [{ call, limit }]
  })
  yield* Effect.forEach(changed, ({ call, limit }) => calls.update(CallProgress.limited(call, limit, now)), {
    discard: true
  })
})

/**
 * Returns the limit of a call for its share. If the share adds nothing and the call has already exceeded its limit, the
 * limit stays: the carrier has ended the call and has not reported that yet.
 */
const limitOf = ({ answeredAt, authorizedSeconds }: Call, share: number | undefined, now: Timestamp): number => {
  if (share === undefined || answeredAt === null) return authorizedSeconds
  const getsMore = share > InboundAllowance.secondsSince(answeredAt, now)
  return getsMore ? share : Math.min(share, authorizedSeconds)
}
