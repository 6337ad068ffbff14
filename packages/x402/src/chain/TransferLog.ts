import type { ChainTransfer, ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { type EvmChain, LOG_QUESTIONS_MAX, type LoggedTransfer } from "./EvmChain.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"

export interface TransferPage {
  readonly transfers: ReadonlyArray<ChainTransfer>
  /** First block of the next page; null if this page reaches the newest block. */
  readonly nextBlock: bigint | null
}

/** A page with this many transfers is full, and ends with the current range of blocks. */
export const PAGE_TRANSFERS_MAX = 1_000

/**
 * Reads the token's transfers to us and from the refund wallets, oldest first, in at most `LOG_QUESTIONS_MAX`
 * requests. Transfers of zero are skipped: anyone can make a token emit them in any name. `ownWallets` has all our wallets on
 * the network, in lower case.
 */
export const readTransfers = Effect.fnUntraced(function* (
  chain: EvmChain,
  { recipients, refundWallets }: OfferedNetwork,
  ownWallets: ReadonlySet<string>,
  fromBlock: bigint
): Effect.fn.Return<TransferPage, ProviderError> {
  const latest = yield* chain.latestBlock
  const sides = [
    { direction: "received", filter: { to: recipients } },
    ...(refundWallets.length === 0 ? [] : [{ direction: "refunded", filter: { from: refundWallets } } as const])
  ] as const
  const transfers: Array<ChainTransfer> = []
  let questions = 0
  for (const range of chain.ranges(fromBlock, latest)) {
    if (transfers.length >= PAGE_TRANSFERS_MAX || questions + sides.length > LOG_QUESTIONS_MAX) {
      return { transfers, nextBlock: range.from }
    }
    questions += sides.length
    const found = yield* Effect.forEach(
      sides,
      ({ direction, filter }) =>
        Effect.map(chain.readTransfers(filter, range), (logged) => logged.map((transfer) => ({ direction, transfer }))),
      { concurrency: sides.length }
    )
    const moved = found.flat().filter(({ transfer }) => transfer.value > 0n)
    transfers.push(...moved.toSorted((a, b) => inOrder(a.transfer, b.transfer)).map(transferOf(ownWallets)))
  }
  return { transfers, nextBlock: null }
})

const inOrder = (a: LoggedTransfer, b: LoggedTransfer): number =>
  a.block === b.block ? a.logIndex - b.logIndex : a.block < b.block ? -1 : 1

const transferOf =
  (ownWallets: ReadonlySet<string>) =>
  ({
    direction,
    transfer: { block, from, to, transaction, value }
  }: {
    readonly direction: ChainTransfer["direction"]
    readonly transfer: LoggedTransfer
  }): ChainTransfer => {
    const [wallet, ownWallet] = direction === "received" ? [from, to] : [to, from]
    const isOwn = ownWallets.has(wallet)
    return { direction, transaction, block, wallet, ...(isOwn ? { ownWallet } : {}), amount: value }
  }
