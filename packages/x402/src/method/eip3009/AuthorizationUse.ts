import type { ProviderError } from "@agentos/core"
import { Effect, Option } from "effect"
import { concat, type Hex, pad, toEventSelector, toFunctionSelector } from "viem"
import { type BlockOrder, type EvmChain, LOG_QUESTIONS_MAX } from "../../chain/EvmChain.ts"
import { type TokenTransfer, type TransactionLog, transferIn } from "../../chain/TransferEvent.ts"

/** The events of EIP-3009 that show the use of a nonce. */
const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")
const AUTHORIZATION_CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)")

const AUTHORIZATION_STATE = toFunctionSelector("authorizationState(address,bytes32)")

/** The use of an authorization's nonce according to the token's log. */
export interface AuthorizationUse {
  readonly nonce: Hex
  readonly transaction: string
  readonly block: bigint
  /** True if AuthorizationCanceled used up the nonce without a transfer. */
  readonly cancelled: boolean
  /** The Transfer event that directly follows in the token's own log. */
  readonly transfer: Option.Option<TokenTransfer>
}

/** Reads how the nonces of a token are used. Payers and nonces are given in lower case. */
export interface AuthorizationUses {
  /** Returns whether the nonce is used or cancelled as of a block (authorizationState). */
  readonly isUsed: (payer: Hex, nonce: Hex, block: bigint | "latest") => Effect.Effect<boolean, ProviderError>
  /** The same as of an older block; undefined if the node no longer has its state. */
  readonly wasUsed: (payer: Hex, nonce: Hex, block: bigint) => Effect.Effect<boolean | undefined, ProviderError>
  /** Returns the use of the nonce in a transaction; none if the transaction is not mined or did not use it. */
  readonly readUse: (
    transaction: Hex,
    payer: Hex,
    nonce: Hex
  ) => Effect.Effect<Option.Option<AuthorizationUse>, ProviderError>
  /**
   * Returns the use of the nonce in a range of blocks, both ends included. Searches at most `LOG_QUESTIONS_MAX`
   * pieces of it, beginning with the oldest or the newest blocks.
   */
  readonly findUse: (
    payer: Hex,
    nonce: Hex,
    from: bigint,
    to: bigint,
    order?: BlockOrder
  ) => Effect.Effect<Option.Option<AuthorizationUse>, ProviderError>
}

export const make = (chain: EvmChain, asset: Hex): AuthorizationUses => {
  const readUse: AuthorizationUses["readUse"] = (transaction, payer, nonce) =>
    Effect.map(
      chain.transactionLog(transaction),
      Option.flatMap((log) => Option.fromUndefinedOr(usesIn(log, asset, payer).find((use) => use.nonce === nonce)))
    )

  const stateCall = (payer: Hex, nonce: Hex): Hex => concat([AUTHORIZATION_STATE, pad(payer), nonce])

  return {
    isUsed: (payer, nonce, block) => Effect.map(chain.readWord(stateCall(payer, nonce), block), (word) => word !== 0n),
    wasUsed: (payer, nonce, block) =>
      Effect.map(chain.findWord(stateCall(payer, nonce), block), (word) =>
        word === undefined ? undefined : word !== 0n
      ),
    readUse,
    findUse: Effect.fnUntraced(function* (payer, nonce, from, to, order) {
      let count = 0
      for (const range of chain.ranges(from, to, order)) {
        if (++count > LOG_QUESTIONS_MAX) break
        const [use] = yield* chain.logs(range, [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], pad(payer), nonce])
        // Its receipt may be missing: a reorganization removed the block, or the node has not indexed all of it yet.
        if (typeof use?.transactionHash === "string") return yield* readUse(use.transactionHash, payer, nonce)
      }
      return Option.none()
    })
  }
}

/**
 * Returns every use of the payer's authorizations in a transaction, in the order of the log. The payer is given
 * in lower case.
 */
const usesIn = (receipt: TransactionLog, asset: string, payer: Hex): ReadonlyArray<AuthorizationUse> => {
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === asset.toLowerCase())
  return own.flatMap(({ logIndex, topics: [event, authorizer, nonce] }) => {
    const isUse = event === AUTHORIZATION_USED || event === AUTHORIZATION_CANCELED
    if (!isUse || authorizer !== pad(payer) || nonce === undefined) return []
    const next = own.find((log) => log.logIndex === logIndex + 1)
    return [
      {
        nonce,
        transaction: receipt.transactionHash,
        block: receipt.blockNumber,
        cancelled: event === AUTHORIZATION_CANCELED,
        transfer: next === undefined ? Option.none() : transferIn(next)
      }
    ]
  })
}
