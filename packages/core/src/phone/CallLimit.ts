import { Effect, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Call } from "./Call.ts"
import type { CallStore } from "./CallStore.ts"
import type { TelephonyProvider } from "./TelephonyProvider.ts"

/** The maximum number of times the limit is sent to the carrier while concurrent requests change it. */
const TELLS = 5

/**
 * Sends the limit of a call to the carrier, then reads it again and repeats if it has changed. So when two requests
 * send limits concurrently, the last one sent is the stored one, in whatever order the carrier receives them. Returns
 * the call with the limit that was sent last.
 */
export const tellLimit = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  provider: TelephonyProvider["Service"],
  known: Call,
  providerCallId: string
): Effect.fn.Return<Call, ProviderError> {
  let call = known
  for (let tells = 0; tells < TELLS; tells++) {
    yield* provider.changeLimit(providerCallId, call.authorizedSeconds)
    const current = Option.getOrElse(yield* calls.get(call.callId), () => call)
    if (current.authorizedSeconds === call.authorizedSeconds) break
    call = current
  }
  return call
})
