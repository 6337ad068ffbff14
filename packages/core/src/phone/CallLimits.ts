import { Effect, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import type { CallStore } from "./CallStore.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import type { PhoneNumberStore } from "./PhoneNumberStore.ts"
import type { TelephonyProvider } from "./TelephonyProvider.ts"

/**
 * Reserves the remaining allowance of a number for its live inbound calls. Must run in a transaction, whenever one of
 * them begins or ends, and when the allowance grows. The watch then sends the new limits to the carrier.
 */
export const reserveAllowance = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  { allowance, phoneNumberId }: PhoneNumber,
  now: Timestamp
) {
  const live = yield* calls.live(phoneNumberId)
  const reserved = Allowance.reserve(allowance, Allowance.liveInbound(live), now)
  const changed = live.flatMap((call) => {
    const limit = Allowance.limitOf(call, reserved.get(call.callId), now)
    return limit === call.authorizedSeconds ? [] : [CallProgress.setLimit(call, limit, now)]
  })
  yield* Effect.forEach(changed, calls.update, { discard: true })
})

/**
 * Consumes the connected seconds of an inbound call that has ended, and reserves the rest for the live calls. Must run
 * in a transaction, when the call was answered or has ended.
 */
export const consumeAllowance = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  numbers: PhoneNumberStore["Service"],
  call: Call,
  now: Timestamp
) {
  if (call.direction !== "inbound") return
  const found = yield* numbers.find(call.tenantId, call.phoneNumberId)
  if (found._tag !== "Owned") return
  const number =
    call.state === "ended"
      ? {
          ...found.value,
          allowance: Allowance.consume(found.value.allowance, Allowance.allowanceSeconds(call, call.connectedSeconds))
        }
      : found.value
  if (number !== found.value) yield* numbers.update(number)
  yield* reserveAllowance(calls, number, now)
})

/** The maximum number of times the limit is sent to the carrier while concurrent requests change it. */
const SENDS_MAX = 5

/**
 * Sends the limit of a call to the carrier, then reads it again and repeats if it has changed. So when two requests
 * send limits concurrently, the last one sent is the stored one, in whatever order the carrier receives them. Returns
 * the call with the limit that was sent last.
 */
export const sendLimit = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  provider: TelephonyProvider["Service"],
  known: Call,
  providerCallId: string
): Effect.fn.Return<Call, ProviderError> {
  let call = known
  for (let sends = 0; sends < SENDS_MAX; sends++) {
    yield* provider.changeLimit(providerCallId, call.authorizedSeconds)
    const current = Option.getOrElse(yield* calls.get(call.callId), () => call)
    if (current.authorizedSeconds === call.authorizedSeconds) break
    call = current
  }
  return call
})
