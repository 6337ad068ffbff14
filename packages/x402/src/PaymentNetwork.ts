import { ProviderError, Usdt } from "@agentos/core"
import { Effect, Redacted, Schema } from "effect"
import { type Address, getAddress, type Hex, isAddress } from "viem"
import { Confirmations, confirmationsOf } from "./Confirmations.ts"
import { between, HttpUrl, PrivateKey } from "./ConfigurationField.ts"
import { FacilitatorConfig } from "./facilitator/FacilitatorConfig.ts"
import * as TransferAuthorization from "./TransferAuthorization.ts"

/** An EVM address. One in mixed case must have the right checksum (ERC-55), so that a slip of the hand is noticed. */
const EvmAddress = Schema.String.check(
  Schema.makeFilter((text) => isAddress(text) || "an EVM address, with the right checksum if its case is mixed")
)

/** The wallet from which money goes back to those who paid and got nothing. */
export const RefundWallet = Schema.Struct({
  /**
   * Its key. The wallet holds the token and needs no gas: what it signs is submitted by the facilitator. It signs for
   * this deployment alone, and is not `payTo`: a server that is broken into then loses what the wallet was filled with
   * and not all that was ever earned, and what came in is never told from what went back by guessing.
   */
  privateKey: PrivateKey,
  /**
   * Addresses of the wallets that paid back before this one: what they paid is not paid again. Before the key is
   * changed, no server may have used the old one for twenty minutes, the time for which what it signed stays valid.
   */
  formerWallets: Schema.optionalKey(Schema.Array(EvmAddress).check(Schema.isMaxLength(20)))
})
export type RefundWallet = typeof RefundWallet.Type

/**
 * A network on which payments are taken, in one token. Decodes from plain JSON, or is
 * written down in code as it is: the rail checks it again before it uses it.
 */
export const PaymentNetwork = Schema.Struct({
  /** CAIP-2 id of an EVM chain, as `eip155:196`. */
  network: Schema.String.check(Schema.isPattern(/^eip155:[1-9]\d{0,14}$/)),
  /**
   * JSON-RPC of the chain, which alone decides what was paid. The node must know the tag `finalized`, and
   * keep state and logs for as long as an operation may stay unknown. May hold an access key.
   */
  rpcUrl: Schema.RedactedFromValue(HttpUrl),
  /** How long a question to the chain may take in all; 10,000 when left out. */
  rpcTimeoutMillis: Schema.optionalKey(between(1, 120_000)),
  /** Most blocks that the node searches for logs in one question; 1,000 when left out. */
  logBlocksMax: Schema.optionalKey(between(1, 1_000_000)),
  /** The token's contract. It must have EIP-3009's transferWithAuthorization. */
  asset: EvmAddress,
  /** Decimals of the token: at least those that prices have. */
  decimals: between(Usdt.DECIMALS, 36),
  /** Name and version of the token's EIP-712 domain, to the letter: USD₮0 is spelled with U+20AE on some chains. */
  name: Schema.NonEmptyString,
  version: Schema.NonEmptyString,
  /** Where payments go. Of this deployment alone: a payment to it is taken for one made here. */
  payTo: EvmAddress,
  /** For how long from its signing an authorization may be valid: 20 s to an hour. */
  maxTimeoutSeconds: between(20, 3_600),
  /** How many blocks must follow the one that paid, for every price or by price. */
  confirmations: Confirmations,
  facilitator: FacilitatorConfig,
  /** Without it nothing is paid back: what is owed stays on record. */
  refund: Schema.optionalKey(RefundWallet)
})
export type PaymentNetwork = typeof PaymentNetwork.Type

/** The name in the errors of this adapter. */
export const PROVIDER = "x402"

/** Something that the operator must mend. */
export const misconfigured = (message: string): ProviderError =>
  new ProviderError({ provider: PROVIDER, reason: "Misconfigured", message })

/** A configured network with what follows from its configuration, worked out once. */
export interface OfferedNetwork {
  readonly config: PaymentNetwork
  readonly network: `${string}:${string}`
  readonly chainId: bigint
  /** With checksums, as the addresses stand in every challenge, however they are configured. */
  readonly asset: Address
  readonly payTo: Address
  /** The token's base units in one base unit of a price. */
  readonly unitsPerPriceUnit: bigint
  /** What every signature for the token covers; see `TransferAuthorization.domainSeparator`. */
  readonly domainSeparator: Hex
  /** Who pays back, and who did, in lower case; the present one first. None where nothing is paid back. */
  readonly refundWallets: ReadonlyArray<Address>
}

/** How many blocks must follow a transfer of `amount` base units of the token. */
export const requiredConfirmations = ({ config, unitsPerPriceUnit }: OfferedNetwork, amount: bigint): number =>
  confirmationsOf(config.confirmations, amount / unitsPerPriceUnit)

const check = Schema.decodeUnknownEffect(Schema.toType(PaymentNetwork))

/** Works out a configured network. Fails with `Misconfigured` where the configuration is wrong in itself. */
export const offer = Effect.fnUntraced(function* (
  unchecked: PaymentNetwork
): Effect.fn.Return<OfferedNetwork, ProviderError> {
  const config = yield* Effect.mapError(check(unchecked), (error) =>
    misconfigured(`Payment network ${unchecked.network}: ${error.message}`)
  )
  const reference = config.network.slice("eip155:".length)
  const [asset, payTo] = [getAddress(config.asset), getAddress(config.payTo)]
  if (asset === payTo) {
    return yield* misconfigured(`Payment network ${config.network}: payTo is the token's own contract.`)
  }
  const refundWallets = refundWalletsOf(config)
  for (const [role, address] of [
    ["payTo", payTo],
    ["the token's own contract", asset]
  ] as const) {
    if (refundWallets.includes(lowerCase(address))) {
      return yield* misconfigured(
        `Payment network ${config.network}: a refund wallet is ${role}; give it one of its own.`
      )
    }
  }
  const { name, version } = config
  const chainId = BigInt(reference)
  return {
    config,
    network: `eip155:${reference}`,
    chainId,
    asset,
    payTo,
    unitsPerPriceUnit: 10n ** BigInt(config.decimals - Usdt.DECIMALS),
    domainSeparator: TransferAuthorization.domainSeparator({ name, version, chainId, verifyingContract: asset }),
    refundWallets
  }
})

const lowerCase = (address: string): Address => `0x${address.slice(2).toLowerCase()}`

const refundWalletsOf = ({ refund }: PaymentNetwork): ReadonlyArray<Address> =>
  refund === undefined
    ? []
    : [
        TransferAuthorization.addressOf(Redacted.value(refund.privateKey)),
        ...(refund.formerWallets ?? []).map(lowerCase)
      ]
