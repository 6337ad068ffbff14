import { ProviderError } from "@agentos/core"
import { misconfigured, PROVIDER } from "../network/PaymentNetwork.ts"
import { Data, Effect, Option } from "effect"
import { type Address, formatEther, formatGwei, type Hex, type TransactionReceipt } from "viem"
import { type GasAccount, hex } from "./GasAccount.ts"
import type { GasChain } from "./GasChain.ts"
import { type GasPrice, priceOf } from "./GasPrice.ts"
import { type GasTransaction, GasTransactionStore } from "./GasTransactionStore.ts"

/** Upper bound of the gas of a transfer by authorization, for checks before a transfer is simulated. */
const TRANSFER_GAS = 150_000n

/** Limit of open transactions that are searched for one. More are open only if hundreds are mined per minute. */
export const LIST_MAX = 1_000

/**
 * A call that failed in its simulation, or could not be simulated. The message comes from the node and must not
 * be shown.
 */
export class SimulationFailed extends Data.TaggedError("SimulationFailed")<{
  readonly cause: unknown
  readonly message: string
}> {}

/** Sends transactions from a wallet that other servers use at the same time. */
export interface GasSpender {
  /** Checks that the wallet can pay for a settlement now. Fails with `Misconfigured` if it cannot. */
  readonly solvency: Effect.Effect<void, ProviderError>
  /**
   * Sends a call once: its bytes are signed and stored before they are broadcast, and an open transaction with
   * the same reference is broadcast again instead. `onOpen` runs before the store is called: after that, the
   * transaction may be stored even if an error follows, and any server may then send it. Fails if the
   * simulation fails or needs more than `gasMax`, or if the wallet cannot pay.
   */
  readonly submit: (
    reference: string,
    call: { readonly to: Address; readonly data: Hex; readonly gasMax: bigint },
    onOpen: Effect.Effect<void>
  ) => Effect.Effect<GasTransaction, ProviderError | SimulationFailed>
  /** Returns the open transaction of a reference. */
  readonly find: (reference: string) => Effect.Effect<Option.Option<GasTransaction>>
  /** Returns the receipt of the transaction's version that a block contains. */
  readonly receiptOf: (transaction: GasTransaction) => Effect.Effect<Option.Option<TransactionReceipt>, ProviderError>
}

/** Returns the price of a transaction, after checking that the wallet can pay it. */
const affordable = Effect.fnUntraced(function* (
  account: GasAccount,
  chain: GasChain,
  gas: bigint
): Effect.fn.Return<GasPrice, ProviderError> {
  const { address, ceiling, wallet } = account
  const [market, balance] = yield* Effect.all([chain.market, chain.balance(address)], { concurrency: 2 })
  const price = priceOf(market, ceiling)
  if (price === undefined) {
    return yield* new ProviderError({
      provider: PROVIDER,
      reason: "Temporary",
      message:
        `Gas on ${wallet.network} costs ${formatGwei(market.baseFeePerGas)} gwei, and maxFeePerGasGwei allows at ` +
        `most ${formatGwei(ceiling)}. Nothing was submitted.`
    })
  }
  // The expected cost, not the maximum: most nodes require the maximum, and then report the shortage themselves.
  if (balance < gas * (market.baseFeePerGas + price.maxPriorityFeePerGas)) {
    return yield* misconfigured(shortOfGas(account, balance))
  }
  return price
})

/** Checks that a wallet can pay for a settlement now. Fails with `Misconfigured` if it cannot. */
export const checkSolvency = (account: GasAccount, chain: GasChain): Effect.Effect<void, ProviderError> =>
  Effect.asVoid(affordable(account, chain, TRANSFER_GAS))

export const make = Effect.fnUntraced(function* (
  account: GasAccount,
  chain: GasChain
): Effect.fn.Return<GasSpender, never, GasTransactionStore> {
  const store = yield* GasTransactionStore
  const { address, wallet } = account

  return {
    solvency: checkSolvency(account, chain),
    submit: Effect.fnUntraced(function* (reference, { gasMax, ...call }, onOpen) {
      const estimate = yield* Effect.tryPromise({
        try: () => chain.client.estimateGas({ account: address, ...call, gas: gasMax }),
        catch: (cause) => new SimulationFailed({ cause, message: cause instanceof Error ? cause.message : "" })
      })
      // Some nodes ignore the limit of an estimate.
      if (estimate > gasMax) return yield* new SimulationFailed({ cause: undefined, message: "out of gas" })
      // A storage slot that is in use during the simulation can be empty later, and then costs 20,000 more.
      const gas = (estimate * 5n) / 4n + 25_000n
      const [price, accountNonceMin] = yield* Effect.all([affordable(account, chain, gas), chain.nextNonce(address)], {
        concurrency: 2
      })
      yield* onOpen
      const transaction = yield* store.open({ wallet, reference, accountNonceMin }, (accountNonce) =>
        account.sign({ ...call, gas }, accountNonce, price)
      )
      yield* broadcast(account, chain, transaction)
      return transaction
    }),
    find: (reference) =>
      Effect.map(store.listOpen(wallet, LIST_MAX), (open) =>
        Option.fromUndefinedOr(open.find((transaction) => transaction.reference === reference))
      ),
    receiptOf: Effect.fnUntraced(function* ({ versions }) {
      for (const { hash } of versions.toReversed()) {
        const receipt = yield* chain.receipt(hex(hash))
        if (Option.isSome(receipt)) return receipt
      }
      return Option.none()
    })
  }
})

/** Broadcasts the newest version, and logs why a node did not accept it. The keeper repeats it. */
export const broadcast = Effect.fnUntraced(function* (
  account: GasAccount,
  chain: GasChain,
  { accountNonce, versions }: GasTransaction
): Effect.fn.Return<void> {
  const newest = versions.at(-1)
  if (newest === undefined) return
  const refusal = yield* chain.broadcast(hex(newest.bytes))
  const what = `transaction ${newest.hash}, account nonce ${accountNonce} of gas wallet ${account.address} on ${account.wallet.network}`
  switch (refusal) {
    case undefined:
    case "AlreadyKnown":
    case "NonceTooLow":
      return
    case "InsufficientFunds":
      return yield* Effect.logError(`${what}: ${shortOfGas(account)} The transaction will be retried.`)
    case "Underpriced":
      return yield* Effect.logWarning(`${what}: its price is too low for the chain. It will be repriced.`)
    case "Unclear":
      return yield* Effect.logWarning(`${what}: the node did not confirm that it accepted it. It will be retried.`)
  }
})

/** Describes a shortage of gas for the operator, who must fund the wallet. */
const shortOfGas = ({ address, wallet }: GasAccount, balance?: bigint): string => {
  const held = balance === undefined ? "" : ` Its balance is ${formatEther(balance)}.`
  return `The gas wallet ${address} cannot pay for gas on ${wallet.network}. Send it the chain's native coin.${held}`
}
