import { ProviderError, Usdt } from "@agentos/core"
import { Effect, Redacted, Schema } from "effect"
import { type Address, getAddress, isAddress } from "viem"
import { between, DecimalPrice, HttpUrl, PrivateKey } from "./ConfigurationField.ts"
import { addressOf } from "./Signer.ts"

/** An EVM address. In mixed case it must have a valid checksum (ERC-55), so that a typing error is detected. */
const EvmAddress = Schema.String.check(
  Schema.makeFilter((text) => isAddress(text), {
    expected: "an EVM address, with a valid checksum if its case is mixed"
  })
)

export const RefundWallet = Schema.Struct({
  /**
   * Private key of the wallet. The wallet holds the token and needs no gas: the facilitator submits the transfers that
   * it signs. It must be used by this deployment alone and differ from `payTo`. If the server is compromised, only the
   * balance of this wallet is lost instead of all earnings, and incoming and refunded money are never confused.
   */
  privateKey: PrivateKey,
  /**
   * Addresses of earlier refund wallets, whose refunds are not paid again. Before the key is changed, no server
   * may have used the old one for twenty minutes, which is how long a signed refund stays valid.
   */
  formerWallets: Schema.optionalKey(Schema.Array(EvmAddress).check(Schema.isMaxLength(20)))
})
export type RefundWallet = typeof RefundWallet.Type

/** The transfer methods of x402's scheme `exact` that are implemented, by their names in `assetTransferMethod`. */
export const TransferMethodName = Schema.Literals(["eip3009", "permit2"])
export type TransferMethodName = typeof TransferMethodName.Type

/** The ways in which a payment by `permit2` can bring its allowance, which the facilitator submits. */
export const GasSponsoring = Schema.Literals(["eip2612", "erc20Approval"])
export type GasSponsoring = typeof GasSponsoring.Type

const Blocks = between(0, 10_000)

/** The number of blocks required from a price on. `from` is a decimal price such as `5.00`. */
const Rule = Schema.Struct({
  from: DecimalPrice,
  blocks: Blocks
})

/**
 * The number of blocks that must follow a payment's block before the payment counts. Either one number for
 * every price (0: the latest block is enough), or rules, of which the one with the highest `from` not above the
 * price applies. One rule must start at `0`.
 */
export const Confirmations = Schema.Union([
  Blocks,
  Schema.Array(Rule).check(
    Schema.isMaxLength(20),
    Schema.makeFilter((rules) => rules.some(({ from }) => Usdt.fromDecimal(from) === 0n), {
      expected: "a list with a rule from 0"
    })
  )
])
export type Confirmations = typeof Confirmations.Type

/**
 * A network on which payments are accepted, in one token, without its facilitator. It decodes from plain JSON,
 * or is written in code as it is: the rail checks it again before use.
 */
export const PaymentNetwork = Schema.Struct({
  /** CAIP-2 id of an EVM chain, for example `eip155:196`. */
  network: Schema.String.check(
    Schema.isPattern(/^eip155:[1-9]\d{0,14}$/, { expected: "a CAIP-2 id of an EVM chain, for example eip155:196" })
  ),
  /**
   * JSON-RPC URL of the chain, which alone proves a payment. The node must support the tag `finalized`,
   * and keep state and logs for as long as an operation may stay unknown. May contain an access key.
   */
  rpcUrl: Schema.RedactedFromValue(HttpUrl),
  /** Time limit for a request to the chain, retry included; default 10,000. */
  rpcTimeoutMillis: Schema.optionalKey(between(1, 120_000)),
  /** Largest number of blocks that the node accepts in one log request; default 1,000. */
  logBlocksMax: Schema.optionalKey(between(1, 1_000_000)),
  /** Address of the token's contract. */
  asset: EvmAddress,
  /**
   * How payers authorize transfers of the token; default `eip3009`. That one requires a token with
   * transferWithAuthorization (EIP-3009). `permit2` works with every ERC-20 token: it requires Permit2 and x402's proxy on
   * the chain, and of each payer a transaction, once, that allows Permit2 to move its tokens. Change it only while no operation of
   * the network is open.
   */
  transferMethod: Schema.optionalKey(TransferMethodName),
  /**
   * Symbol of the token, which the contract must have; default USDT. Another token is accepted at par: its payer owes as many of it
   * as the price has USDT. So it must be a dollar token.
   */
  symbol: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[!-~]{1,16}$/, { expected: "a symbol of 1 to 16 printable ASCII characters" })
    )
  ),
  /** Decimals of the token: at least those of prices. */
  decimals: between(Usdt.DECIMALS, 36),
  /**
   * Name and version of the token's EIP-712 domain, exactly: on some chains USD₮0 is spelled with U+20AE. With `permit2`, the
   * version may be missing, unless `gasSponsoring` is `eip2612`.
   */
  name: Schema.NonEmptyString,
  version: Schema.optionalKey(Schema.NonEmptyString),
  /**
   * Accepts with a payment by `permit2` what allows Permit2 its amount, so that the payer sends no transaction and needs no gas;
   * default none. The facilitator must list the extension in /supported. `eip2612` is x402's eip2612GasSponsoring, a signature: it
   * requires a token with permit (EIP-2612), and the facilitator of this server has it. `erc20Approval` is
   * erc20ApprovalGasSponsoring, a signed transaction to any token: the facilitator of this server lacks it, and the node must
   * override state in eth_call.
   */
  gasSponsoring: Schema.optionalKey(GasSponsoring),
  /**
   * Accepts payments of smart accounts (ERC-1271); default false. With `eip3009`, the token must take their signatures: its
   * transferWithAuthorization with bytes. The node then sees such a signature before the payment is claimed, and is
   * trusted for whether it is valid.
   */
  smartAccounts: Schema.optionalKey(Schema.Boolean),
  /**
   * Factories whose accounts may pay before they are deployed (ERC-6492); default none. The facilitator deploys such an
   * account before it settles, with a call that the payer chooses. Only with `eip3009`: an account that does not exist has not
   * allowed Permit2 to move its tokens.
   */
  smartAccountFactories: Schema.optionalKey(Schema.Array(EvmAddress).check(Schema.isMaxLength(20))),
  /** Recipient of payments. It must be used by this deployment alone: any payment to it counts as one made here. */
  payTo: EvmAddress,
  /**
   * Earlier recipients. A payment under a challenge from before the change still goes to the recipient that its payer
   * signed, and the ledger is compared with the transfers to all of them.
   */
  formerPayTo: Schema.optionalKey(Schema.Array(EvmAddress).check(Schema.isMaxLength(20))),
  /** Longest validity of an authorization from the time of signing: 20 s to one hour. */
  maxTimeoutSeconds: between(20, 3_600),
  /** Number of blocks that must follow a payment's block, for every price or by price. */
  confirmations: Confirmations,
  /** Without it no refund is paid: money that is owed stays on record. */
  refund: Schema.optionalKey(RefundWallet)
})
export type PaymentNetwork = typeof PaymentNetwork.Type

/** Provider name in the errors of this adapter. */
export const PROVIDER = "x402"

/** Makes an error that the operator must fix. */
export const misconfigured = (message: string): ProviderError =>
  new ProviderError({ provider: PROVIDER, reason: "Misconfigured", message })

/** A configured network with the values derived from its configuration. */
export interface OfferedNetwork {
  readonly config: PaymentNetwork
  readonly network: `${string}:${string}`
  readonly transferMethod: TransferMethodName
  readonly chainId: bigint
  /** With checksums, as every challenge contains the addresses, however they are configured. */
  readonly asset: Address
  readonly payTo: Address
  /** The current recipient of payments, then the former ones, in lower case. */
  readonly recipients: ReadonlyArray<Address>
  /** Base units of the token in one base unit of a price. */
  readonly unitsPerPriceUnit: bigint
  /** Factories of smart accounts that may pay before they are deployed, in lower case. */
  readonly factories: ReadonlyArray<Address>
  /** The current refund wallet, then the former ones, in lower case. Empty if no refunds are paid. */
  readonly refundWallets: ReadonlyArray<Address>
}

/** Returns the number of blocks that must follow a transfer of `amount` base units of the token. */
export const requiredConfirmations = ({ config, unitsPerPriceUnit }: OfferedNetwork, amount: bigint): number =>
  confirmationsOf(config.confirmations, amount / unitsPerPriceUnit)

const check = Schema.decodeUnknownEffect(Schema.toType(PaymentNetwork))

/** Derives an offered network. Fails with `Misconfigured` if the configuration contradicts itself. */
export const offer = Effect.fnUntraced(function* (
  unchecked: PaymentNetwork
): Effect.fn.Return<OfferedNetwork, ProviderError> {
  const config = yield* Effect.mapError(check(unchecked), (error) =>
    misconfigured(`Payment network ${unchecked.network}: ${error.message}`)
  )
  const reference = config.network.slice("eip155:".length)
  const [asset, payTo] = [getAddress(config.asset), getAddress(config.payTo)]
  const recipients = [payTo, ...(config.formerPayTo ?? [])].map(lowerCase)
  const refundWallets = refundWalletsOf(config)
  const transferMethod = config.transferMethod ?? "eip3009"
  const factories = (config.smartAccountFactories ?? []).map(lowerCase)
  const contradiction = contradictionIn({ config, transferMethod, asset, payTo, recipients, factories, refundWallets })
  if (contradiction !== undefined) return yield* misconfigured(`Payment network ${config.network}: ${contradiction}`)
  return {
    config,
    network: `eip155:${reference}`,
    transferMethod,
    chainId: BigInt(reference),
    asset,
    payTo,
    recipients,
    unitsPerPriceUnit: 10n ** BigInt(config.decimals - Usdt.DECIMALS),
    factories,
    refundWallets
  }
})

/** Returns how a configuration contradicts itself; undefined if it does not. */
const contradictionIn = ({
  asset,
  config: { gasSponsoring, smartAccounts, version },
  factories,
  payTo,
  recipients,
  refundWallets,
  transferMethod
}: Omit<OfferedNetwork, "network" | "chainId" | "unitsPerPriceUnit">): string | undefined => {
  if (asset === payTo) return "payTo is the token's own contract."
  const refunding = recipients.findIndex((recipient) => refundWallets.includes(recipient))
  if (refunding >= 0) {
    return `a refund wallet is ${refunding === 0 ? "payTo" : "a former payTo"}; give it one of its own.`
  }
  if (refundWallets.includes(lowerCase(asset))) {
    return "a refund wallet is the token's own contract; give it one of its own."
  }
  if (transferMethod === "eip3009" && version === undefined) {
    return "version is missing. transferMethod eip3009 requires the version of the token's EIP-712 domain."
  }
  if (gasSponsoring !== undefined && transferMethod !== "permit2") {
    return "gasSponsoring requires transferMethod permit2."
  }
  if (gasSponsoring === "eip2612" && version === undefined) {
    return "gasSponsoring eip2612 requires the version of the token's EIP-712 domain."
  }
  if (factories.length === 0) return undefined
  if (smartAccounts !== true) return "smartAccountFactories requires smartAccounts to be true."
  return transferMethod === "eip3009" ? undefined : "smartAccountFactories requires transferMethod to be eip3009."
}

const lowerCase = (address: string): Address => `0x${address.slice(2).toLowerCase()}`

const refundWalletsOf = ({ refund }: PaymentNetwork): ReadonlyArray<Address> =>
  refund === undefined
    ? []
    : [addressOf(Redacted.value(refund.privateKey)), ...(refund.formerWallets ?? []).map(lowerCase)]

/** Returns the confirmations required for a price in base units. */
export const confirmationsOf = (confirmations: Confirmations, price: bigint): number => {
  if (typeof confirmations === "number") return confirmations
  const reached = confirmations.filter(({ from }) => Usdt.fromDecimal(from) <= price)
  const highest = reached.reduce((best, rule) =>
    Usdt.fromDecimal(rule.from) > Usdt.fromDecimal(best.from) ? rule : best
  )
  return highest.blocks
}
