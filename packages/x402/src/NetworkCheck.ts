import type { ProviderError } from "@agentos/core"
import { Effect, Schedule } from "effect"
import type { EvmChain } from "./EvmChain.ts"
import type { Facilitator } from "./facilitator/Facilitator.ts"
import { misconfigured, type OfferedNetwork } from "./PaymentNetwork.ts"

/** Number of retries, over about six seconds, when a chain or facilitator does not answer at startup. */
const RETRIES = 5

const patiently = <A>(question: Effect.Effect<A, ProviderError>): Effect.Effect<A, ProviderError> =>
  Effect.retry(question, {
    while: (error) => error.reason === "Temporary",
    schedule: Schedule.exponential("200 millis"),
    times: RETRIES
  })

/**
 * Checks a token's configuration against the chain: the chain id, the contract's decimals, and the EIP-712
 * domain, recomputed from name, version, chain and address. A payment signed for a domain that is wrong by one
 * letter cannot be settled, and every client would run into that.
 *
 * Fails with `Misconfigured`, naming the difference, or with `Temporary` if the chain does not answer after the
 * retries: terms that were not checked are not offered.
 */
export const domainCheck = Effect.fnUntraced(function* (
  { asset, chainId, config, domainSeparator }: OfferedNetwork,
  chain: EvmChain
): Effect.fn.Return<void, ProviderError> {
  const where = `Payment network ${config.network}`
  const actualChainId = yield* patiently(chain.chainId)
  if (actualChainId !== chainId) return yield* misconfigured(`${where}: rpcUrl leads to chain ${actualChainId}.`)
  const [decimals, separator] = yield* Effect.all([
    patiently(chain.tokenDecimals),
    patiently(chain.tokenDomainSeparator)
  ]).pipe(
    Effect.catchIf(
      (error) => error.reason === "Misconfigured",
      () =>
        misconfigured(
          `${where}: ${asset} is not a token with decimals and DOMAIN_SEPARATOR, or the node denies access.`
        )
    )
  )
  if (decimals !== config.decimals) {
    return yield* misconfigured(`${where}: the token has ${decimals} decimals, not ${config.decimals}.`)
  }
  if (separator !== domainSeparator) {
    return yield* misconfigured(
      `${where}: name ${JSON.stringify(config.name)} and version ${JSON.stringify(config.version)} do not match the ` +
        `EIP-712 domain of ${asset}: its DOMAIN_SEPARATOR is ${separator}, not ${domainSeparator}.`
    )
  }
})

/**
 * Checks that the facilitator supports the network. Fails with `Misconfigured` if it does not. If the
 * facilitator does not answer, this only logs a warning: the server can still serve all else, and payments wait
 * for the facilitator.
 */
export const facilitatorCheck = Effect.fnUntraced(function* (
  { config }: OfferedNetwork,
  facilitator: Facilitator
): Effect.fn.Return<void, ProviderError> {
  const supported = yield* patiently(facilitator.supports(config.network)).pipe(
    Effect.catchIf(
      (error) => error.reason === "Temporary",
      (error) => Effect.as(Effect.logWarning(`Payment network ${config.network}: ${error.message}`), true)
    )
  )
  if (!supported) {
    return yield* misconfigured(
      `Payment network ${config.network}: its facilitator does not support scheme exact of x402 version 2 there.`
    )
  }
})

/** Logs a warning if the refund wallet is empty, since refunds would have to wait. */
export const refundCheck = Effect.fnUntraced(function* (
  { config, refundWallets: [wallet] }: OfferedNetwork,
  chain: EvmChain
): Effect.fn.Return<void, ProviderError> {
  if (wallet === undefined || (yield* patiently(chain.balanceOf(wallet))) > 0n) return
  yield* Effect.logWarning(
    `Payment network ${config.network}: the refund wallet ${wallet} is empty, so no refund can be paid.`
  )
})
