import { Effect, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Call } from "./Call.ts"
import type { CallStore } from "./CallStore.ts"
import type { TelephonyProvider } from "./TelephonyProvider.ts"

/** How often the carrier is told a limit that others change meanwhile. */
const TELLS = 5

/**
 * Tells the carrier the limit of a call, and looks again whether that is still the limit. So of two who tell it at once,
 * in whatever order the carrier hears them, the last one tells what holds. Answers the call with the limit that was told.
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
