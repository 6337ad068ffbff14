import type { ProviderError, Settlement } from "@agentos/core"
import { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { EvmChain } from "../../chain/EvmChain.ts"
import { transferIn } from "../../chain/TransferEvent.ts"
import { hexOf } from "../../network/AuthorizedTransfer.ts"
import type { OfferedNetwork } from "../../network/PaymentNetwork.ts"
import type { OwnTransferQuery, PaymentQuery, SettlementQuery } from "../TransferMethod.ts"
import { candidatesOf, type OwnersTransfer, type PermitUses } from "./PermitUse.ts"

/** The parts that a search uses. */
interface Parts {
  readonly offered: OfferedNetwork
  readonly chain: EvmChain
  readonly uses: PermitUses
}

const UNSETTLED = { _tag: "Unsettled" } as const
const USED_BEFORE = {
  _tag: "UsedOtherwise",
  message: "The authorization was used before the server claimed this payment."
} as const
const NO_TRANSFER = "The authorization's nonce was invalidated, or used for another transfer."

interface UseQuery {
  readonly owner: Hex
  readonly nonce: Hex
  readonly afterBlock: bigint
  readonly confirmations: number
  readonly validBefore: number
  readonly transaction: string | undefined
  readonly matches: (transfer: OwnersTransfer) => boolean
  /** The payment of which the token may have kept a fee, if that matters. */
  readonly payment?: { readonly to: string; readonly value: bigint }
}

/** Returns the confirmed transfers that the use of a nonce can have made, at least one, or the settlement without any. */
const findUse = Effect.fnUntraced(function* (
  { chain, offered, uses }: Parts,
  { afterBlock, confirmations, matches, nonce, owner, payment, transaction, validBefore }: UseQuery
): Effect.fn.Return<
  | Settlement
  | {
      readonly _tag: "Used"
      readonly transfers: readonly [OwnersTransfer, ...Array<OwnersTransfer>]
      readonly hasUnconfirmed: boolean
      readonly isShort?: true
    },
  ProviderError
> {
  // In this order, so that the nonce is read in a block that is not older than the finalized one.
  const finalized = yield* chain.finalizedBlock
  const latest = yield* chain.latestBlock
  if (!(yield* uses.isUsed(owner, nonce, latest))) {
    return { _tag: "Unused", expired: latest >= finalized.number && finalized.timestamp > BigInt(validBefore) }
  }
  const confirmed = latest - BigInt(confirmations)
  const span = yield* uses.findSpan(owner, nonce, afterBlock, latest)
  if (span === undefined) return confirmed < afterBlock ? UNSETTLED : USED_BEFORE
  if (confirmed <= span.after) return UNSETTLED
  const found = yield* uses.findTransfers({ span, owner, nonce, transaction: transaction?.toLowerCase() }, matches)
  const [first, ...others] = found?.filter(({ block }) => block <= confirmed) ?? []
  if (first !== undefined) {
    const hasUnconfirmed = found !== undefined && others.length + 1 < found.length
    return { _tag: "Used", transfers: [first, ...others], hasUnconfirmed }
  }
  if (found?.length === 0 && payment !== undefined) {
    const short = yield* uses.findShort({ span, owner, nonce }, { ...payment, asset: hexOf(offered.asset) })
    if (short !== undefined)
      return short.block <= confirmed
        ? { _tag: "Used", transfers: [short], hasUnconfirmed: false, isShort: true }
        : UNSETTLED
  }
  const isFinal =
    found?.length === 0 &&
    finalized.number > span.after &&
    (span.until <= finalized.number || (yield* uses.isUsed(owner, nonce, finalized.number)))
  return isFinal ? { _tag: "UsedOtherwise", message: NO_TRANSFER, block: span.until } : UNSETTLED
})

/**
 * Determines the state of an authorization from the chain alone.
 *
 * `Paid` requires that a block which may have used the nonce has a Transfer of the whole amount from the payer to us: the block
 * of the use, if the node has the states by which it is found. A transfer by a call of x402's proxy with another nonce is none. If
 * the payer invalidated the nonce in a block with another transfer, for example in a batch, that one is a candidate too. It pays
 * once, because it proves one operation at most. Of less than the amount only one counts that a call of x402's proxy made by this
 * very authorization: the token kept a fee.
 *
 * `Unused` is final (`expired`) if the nonce is unused in a block at or after a finalized block whose time is past the deadline:
 * Permit2 rejects the authorization in every later block. A use without a transfer is final once its block is finalized.
 */
export const findSettlement = Effect.fnUntraced(function* (
  parts: Parts,
  { proof, terms, ...query }: SettlementQuery
): Effect.fn.Return<Settlement, ProviderError> {
  const payTo = hexOf(terms.payTo)
  const found = yield* findUse(parts, {
    ...query,
    owner: hexOf(proof.payer),
    nonce: hexOf(proof.nonce),
    validBefore: proof.validBefore,
    matches: ({ to, value }) => to === payTo && value === terms.amount,
    payment: { to: payTo, value: terms.amount }
  })
  if (found._tag !== "Used") return found
  const [{ block, transaction }] = found.transfers
  const candidates = candidatesOf(parts.offered, found.transfers)
  return {
    _tag: "Paid",
    transaction,
    block,
    candidates,
    ...(found.hasUnconfirmed && { hasUnconfirmed: true }),
    ...(found.isShort && { isShort: true as const })
  }
})

/**
 * Returns the block in which the chain shows a settled payment now. After a reorganization, it may be in another transaction than
 * the one first seen.
 */
export const findPayment = Effect.fnUntraced(function* (
  parts: Parts,
  { proof, terms, ...query }: PaymentQuery
): Effect.fn.Return<Option.Option<bigint>, ProviderError> {
  const [payer, payTo, token] = [hexOf(proof.payer), hexOf(terms.payTo), hexOf(parts.offered.asset)]
  const log = yield* parts.chain.transactionLog(hexOf(query.transaction))
  if (Option.isSome(log)) {
    const { blockNumber, logs } = log.value
    const transfers = logs.flatMap((one) => (hexOf(one.address) === token ? Option.toArray(transferIn(one)) : []))
    const isThere = transfers.some(({ from, to, value }) => from === payer && to === payTo && value === terms.amount)
    if (isThere && blockNumber > query.afterBlock) return Option.some(blockNumber)
  }
  const payment = { ...query, proof: { ...proof, validBefore: 0 }, terms, confirmations: 0 }
  const settlement = yield* findSettlement(parts, payment)
  return settlement._tag === "Paid" ? Option.some(settlement.block) : Option.none()
})

/** The wallet's key signs nothing else under this nonce, so its use is the transfer, of which a token may keep a fee. */
export const findOwnTransfer = Effect.fnUntraced(function* (
  parts: Parts,
  { from, to: recipient, value: _, ...query }: OwnTransferQuery
): Effect.fn.Return<Settlement, ProviderError> {
  const found = yield* findUse(parts, {
    ...query,
    owner: from,
    validBefore: Number.MAX_SAFE_INTEGER,
    matches: ({ to }) => to === hexOf(recipient)
  })
  if (found._tag !== "Used") return found
  const [{ block, transaction }] = found.transfers
  return { _tag: "Paid", transaction, block }
})
