import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { size } from "viem"
import type { EvmChain } from "../../chain/EvmChain.ts"
import { misconfigured, type OfferedNetwork } from "../../network/PaymentNetwork.ts"
import { ECDSA_BYTES, MULTICALL3, splitSignature } from "../../network/SimulatedCall.ts"
import { domainSeparator, EMPTY_SEPARATOR } from "../../network/TypedDomain.ts"
import { domainCheck, domainOf } from "../TokenDomain.ts"
import type { TransferMethod } from "../TransferMethod.ts"
import * as AuthorizationUse from "./AuthorizationUse.ts"
import * as SettlementSearch from "./SettlementSearch.ts"
import { digest } from "./TransferAuthorization.ts"
import { differ, probeCalls, transferCall } from "./TransferCall.ts"

/**
 * The transfer method `eip3009`: the token itself executes the payer's authorization (transferWithAuthorization of
 * EIP-3009), and its log names the nonce of each.
 */
export const make = (offered: OfferedNetwork, chain: EvmChain): TransferMethod => {
  const { asset, config } = offered
  const domain = domainOf(offered)
  const separator = domainSeparator(domain)
  const garbledName = garble(domain.name)
  const uses = AuthorizationUse.make(chain, asset)

  return {
    name: "eip3009",
    extra: {
      name: config.name,
      ...(config.version === undefined ? {} : { version: config.version }),
      assetTransferMethod: "eip3009",
      // Not in the specification: thirdweb asks its own service otherwise.
      primaryType: "TransferWithAuthorization"
    },
    digest: (transfer) => digest(separator, transfer),
    garbledDigest: (transfer) =>
      garbledName === domain.name ? undefined : digest(domainSeparator({ ...domain, name: garbledName }), transfer),
    bareDigest: (transfer) => digest(EMPTY_SEPARATOR, transfer),
    findFormFlaw: (signature) => {
      const bytes = splitSignature(signature)?.bytes ?? "0x"
      return size(bytes) !== ECDSA_BYTES || /1[bc]$/i.test(bytes)
        ? undefined
        : "A signature of 65 bytes must end with 27 or 28, because facilitators pass it on as r, s and v."
    },
    payloadOf: ({ validAfter, validBefore, value, ...transfer }, signature) => ({
      signature,
      authorization: {
        ...transfer,
        value: value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString()
      }
    }),
    readAllowance: () => Effect.succeed({ allowance: null }),
    findMissingApproval: () => Effect.succeed(undefined),
    findAllowanceFlaw: () => Effect.succeed(undefined),
    simulate: Effect.fnUntraced(function* (transfer, signature) {
      const { succeeded } = yield* chain.simulate(transferCall(asset, transfer, signature))
      if (succeeded) return undefined
      // The block that would include the transfer is newer.
      yield* chain.requireTimeAfter(transfer.validAfter)
      return "The simulated transfer failed on the chain."
    }),
    isUsed: uses.isUsed,
    findSettlement: (query) => SettlementSearch.findSettlement(chain, uses, query),
    findPayment: (query) => SettlementSearch.findPayment(chain, uses, query),
    findOwnTransfer: (query) => SettlementSearch.findOwnTransfer(chain, uses, query),
    check: Effect.andThen(domainCheck(offered, chain, separator), smartAccountCheck(offered, chain))
  }
}

/** Returns the text that a client reads which decodes UTF-8 as Latin-1, for example by `atob` alone. */
const garble = (text: string): string => Buffer.from(text).toString("latin1")

/**
 * Checks that the token takes the signatures of smart accounts if the configuration accepts them, and that the factories
 * exist.
 */
const smartAccountCheck = Effect.fnUntraced(function* (
  { asset, config, factories }: OfferedNetwork,
  chain: EvmChain
): Effect.fn.Return<void, ProviderError> {
  if (config.smartAccounts !== true) return
  const where = `Payment network ${config.network}`
  const [probe, control] = yield* Effect.forEach(probeCalls(asset), chain.simulate)
  if (probe === undefined || control === undefined || !differ(probe, control)) {
    return yield* misconfigured(
      `${where}: smartAccounts is true, but ${asset} has no transferWithAuthorization that takes the signature as bytes. ` +
        "Set smartAccounts to false."
    )
  }
  // A factory's call and the transfer are simulated together.
  for (const contract of factories.length === 0 ? [] : ([...factories, MULTICALL3] as const)) {
    if (!(yield* chain.hasCode(contract))) {
      return yield* misconfigured(
        `${where}: smartAccountFactories requires a contract at ${contract}, which has no code.`
      )
    }
  }
})
