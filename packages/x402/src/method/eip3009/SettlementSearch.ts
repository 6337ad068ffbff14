import type { ProviderError, Settlement } from "@agentos/core"
import { Effect, Option } from "effect"
import type { EvmChain } from "../../chain/EvmChain.ts"
import { hexOf } from "../../network/AuthorizedTransfer.ts"
import type { OwnTransferQuery, PaymentQuery, SettlementQuery } from "../TransferMethod.ts"
import type { AuthorizationUse, AuthorizationUses } from "./AuthorizationUse.ts"

/** The properties that a use must have to be the expected transfer. */
interface ExpectedUse {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** A use in this block or an earlier one does not count. */
  readonly afterBlock: bigint
  /** Number of blocks that must follow a use before it decides anything. */
  readonly confirmations: number
}

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
 * If a node's state shows a use that its logs do not show, and the older state does not explain it, the result is `Unsettled`,
 * never a guess.
 */
export const findSettlement = Effect.fnUntraced(function* (
  chain: EvmChain,
  uses: AuthorizationUses,
  query: SettlementQuery
): Effect.fn.Return<Settlement, ProviderError> {
  const { afterBlock, confirmations, proof, terms, transaction } = query
  const expected = { from: proof.payer, to: terms.payTo, value: terms.amount, afterBlock, confirmations }
  const payer = hexOf(proof.payer)
  const nonce = hexOf(proof.nonce)

  if (transaction !== undefined) {
    const [use, latest] = yield* Effect.all([uses.readUse(hexOf(transaction), payer, nonce), chain.latestBlock], {
      concurrency: 2
    })
    if (Option.isSome(use)) return judge(expected, use.value, latest)
  }

  // In this order, so that the nonce is read in a block that is not older than the finalized one.
  const finalized = yield* chain.finalizedBlock
  const latest = yield* chain.latestBlock
  if (!(yield* uses.isUsed(payer, nonce, latest))) {
    return { _tag: "Unused", expired: latest >= finalized.number && finalized.timestamp > BigInt(proof.validBefore) }
  }
  const use = yield* uses.findUse(payer, nonce, afterBlock + 1n, latest)
  if (Option.isSome(use)) return judge(expected, use.value, latest)
  // A node's logs may lag behind its state. A missing log does not prove an earlier use. The state does, but nodes drop old ones.
  if ((yield* uses.wasUsed(payer, nonce, afterBlock)) !== true) return UNSETTLED
  return latest < afterBlock + BigInt(confirmations) ? UNSETTLED : USED_BEFORE
})

const UNSETTLED: Settlement = { _tag: "Unsettled" }
const USED_BEFORE: Settlement = {
  _tag: "UsedOtherwise",
  message: "The authorization was used before the server claimed this payment."
}

/**
 * Returns the block in which the chain shows a settled payment now. After a reorganization, the authorization may be in
 * another transaction than the one first seen.
 */
export const findPayment = Effect.fnUntraced(function* (
  chain: EvmChain,
  uses: AuthorizationUses,
  { afterBlock, proof, terms, transaction }: PaymentQuery
): Effect.fn.Return<Option.Option<bigint>, ProviderError> {
  const [payer, nonce] = [hexOf(proof.payer), hexOf(proof.nonce)]
  const expected = { from: payer, to: terms.payTo, value: terms.amount, afterBlock, confirmations: 0 }
  const use = yield* Effect.flatMap(
    uses.readUse(hexOf(transaction), payer, nonce),
    Option.match({
      onSome: Effect.succeedSome,
      onNone: () =>
        Effect.flatMap(chain.latestBlock, (latest) =>
          uses.findUse(payer, nonce, afterBlock + 1n, latest, "oldest first")
        )
    })
  )
  return Option.flatMap(use, (found) =>
    judge(expected, found, found.block)._tag === "Paid" ? Option.some(found.block) : Option.none()
  )
})

/** Searches the newest blocks first: the transfer may come long after `afterBlock`, and is searched for soon after it. */
export const findOwnTransfer = Effect.fnUntraced(function* (
  chain: EvmChain,
  uses: AuthorizationUses,
  { nonce, transaction, ...expected }: OwnTransferQuery
): Effect.fn.Return<Settlement, ProviderError> {
  const { afterBlock, from } = expected
  if (transaction !== undefined) {
    const use = yield* uses.readUse(hexOf(transaction), from, nonce)
    if (Option.isSome(use)) return judge(expected, use.value, yield* chain.latestBlock)
  }
  const latest = yield* chain.latestBlock
  if (!(yield* uses.isUsed(from, nonce, latest))) return { _tag: "Unused", expired: false }
  const use = yield* uses.findUse(from, nonce, afterBlock + 1n, latest, "newest first")
  return Option.isSome(use) ? judge(expected, use.value, latest) : UNSETTLED
})

/** Returns the meaning of a use of the nonce when `latest` is the newest block. */
const judge = (expected: ExpectedUse, use: AuthorizationUse, latest: bigint): Settlement => {
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
