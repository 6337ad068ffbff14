import { Effect } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationContext } from "../payment/PaidService.ts"

/** How long after its claim something is left to a client that may come back for it. */
const RETURN_WITHIN = 30 * Timestamp.SECOND

/**
 * Lets through what a request waits for. What nobody waits for fails: as what may pass while its client may still come
 * back, and then for good, so that it is paid back.
 */
export const requireAttended = Effect.fnUntraced(function* (
  { attended, createdAt }: OperationContext,
  provider: string,
  what: string
): Effect.fn.Return<void, ProviderError> {
  if (attended) return
  const mayReturn = (yield* Timestamp.now) < Timestamp.add(createdAt, RETURN_WITHIN)
  return yield* mayReturn
    ? new ProviderError({ provider, reason: "Temporary", message: `${what} waits for its request to be made again.` })
    : new ProviderError({ provider, reason: "Rejected", message: `${what} was not made: its request had ended.` })
})
