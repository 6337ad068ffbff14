import type { ProviderError } from "@agentos/core"
import { Effect, Schedule } from "effect"
import type { EvmChain } from "./EvmChain.ts"
import type { Facilitator } from "./facilitator/Facilitator.ts"
import { misconfigured, type OfferedNetwork } from "./PaymentNetwork.ts"

/** How often a chain or facilitator that does not answer at start-up is asked again, within some six seconds. */
const RETRIES = 5

const patiently = <A>(question: Effect.Effect<A, ProviderError>): Effect.Effect<A, ProviderError> =>
  Effect.retry(question, {
    while: (error) => error.reason === "Temporary",
    schedule: Schedule.exponential("200 millis"),
    times: RETRIES
  })

/**
 * Holds a token's configuration against the chain: its id, the contract's decimals, and the EIP-712
 * domain, recomputed from name, version, chain and address. A payment signed for a domain that is
 * wrong by one letter settles nowhere, and every client would find out for itself.
 *
 * Fails with `Misconfigured` saying what differs, and with `Temporary` when the chain, asked a few
 * times, does not answer: terms that were not checked are not offered.
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
      () => misconfigured(`${where}: ${asset} is no token with decimals and DOMAIN_SEPARATOR, or the node refuses us.`)
    )
  )
  if (decimals !== config.decimals) {
    return yield* misconfigured(`${where}: the token has ${decimals} decimals, not ${config.decimals}.`)
  }
  if (separator !== domainSeparator) {
    return yield* misconfigured(
      `${where}: the EIP-712 domain of ${asset} is not name ${JSON.stringify(config.name)}, version ` +
        `${JSON.stringify(config.version)}: its DOMAIN_SEPARATOR is ${separator}, theirs would be ${domainSeparator}.`
    )
  }
})

/**
 * Asks the facilitator whether it settles on the network. One that says no is `Misconfigured`; one that does
 * not answer is only warned of: it is no reason to serve nothing, and payments wait for it anyway.
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

/** Warns of a refund wallet that holds nothing: whoever is owed money would wait for it. */
export const refundCheck = Effect.fnUntraced(function* (
  { config, refundWallets: [wallet] }: OfferedNetwork,
  chain: EvmChain
): Effect.fn.Return<void, ProviderError> {
  if (wallet === undefined || (yield* patiently(chain.balanceOf(wallet))) > 0n) return
  yield* Effect.logWarning(
    `Payment network ${config.network}: the refund wallet ${wallet} holds nothing, so nobody can be paid back from it.`
  )
})
