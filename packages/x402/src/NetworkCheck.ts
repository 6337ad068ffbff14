import type { ProviderError } from "@agentos/core"
import { Context, Effect, Schedule } from "effect"
import { type EvmChain, make } from "./chain/EvmChain.ts"
import { approvalText } from "./method/Approval.ts"
import type { Facilitator } from "./facilitator/Facilitator.ts"
import type { TransferMethod } from "./method/TransferMethod.ts"
import { transferMethod } from "./method/TransferMethods.ts"
import { SPONSORING_EXTENSIONS } from "./header/GasSponsoring.ts"
import { misconfigured, offer, type OfferedNetwork, type PaymentNetwork } from "./network/PaymentNetwork.ts"

/** Number of retries when a chain or facilitator does not answer: over about six seconds at startup. */
const Retries = Context.Reference<number>("@agentos/x402/NetworkCheck/Retries", { defaultValue: () => 5 })

const patiently = <A>(question: Effect.Effect<A, ProviderError>): Effect.Effect<A, ProviderError> =>
  Effect.flatMap(Retries, (times) =>
    Effect.retry(question, {
      while: (error) => error.reason === "Temporary",
      schedule: Schedule.exponential("200 millis"),
      times
    })
  )

/**
 * Checks a token's configuration against the chain: the chain id, the contract's decimals and symbol, and the requirements of
 * the transfer method.
 *
 * Fails with `Misconfigured`, naming the difference, or with `Temporary` if the chain does not answer after the
 * retries: terms that were not checked are not offered.
 */
export const tokenCheck = Effect.fnUntraced(function* (
  { asset, chainId, config }: OfferedNetwork,
  chain: EvmChain,
  method: TransferMethod
): Effect.fn.Return<void, ProviderError> {
  const where = `Payment network ${config.network}`
  const actualChainId = yield* patiently(chain.chainId)
  if (actualChainId !== chainId) return yield* misconfigured(`${where}: rpcUrl leads to chain ${actualChainId}.`)
  const decimals = yield* Effect.catchIf(
    patiently(chain.tokenDecimals),
    (error) => error.reason === "Misconfigured",
    () => misconfigured(`${where}: ${asset} is not a token with decimals, or the node denies access.`)
  )
  if (decimals !== config.decimals) {
    return yield* misconfigured(`${where}: the token has ${decimals} decimals, not ${config.decimals}.`)
  }
  if (config.symbol !== undefined) {
    const symbol = yield* Effect.catchIf(
      patiently(chain.tokenSymbol),
      (error) => error.reason === "Misconfigured",
      () => misconfigured(`${where}: ${asset} is not a token with a symbol, or the node denies access.`)
    )
    if (symbol !== config.symbol) {
      return yield* misconfigured(
        `${where}: the token has the symbol ${JSON.stringify(symbol)}, not ${JSON.stringify(config.symbol)}.`
      )
    }
  }
  yield* patiently(method.check)
})

/**
 * Checks that the facilitator supports the network. Fails with `Misconfigured` if it does not, and with `Temporary` if it
 * does not answer after the retries.
 */
export const facilitatorCheck = Effect.fnUntraced(function* (
  { config }: OfferedNetwork,
  facilitator: Facilitator
): Effect.fn.Return<void, ProviderError> {
  const { exact, gasSponsoring } = yield* patiently(facilitator.supports(config.network))
  if (!exact) {
    return yield* misconfigured(
      `Payment network ${config.network}: its facilitator does not support scheme exact of x402 version 2 there.`
    )
  }
  const sponsoring = config.gasSponsoring
  if (sponsoring !== undefined && !gasSponsoring.includes(sponsoring)) {
    return yield* misconfigured(
      `Payment network ${config.network}: its facilitator does not list the extension ${SPONSORING_EXTENSIONS[sponsoring]}, ` +
        `which gasSponsoring ${sponsoring} requires.`
    )
  }
})

/** The refund wallet, as far as refunds depend on it. */
export interface RefundReadiness {
  readonly wallet: string
  /** In base units of the token. */
  readonly balance: bigint
  /** Describes the transaction that the wallet must send before it can pay its whole balance; undefined without one. */
  readonly approval: string | undefined
}

/** Returns the current refund wallet; undefined without one. */
const refundReadiness = Effect.fnUntraced(function* (
  offered: OfferedNetwork,
  chain: EvmChain,
  method: TransferMethod
): Effect.fn.Return<RefundReadiness | undefined, ProviderError> {
  const [wallet] = offered.refundWallets
  if (wallet === undefined) return undefined
  const balance = yield* patiently(chain.balanceOf(wallet))
  const missing = yield* patiently(method.findMissingApproval(wallet, balance > 0n ? balance : 1n))
  return { wallet, balance, approval: missing && approvalText(wallet, offered, missing) }
})

/**
 * The checks of a rail that opens. A facilitator that does not answer, and a refund wallet that can't pay, are only logged:
 * the server can still serve all else, and payments or refunds wait.
 */
export const openingCheck = Effect.fnUntraced(function* (
  offered: OfferedNetwork,
  chain: EvmChain,
  method: TransferMethod,
  facilitator: Facilitator
): Effect.fn.Return<void, ProviderError> {
  const { network } = offered.config
  const refund = yield* refundReadiness(offered, chain, method)
  if (refund?.balance === 0n) {
    yield* Effect.logWarning(
      `Payment network ${network}: the refund wallet ${refund.wallet} is empty, so no refund can be paid.`
    )
  }
  if (refund?.approval !== undefined) {
    yield* Effect.logWarning(`Payment network ${network}: no refund can be paid. ${refund.approval}`)
  }
  yield* Effect.catchIf(
    facilitatorCheck(offered, facilitator),
    (error) => error.reason === "Temporary",
    (error) => Effect.logWarning(`Payment network ${network}: ${error.message}`)
  )
})

const once = Effect.provideService(Retries, 0)

/** The connections and wallets of a network, as checks that change nothing and can run apart. */
export interface NetworkChecks {
  /** See `tokenCheck`. */
  readonly token: Effect.Effect<void, ProviderError>
  /** Whether payments can be submitted, and the facilitator's or gas wallet's problem if not. */
  readonly facilitator: Effect.Effect<void, ProviderError>
  /** Base units of the token in a base unit of prices. */
  readonly unitsPerPriceUnit: bigint
  /** The refund wallet, with its balance also in base units of prices; undefined without a wallet. */
  readonly refund: Effect.Effect<(RefundReadiness & { readonly priceUnits: bigint }) | undefined, ProviderError>
}

/** Makes the checks of a network, which do not retry. Fails if its configuration contradicts itself. */
export const networkChecks = (
  network: PaymentNetwork,
  facilitator: (offered: OfferedNetwork) => Effect.Effect<void, ProviderError>
): Effect.Effect<NetworkChecks, ProviderError> =>
  Effect.map(offer(network), (offered) => {
    const chain = make(offered)
    const method = transferMethod(offered, chain)
    return {
      unitsPerPriceUnit: offered.unitsPerPriceUnit,
      token: once(tokenCheck(offered, chain, method)),
      facilitator: once(facilitator(offered)),
      refund: Effect.map(
        once(refundReadiness(offered, chain, method)),
        (found) => found && { ...found, priceUnits: found.balance / offered.unitsPerPriceUnit }
      )
    }
  })
