import type { ChainTransfer, ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { type EvmChain, LOG_QUESTIONS_MAX, type LoggedTransfer } from "./EvmChain.ts"
import type { OfferedNetwork } from "./PaymentNetwork.ts"
import { hexOf } from "./SettlementSearch.ts"

/** One page of what the chain shows. */
export interface TransferPage {
  readonly transfers: ReadonlyArray<ChainTransfer>
  /** Where the next page begins; null when this one reaches the newest block. */
  readonly nextBlock: bigint | null
}

/** With so many transfers a page is full, and ends with the range of blocks at hand. */
export const PAGE_TRANSFERS_MAX = 1_000

/**
 * Reads the token's transfers to us and from the wallets that pay back, oldest first, in `LOG_QUESTIONS_MAX`
 * questions at most. Transfers of nothing are left out: anybody can have a token write them, in any name.
 */
export const readTransfers = Effect.fnUntraced(function* (
  chain: EvmChain,
  { payTo, refundWallets }: OfferedNetwork,
  fromBlock: bigint
): Effect.fn.Return<TransferPage, ProviderError> {
  const latest = yield* chain.latestBlock
  const sides = [
    { direction: "received", filter: { to: hexOf(payTo) } },
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
    transfers.push(...moved.toSorted((a, b) => inOrder(a.transfer, b.transfer)).map(transferOf))
  }
  return { transfers, nextBlock: null }
})

const inOrder = (a: LoggedTransfer, b: LoggedTransfer): number =>
  a.block === b.block ? a.logIndex - b.logIndex : a.block < b.block ? -1 : 1

const transferOf = ({
  direction,
  transfer: { block, from, to, transaction, value }
}: {
  readonly direction: ChainTransfer["direction"]
  readonly transfer: LoggedTransfer
}): ChainTransfer => ({
  direction,
  transaction,
  block,
  wallet: direction === "received" ? from : to,
  amount: value
})
