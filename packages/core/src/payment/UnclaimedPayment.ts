import { Effect } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationFailure } from "./Operation.ts"
import type { PaymentRail, Settlement } from "./PaymentRail.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/**
 * By how much the time of a block may be before the moment at which its transactions were sent. Chains stamp a block
 * with the beginning of its slot (12 s on Ethereum), and their clocks and ours differ. A transfer that is a few seconds
 * older than its challenge and held by no operation is owed back all the same, so too much does no harm.
 */
const BLOCK_TIME_TOLERANCE = 15 * Timestamp.SECOND

/** What became of an authorization that was used before anything was submitted for it here. */
export interface UnclaimedUse {
  /** The newest block before the challenge was issued: a transfer in it, or before it, was not made for the challenge. */
  readonly afterBlock: bigint
  readonly settlement: Settlement
}

/** Finds out from the chain whether the authorization paid us in full after the challenge with these terms was issued. */
export const find = Effect.fnUntraced(function* (
  rail: PaymentRail["Service"],
  proof: PaymentProof,
  terms: PaymentTerms
): Effect.fn.Return<UnclaimedUse, ProviderError> {
  const since = Timestamp.Timestamp.make(Math.max(0, RequestBinding.issuedAt(terms) - BLOCK_TIME_TOLERANCE))
  const afterBlock = yield* rail.blockBefore(terms, since)
  return { afterBlock, settlement: yield* rail.findSettlement(proof, terms, afterBlock) }
})

/** Why such a transfer is owed back. Whoever presents it first may not be who was meant to have the goods. */
export const SETTLED_ELSEWHERE: OperationFailure = {
  kind: "settled_elsewhere",
  message: "The authorization was submitted to the chain by somebody else before the server had claimed it."
}
