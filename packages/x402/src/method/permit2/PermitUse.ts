import { createHash } from "node:crypto"
import type { CandidateTransfer, ProviderError } from "@agentos/core"
import { Effect, Option } from "effect"
import { type Hex, pad, parseAbi, type RpcLog, toEventSelector } from "viem"
import { getTransaction, readContract } from "viem/actions"
import { type BlockSpan, findBeginning } from "../../chain/BlockSearch.ts"
import { type EvmChain, LOG_QUESTIONS_MAX } from "../../chain/EvmChain.ts"
import { isMissingState } from "../../chain/RpcTransport.ts"
import { TRANSFER, transferIn } from "../../chain/TransferEvent.ts"
import type { OfferedNetwork } from "../../network/PaymentNetwork.ts"
import { PERMIT2, PERMIT2_PROXY } from "../../network/Permit2Address.ts"
import { executedBy } from "./PermitTransfer.ts"

/** Permit2's SignatureTransfer: the nonces of an owner are bits of words, used in any order. */
const abi = parseAbi(["function nonceBitmap(address owner, uint256 word) view returns (uint256)"])

/** A token with EIP-3009 logs this directly before the transfer of an authorization. Permit2 made no such transfer. */
const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")

/** A transfer of an owner. Addresses are in lower case. */
export interface OwnersTransfer {
  readonly transaction: string
  readonly block: bigint
  readonly from: string
  readonly to: string
  readonly value: bigint
}

/** The use of a nonce in a block of a span, and the transaction that is said to have used it. */
export interface PermitUse {
  readonly span: BlockSpan
  readonly owner: Hex
  readonly nonce: Hex
  readonly transaction: string | undefined
}

const PROXY = PERMIT2_PROXY.toLowerCase()

/** Number of transactions whose input is read to find the one with a nonce. */
const INPUTS_MAX = 10

/**
 * Reads how Permit2's nonces are used. No event names the nonce of a transfer, so the block of the use is found by the state:
 * Permit2 sets the bit of a nonce in the transaction that transfers. A node that does not keep the states of older blocks leaves
 * several blocks to choose from.
 */
export const make = (chain: EvmChain) => {
  const readBit = (owner: Hex, nonce: Hex, block: bigint | "latest", orElse: (cause: unknown) => undefined) =>
    Effect.map(
      chain.ask((client) =>
        readContract(client, {
          address: PERMIT2,
          abi,
          functionName: "nonceBitmap",
          args: [owner, BigInt(nonce) >> 8n],
          ...(block === "latest" ? { blockTag: block } : { blockNumber: block })
        }).catch(orElse)
      ),
      (word) => (word === undefined ? undefined : ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n)
    )

  const isUsed = (owner: Hex, nonce: Hex, block: bigint | "latest"): Effect.Effect<boolean, ProviderError> =>
    Effect.map(readBit(owner, nonce, block, rethrow), (used) => used === true)

  /** Reads the transfers of an owner in the blocks of a span; undefined if it has too many blocks for one search. */
  const logsIn = Effect.fnUntraced(function* ({ after, until }: BlockSpan, owner: Hex) {
    const topics = [[TRANSFER, AUTHORIZATION_USED], pad(owner)]
    if (until - after === 1n) return yield* chain.blockLogs(until, topics)
    const logs: Array<RpcLog> = []
    let count = 0
    for (const range of chain.ranges(after + 1n, until)) {
      if (++count > LOG_QUESTIONS_MAX) return undefined
      logs.push(...(yield* chain.logs(range, topics)))
    }
    return logs
  })

  /**
   * Returns whether a transaction executed the authorization with this nonce, by its input: a call of x402's proxy executes the one
   * authorization that its input has. Anyone can send any other call with any nonce in its input, so `own` proves nothing.
   */
  const readRelation = (nonce: Hex, transaction: string) =>
    Effect.map(
      chain.ask((client) => getTransaction(client, { hash: `0x${transaction.slice(2)}` })),
      ({ input, to }) => {
        if (input.includes(nonce.slice(2))) return "own"
        return to?.toLowerCase() === PROXY ? "other" : "unknown"
      }
    )

  /**
   * Returns the transaction that executed the authorization with this nonce most likely: the one that is named, if it is one of
   * them, or the first one whose input has the nonce. `others` executed another one.
   */
  const sort = Effect.fnUntraced(function* (
    transactions: ReadonlySet<string>,
    nonce: Hex,
    named: string | undefined
  ): Effect.fn.Return<{ readonly first: string | undefined; readonly others: ReadonlySet<string> }, ProviderError> {
    const others = new Set<string>()
    if (named !== undefined && transactions.has(named)) return { first: named, others }
    let first: string | undefined
    for (const transaction of [...transactions].slice(0, INPUTS_MAX)) {
      const relation = yield* readRelation(nonce, transaction)
      if (relation === "own") first ??= transaction
      if (relation === "other") others.add(transaction)
    }
    return { first, others }
  })

  return {
    isUsed,
    /** Returns the blocks that may have used the nonce, up to `last`; undefined if it was used in `first` or before. */
    findSpan: (owner: Hex, nonce: Hex, first: bigint, last: bigint) =>
      findBeginning(first, last, (block) => readBit(owner, nonce, block, unlessMissing)),
    /**
     * Returns the matching transfers of the owner in the blocks that may have used the nonce, the likeliest first, without those
     * that are known to be of another authorization; undefined if there are too many blocks.
     */
    findTransfers: Effect.fnUntraced(function* (
      { nonce, owner, span, transaction }: PermitUse,
      matches: (transfer: OwnersTransfer) => boolean
    ): Effect.fn.Return<ReadonlyArray<OwnersTransfer> | undefined, ProviderError> {
      const logs = yield* logsIn(span, owner)
      if (logs === undefined) return undefined
      const transfers = transfersIn(logs).filter(matches)
      const transactions = new Set(transfers.map((transfer) => transfer.transaction))
      const { first, others } = yield* sort(transactions, nonce, transaction)
      return [
        ...transfers.filter((transfer) => transfer.transaction === first),
        ...transfers.filter((transfer) => transfer.transaction !== first && !others.has(transfer.transaction))
      ]
    }),
    /**
     * Returns the transfer of less than the authorized amount by a call of x402's proxy that executed the authorization itself: the
     * token kept the rest. Nothing else proves that the payer paid the amount.
     */
    findShort: Effect.fnUntraced(function* (
      { nonce, owner, span }: Omit<PermitUse, "transaction">,
      { asset, to, value }: { readonly asset: string; readonly to: string; readonly value: bigint }
    ): Effect.fn.Return<OwnersTransfer | undefined, ProviderError> {
      const logs = (yield* logsIn(span, owner)) ?? []
      const shorter = transfersIn(logs).filter((one) => one.to === to && one.value < value)
      for (const one of shorter.slice(0, INPUTS_MAX)) {
        const sent = yield* chain.ask((client) => getTransaction(client, { hash: `0x${one.transaction.slice(2)}` }))
        const executed = sent.to?.toLowerCase() === PROXY ? executedBy(sent.input) : undefined
        if (
          executed !== undefined &&
          executed.nonce === BigInt(nonce) &&
          executed.value === value &&
          executed.from === owner &&
          executed.to === to &&
          executed.asset === asset
        )
          return one
      }
      return undefined
    })
  }
}

export type PermitUses = ReturnType<typeof make>

const rethrow = (cause: unknown): undefined => {
  throw cause
}

const unlessMissing = (cause: unknown): undefined => {
  if (!isMissingState(cause)) throw cause
}

/** Returns the transfers in a log that no EIP-3009 authorization made, in its order. */
const transfersIn = (logs: ReadonlyArray<RpcLog>): ReadonlyArray<OwnersTransfer> => {
  const place = (block: string | null, index: number) => `${block} ${index}`
  const authorized = new Set(
    logs.flatMap(({ blockNumber, logIndex, topics }) =>
      topics[0] === AUTHORIZATION_USED ? [place(blockNumber, Number(logIndex) + 1)] : []
    )
  )
  return logs.flatMap(({ blockNumber, logIndex, transactionHash: transaction, ...log }) =>
    blockNumber === null || transaction === null || authorized.has(place(blockNumber, Number(logIndex)))
      ? []
      : Option.toArray(transferIn(log)).map((transfer) => ({ ...transfer, transaction, block: BigInt(blockNumber) }))
  )
}

/** Returns equal transfers as candidates of a payment. */
export const candidatesOf = (
  { asset, network }: Pick<OfferedNetwork, "asset" | "network">,
  transfers: ReadonlyArray<OwnersTransfer>
): ReadonlyArray<CandidateTransfer> => {
  const seen = new Map<string, number>()
  return transfers.map(({ from, to, transaction, value }) => {
    const ordinal = seen.get(transaction) ?? 0
    seen.set(transaction, ordinal + 1)
    // The id does not depend on the position of the transaction, which a reorganization changes, nor on other events of the
    // transaction, which its sender can choose: equal transfers in one transaction are told apart by their order.
    const identity = [network, asset.toLowerCase(), transaction, from, to, value, ordinal].join(" ")
    return { transferId: createHash("sha256").update(identity).digest("hex"), transaction }
  })
}
