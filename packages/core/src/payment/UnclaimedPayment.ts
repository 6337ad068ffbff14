import { Effect } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationFailure } from "./Operation.ts"
import type { PaymentRail, Settlement } from "./PaymentRail.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/**
 * Maximum by which the timestamp of a block may precede the sending of its transactions. Chains stamp a block with the
 * beginning of its slot (12 s on Ethereum), and their clocks differ from ours. A larger value does no harm: a transfer
 * that is a few seconds older than its challenge and that no operation holds is refunded as well.
 */
const BLOCK_TIME_TOLERANCE = 15 * Timestamp.SECOND

/** The outcome of an authorization that was used before this server submitted it. */
export interface UnclaimedUse {
  /**
   * The newest block before the challenge was issued. A transfer in it or in an earlier one does not answer the
   * challenge.
   */
  readonly afterBlock: bigint
  readonly settlement: Settlement
}

/** Reads from the chain whether the authorization paid us in full after the challenge with these terms was issued. */
export const find = Effect.fnUntraced(function* (
  rail: PaymentRail["Service"],
  proof: PaymentProof,
  terms: PaymentTerms
): Effect.fn.Return<UnclaimedUse, ProviderError> {
  const since = Timestamp.Timestamp.make(Math.max(0, RequestBinding.issuedAt(terms) - BLOCK_TIME_TOLERANCE))
  const afterBlock = yield* rail.blockBefore(terms, since)
  return { afterBlock, settlement: yield* rail.findSettlement(proof, terms, afterBlock) }
})

/**
 * Such a transfer is refunded because the first client to present it may not be the intended recipient of the goods.
 */
export const SETTLED_ELSEWHERE: OperationFailure = {
  kind: "settled_elsewhere",
  message: "A third party submitted the authorization to the chain before the server claimed it."
}
