import type { PaymentRail, ProviderError } from "@agentos/core"
import { Effect, Option } from "effect"
import type { Hex } from "viem"
import type { EvmChain } from "../chain/EvmChain.ts"
import { transferIn } from "../chain/TransferEvent.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import { candidatesOf } from "./permit2/PermitUse.ts"

/** Reads the transfers of a token in one transaction, between any wallets. A transaction that failed has none. */
export const readTransaction = Effect.fnUntraced(function* (
  chain: EvmChain,
  token: Pick<OfferedNetwork, "asset" | "network">,
  transaction: Hex
): Effect.fn.Return<Effect.Success<ReturnType<PaymentRail["Service"]["readTransfers"]>>, ProviderError> {
  const log = yield* chain.transactionLog(transaction)
  if (Option.isNone(log)) return Option.none()
  const finalized = yield* chain.finalizedBlock
  const transfers = log.value.logs
    .filter(({ address }) => address.toLowerCase() === token.asset.toLowerCase())
    .flatMap((logged) => Option.toArray(transferIn(logged)))
    .map((transfer) => ({
      ...transfer,
      transaction: log.value.transactionHash,
      block: log.value.blockNumber
    }))
  const candidates = candidatesOf(token, transfers)
  return Option.some({
    isFinal: log.value.blockNumber <= finalized.number,
    transfers: transfers.map(({ from, to, value }, place) => ({
      transferId: candidates[place]!.transferId,
      from,
      to,
      amount: value
    }))
  })
})
