import type { PaymentProof, PaymentTerms, ProviderError, Settlement } from "@agentos/core"
import { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { EvmChain } from "./EvmChain.ts"
import type { AuthorizationUse } from "./TokenLog.ts"

export interface SettlementQuery {
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
  /** A use in this block or an earlier one is not a payment made here. */
  readonly afterBlock: bigint
  /** Checked first, if given. */
  readonly transaction: string | undefined
  /** Number of blocks that must follow a use before it decides anything. */
  readonly confirmations: number
}

/** The properties that a use must have to be the expected transfer. */
export interface ExpectedUse {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** A use in this block or an earlier one does not count. */
  readonly afterBlock: bigint
  /** Number of blocks that must follow a use before it decides anything. */
  readonly confirmations: number
}

/** Returns a value of the proof in lower case; its reader has checked that it is hexadecimal. */
export const hexOf = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`

/**
 * Determines the state of an authorization from the chain alone.
 *
 * `Paid` requires the token's own log: AuthorizationUsed of this payer and nonce, directly followed by a
 * Transfer of the whole amount from the payer to us. A used nonce alone proves nothing: a cancelled
 * authorization, or another one signed with the same nonce, uses it as well.
 *
 * `Unused` is final (`expired`) if the nonce is unused in a block at or after a finalized block whose time is
 * past validBefore: the token rejects the authorization in every later block.
 *
 * If a node's state shows a use that its logs do not show yet, the result is `Unsettled`, never a guess.
 */
export const findSettlement = Effect.fnUntraced(function* (
  chain: EvmChain,
  query: SettlementQuery
): Effect.fn.Return<Settlement, ProviderError> {
  const { afterBlock, confirmations, proof, terms, transaction } = query
  const expected = { from: proof.payer, to: terms.payTo, value: terms.amount, afterBlock, confirmations }
  const payer = hexOf(proof.payer)
  const nonce = hexOf(proof.nonce)

  if (transaction !== undefined) {
    const [use, latest] = yield* Effect.all([chain.readUse(hexOf(transaction), payer, nonce), chain.latestBlock], {
      concurrency: 2
    })
    if (Option.isSome(use)) return judge(expected, use.value, latest)
  }

  // In this order, so that the nonce is read in a block that is not older than the finalized one.
  const finalized = yield* chain.finalizedBlock
  const latest = yield* chain.latestBlock
  if (!(yield* chain.isUsed(payer, nonce, latest))) {
    return { _tag: "Unused", expired: latest >= finalized.number && finalized.timestamp > BigInt(proof.validBefore) }
  }
  const use = yield* chain.findUse(payer, nonce, afterBlock + 1n, latest)
  if (Option.isSome(use)) return judge(expected, use.value, latest)
  // A node's logs may lag behind its state. A missing log does not prove an earlier use; the state does.
  if (!(yield* chain.isUsed(payer, nonce, afterBlock))) return UNSETTLED
  return latest < afterBlock + BigInt(confirmations) ? UNSETTLED : USED_BEFORE
})

const UNSETTLED: Settlement = { _tag: "Unsettled" }
const USED_BEFORE: Settlement = {
  _tag: "UsedOtherwise",
  message: "The authorization was used before the server claimed this payment."
}

/** Returns the meaning of a use of the nonce when `latest` is the newest block. */
export const judge = (expected: ExpectedUse, use: AuthorizationUse, latest: bigint): Settlement => {
  if (latest < use.block + BigInt(expected.confirmations)) return UNSETTLED
  if (use.block <= expected.afterBlock) return USED_BEFORE
  if (use.cancelled)
    return { _tag: "UsedOtherwise", message: "The payer cancelled the authorization.", block: use.block }
  const paid = Option.exists(
    use.transfer,
    ({ from, to, value }) =>
      from === expected.from.toLowerCase() && to === expected.to.toLowerCase() && value === expected.value
  )
  return paid
    ? { _tag: "Paid", transaction: use.transaction, block: use.block }
    : { _tag: "UsedOtherwise", message: "The authorization's nonce was used for another transfer.", block: use.block }
}
