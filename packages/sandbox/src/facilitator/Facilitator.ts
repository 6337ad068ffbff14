import { InMemoryPendingSettlementStore, x402Facilitator } from "@x402/core/facilitator"
import { isPaymentPayloadV2, isPaymentRequirementsV2 } from "@x402/core/schemas"
import type {
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedResponse,
  VerifyResponse
} from "@x402/core/types"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import * as Schema from "effect/Schema"
import { sandboxAccountFactory } from "../chain/SandboxAccount.ts"
import type { SandboxNetwork } from "../chain/SandboxNetwork.ts"
import { type GasWallet, type GasWalletOptions, makeGasWallet, makeSerialQueue } from "./GasWallet.ts"

/** The body of /verify and /settle. */
export interface PaymentRequest {
  readonly paymentPayload: PaymentPayload
  readonly paymentRequirements: PaymentRequirements
}

/** An x402 version 2 facilitator for the scheme `exact`, with one asset on one chain. */
export interface Facilitator {
  /** The CAIP-2 id of the chain. */
  readonly network: string
  /** The token contract. */
  readonly asset: string
  /** Checks a payment against its requirements and simulates the transfer. */
  readonly verify: (request: PaymentRequest) => Promise<VerifyResponse>
  /** Checks a payment and executes the transfer. Resolves when the chain has confirmed it. */
  readonly settle: (request: PaymentRequest) => Promise<SettleResponse>
  readonly supported: () => SupportedResponse
  /** Returns the latest block number. Fails with `ChainUnavailable`. */
  readonly blockNumber: () => Promise<bigint>
}

export interface FacilitatorOptions extends GasWalletOptions {
  /** The token contract. Payments in other tokens are rejected. */
  readonly asset: string
  /** How payers authorize a transfer of the token. Payments by the other method are rejected. By default `eip3009`. */
  readonly transferMethod?: TransferMethod
  /** Whether /supported lists the extension by which a payment brings its allowance for Permit2. */
  readonly gasSponsoring?: SandboxNetwork["gasSponsoring"]
}

export type TransferMethod = SandboxNetwork["transferMethod"]

/**
 * The chain did not answer, so nothing is known about the payment. The library would report this as a verdict, such as
 * an invalid signature or a failed transaction.
 */
export class ChainUnavailable extends Error {
  override readonly name = "ChainUnavailable"
}

/** x402's extension by which a payment brings the allowance for Permit2. */
const EIP2612_GAS_SPONSORING = { key: "eip2612GasSponsoring" }

/** Returns the latest block number. Fails with `ChainUnavailable`. */
export const blockNumberOf = async (wallet: GasWallet): Promise<bigint> => {
  try {
    return await wallet.blockNumber()
  } catch (cause) {
    throw new ChainUnavailable("The chain is unavailable", { cause })
  }
}

/**
 * Creates a facilitator on `@x402/evm`, with the library's checks and reasons. Settlements of different authorizations
 * run concurrently. Settlements of one authorization run in sequence, so the later one is rejected as used and spends no
 * gas on a transfer that must revert.
 */
export const makeFacilitator = (options: FacilitatorOptions): Facilitator => {
  const network = `eip155:${options.chainId}` as const
  const wallet = makeGasWallet(options)
  const pendingSettlementStore = new InMemoryPendingSettlementStore()
  const settlements = makeSerialQueue()

  const library = (onOutage: (error: unknown) => void) => {
    const facilitator = new x402Facilitator().register(
      network,
      new ExactEvmScheme(wallet.signer(onOutage), {
        pendingSettlementStore,
        eip6492AllowedFactories: [sandboxAccountFactory]
      })
    )
    return options.gasSponsoring === undefined ? facilitator : facilitator.registerExtension(EIP2612_GAS_SPONSORING)
  }

  const blockNumber = () => blockNumberOf(wallet)

  /** Calls the library. A response that an outage of the chain may have caused is replaced by `ChainUnavailable`. */
  const call = async <Response>(
    operation: (facilitator: x402Facilitator) => Promise<Response>,
    isConclusive: (response: Response) => boolean
  ) => {
    let outage: unknown
    await blockNumber()
    const response = await operation(library((error) => (outage ??= error)))
    if (outage !== undefined && !isConclusive(response)) {
      throw new ChainUnavailable("The chain became unavailable during the operation", { cause: outage })
    }
    return response
  }

  const { asset, transferMethod = "eip3009" } = options
  const rejection = (request: PaymentRequest) => rejectionReason(request, { network, asset, transferMethod })
  return {
    network,
    asset,
    verify: async (request) => {
      const invalidReason = rejection(request)
      if (invalidReason !== undefined) return { isValid: false, invalidReason }
      return call(
        (facilitator) => facilitator.verify(request.paymentPayload, request.paymentRequirements),
        (response) => response.isValid
      )
    },
    settle: async (request) => {
      const errorReason = rejection(request)
      if (errorReason !== undefined) return { success: false, errorReason, transaction: "", network }
      return settlements.run(authorizationKey(request), () =>
        call(
          (facilitator) => facilitator.settle(request.paymentPayload, request.paymentRequirements),
          // A response that names a transaction, for example a pending one, is valid in spite of an outage.
          (response) => response.success || response.transaction !== ""
        )
      )
    },
    supported: () => library(() => undefined).getSupported() as SupportedResponse,
    blockNumber
  }
}

const Address = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/))
const Uint = Schema.String.check(Schema.isPattern(/^\d{1,78}$/))

const Eip3009Payload = Schema.Struct({
  signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})+$/)),
  authorization: Schema.Struct({
    from: Address,
    to: Address,
    value: Uint,
    validAfter: Uint,
    validBefore: Uint,
    nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/))
  })
})
const Permit2Payload = Schema.Struct({
  signature: Eip3009Payload.fields.signature,
  permit2Authorization: Schema.Struct({
    from: Address,
    permitted: Schema.Struct({ token: Address, amount: Uint }),
    spender: Address,
    nonce: Uint,
    deadline: Uint,
    witness: Schema.Struct({ to: Address, validAfter: Uint })
  })
})

const isPayload = { eip3009: Schema.is(Eip3009Payload), permit2: Schema.is(Permit2Payload) }
const isAddress = Schema.is(Address)
const isUint = Schema.is(Uint)

/** Returns undefined if the body is not a request of x402 version 2. */
export const readPaymentRequest = (body: unknown): PaymentRequest | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const { x402Version, paymentPayload, paymentRequirements } = body as Record<string, unknown>
  if (x402Version !== 2 || !isPaymentPayloadV2(paymentPayload) || !isPaymentRequirementsV2(paymentRequirements)) {
    return undefined
  }
  // The library's schemas allow null where its types declare an absent property.
  return { paymentPayload, paymentRequirements } as PaymentRequest
}

/**
 * Returns x402's reason to reject a request before the library sees it, or undefined. The library throws on malformed
 * addresses and numbers.
 */
const rejectionReason = (
  request: PaymentRequest,
  {
    asset,
    network,
    transferMethod
  }: Required<Pick<FacilitatorOptions, "asset" | "transferMethod">> & { network: string }
): string | undefined => {
  const { paymentPayload, paymentRequirements } = request
  if (paymentRequirements.scheme !== "exact" || paymentPayload.accepted.scheme !== "exact") return "unsupported_scheme"
  if (paymentRequirements.network !== network) return "invalid_network"
  const isSupportedAsset = paymentRequirements.asset.toLowerCase() === asset.toLowerCase()
  if (!isSupportedAsset || !isAddress(paymentRequirements.payTo) || !isUint(paymentRequirements.amount)) {
    return "invalid_payment_requirements"
  }
  return isPayload[transferMethod](paymentPayload.payload) ? undefined : "invalid_payload"
}

/** Identifies an authorization by payer and nonce. The payload must be valid. */
const authorizationKey = ({ paymentPayload: { payload } }: PaymentRequest): string => {
  const { from, nonce } = isPayload.permit2(payload)
    ? payload.permit2Authorization
    : (payload as typeof Eip3009Payload.Type).authorization
  return `${from}:${nonce}`.toLowerCase()
}

/**
 * Returns the authorization's nonce, or an empty list for a payload without one. That of Permit2 is a number, which
 * others write in decimal or as 32 bytes.
 */
export const noncesOf = ({ paymentPayload: { payload } }: PaymentRequest): ReadonlyArray<string> => {
  if (isPayload.eip3009(payload)) return [payload.authorization.nonce]
  if (!isPayload.permit2(payload)) return []
  const { nonce } = payload.permit2Authorization
  return [nonce, `0x${BigInt(nonce).toString(16).padStart(64, "0")}`]
}
