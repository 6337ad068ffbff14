import type { PaymentProof, PaymentTerms, ProviderError, Settlement } from "@agentos/core"
import { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { EvmChain } from "./EvmChain.ts"
import type { AuthorizationUse } from "./TokenLog.ts"

/** What is looked for, and from where. */
export interface SettlementQuery {
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
  /** A use in this block or an earlier one is not a payment made here. */
  readonly afterBlock: bigint
  /** Where to look first. */
  readonly transaction: string | undefined
  /** How many blocks must follow the use before anything is concluded from it. */
  readonly confirmations: number
}

/** What must be seen of a use for it to be the transfer that is looked for. */
export interface ExpectedUse {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** A use in this block or an earlier one is another. */
  readonly afterBlock: bigint
  /** How many blocks must follow the use before anything is concluded from it. */
  readonly confirmations: number
}

/** A value of the proof, which its reader has checked to be hexadecimal, in lower case. */
export const hexOf = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`

/**
 * Finds out from the chain alone what became of an authorization.
 *
 * Paid is the token's own log: AuthorizationUsed of this payer and nonce, directly followed by
 * a Transfer from the payer to us of the whole amount. That the nonce is used proves nothing:
 * a cancelled authorization, or another one signed with the same nonce, leaves it used as well.
 *
 * Unused for ever is a nonce that is unused in a block which is not older than a finalized one
 * whose time is past validBefore: every later block is later still, and the token refuses it there.
 *
 * What a node's state says and its logs do not yet show is `Unsettled`, never a guess.
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
  // A node's logs may lag behind its state. That there is no log is no proof of an earlier use; the state is.
  if (!(yield* chain.isUsed(payer, nonce, afterBlock))) return UNSETTLED
  return latest < afterBlock + BigInt(confirmations) ? UNSETTLED : USED_BEFORE
})

const UNSETTLED: Settlement = { _tag: "Unsettled" }
const USED_BEFORE: Settlement = {
  _tag: "UsedOtherwise",
  message: "The authorization had been used before this payment was taken up."
}

/** What a use of the nonce means when the chain has come as far as `latest`. */
export const judge = (expected: ExpectedUse, use: AuthorizationUse, latest: bigint): Settlement => {
  if (latest < use.block + BigInt(expected.confirmations)) return UNSETTLED
  if (use.block <= expected.afterBlock) return USED_BEFORE
  if (use.cancelled) return { _tag: "UsedOtherwise", message: "The payer cancelled the authorization." }
  const paid = Option.exists(
    use.transfer,
    ({ from, to, value }) =>
      from === expected.from.toLowerCase() && to === expected.to.toLowerCase() && value === expected.value
  )
  return paid
    ? { _tag: "Paid", transaction: use.transaction, block: use.block }
    : { _tag: "UsedOtherwise", message: "The authorization's nonce was used for another transfer." }
}
