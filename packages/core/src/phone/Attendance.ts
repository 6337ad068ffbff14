import { Effect } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationContext } from "../payment/PaidService.ts"

/** How long after its claim an operation without a request still waits for the client to retry. */
const RETURN_WITHIN = 30 * Timestamp.SECOND

/**
 * Succeeds if a request is waiting for the operation. Otherwise it fails with `Temporary` while the client may still
 * retry (`RETURN_WITHIN` after the claim), and then with `Rejected`, so that the payment is refunded.
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
