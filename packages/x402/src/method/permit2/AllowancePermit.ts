import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { type Address, concat, type Hex, pad, toFunctionSelector } from "viem"
import type { EvmChain } from "../../chain/EvmChain.ts"
import type { AllowancePermit } from "../../header/GasSponsoring.ts"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"
import { PERMIT2 } from "../../network/Permit2Address.ts"
import { misconfigured, type OfferedNetwork } from "../../network/PaymentNetwork.ts"
import type { Signer } from "../../network/Signer.ts"
import { hashOf, typedDigest, wordOf } from "../../network/TypedDomain.ts"

/*
 * The permit of EIP-2612 (https://eips.ethereum.org/EIPS/eip-2612) with which a payer allows Permit2 the amount of one payment.
 */

const TYPE_HASH = hashOf("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)")

/** Returns the 32 bytes that a payer signs, in the EIP-712 domain of the token. */
export const permitDigest = (
  separator: Hex,
  { from, value }: Pick<AuthorizedTransfer, "from" | "value">,
  { deadline, nonce }: AllowancePermit
): Hex => typedDigest(separator, TYPE_HASH, [pad(from), pad(PERMIT2), wordOf(value), wordOf(nonce), wordOf(deadline)])

const NONCES = toFunctionSelector("nonces(address)")
/** Reads the nonce of the next permit of a wallet. */
export const readNonce = (chain: EvmChain, owner: Address): Effect.Effect<bigint, ProviderError> =>
  chain.readWord(concat([NONCES, pad(owner)]), "latest")

/**
 * Returns why a token would not take a permit, or undefined if it would. It must be valid for as long as the payment, which clients
 * sign with the same deadline.
 */
export const findFlaw = Effect.fnUntraced(function* (
  { chain, separator, signer }: { readonly chain: EvmChain; readonly separator: Hex; readonly signer: Signer },
  permit: AllowancePermit,
  transfer: AuthorizedTransfer
): Effect.fn.Return<string | undefined, ProviderError> {
  if (signer.recoverSigner(permitDigest(separator, transfer, permit), permit.signature) !== transfer.from) {
    return (
      "The EIP-2612 permit is not signed by the payer for this token, with Permit2 as its spender and the amount of the payment. " +
      "A smart account cannot sign one: pay without a permit, and the answer has the transaction that it sends once."
    )
  }
  if (permit.deadline < transfer.validBefore) return "The EIP-2612 permit expires before the payment."
  const nonce = yield* readNonce(chain, transfer.from)
  return permit.nonce === nonce
    ? undefined
    : `The EIP-2612 permit has the nonce ${permit.nonce}, and the next one of the wallet is ${nonce}. Sign another permit.`
})

/** Checks that a token has the nonces of EIP-2612; `domainCheck` compares its domain. */
export const check = ({ asset, config }: OfferedNetwork, chain: EvmChain): Effect.Effect<void, ProviderError> =>
  readNonce(chain, PERMIT2).pipe(
    Effect.catchIf(
      (error) => error.reason === "Misconfigured",
      () =>
        misconfigured(
          `Payment network ${config.network}: gasSponsoring requires a token with EIP-2612, and ${asset} has no nonces.`
        )
    ),
    Effect.asVoid
  )
