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
  const changed = live.flatMap((call) => {
    const limit = limitOf(call, limits.get(call.callId), now)
    return limit === call.authorizedSeconds ? [] : [{ call, limit }]
  })
  yield* Effect.forEach(changed, ({ call, limit }) => calls.update(CallProgress.limited(call, limit, now)), {
    discard: true
  })
})

/**
 * The limit of a call, by its share. One that gets nothing more keeps what it has, if that is less than how long it has
 * been going on: the carrier has ended it, and has only not said so yet.
 */
const limitOf = ({ answeredAt, authorizedSeconds }: Call, share: number | undefined, now: Timestamp): number => {
  if (share === undefined || answeredAt === null) return authorizedSeconds
  const getsMore = share > InboundAllowance.secondsSince(answeredAt, now)
  return getsMore ? share : Math.min(share, authorizedSeconds)
}
