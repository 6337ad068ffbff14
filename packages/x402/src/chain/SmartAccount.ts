import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { encodeFunctionData, type Hex, parseAbi, size } from "viem"
import type { EvmChain } from "./EvmChain.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import { DEPLOYMENT_GAS_MAX, splitSignature } from "../network/SimulatedCall.ts"

/**
 * Checks the signatures of smart accounts: ERC-1271 for contracts, ERC-6492 for accounts that an accepted factory has
 * yet to deploy. Only the chain can tell, and a contract may answer differently later: whether it pays is decided by
 * the settlement alone.
 */

/** Length limit of a signature, with the deployment that it may contain. Passkeys and large multisigs need about 1,000. */
export const SIGNATURE_BYTES_MAX = 4_096

/** Gas limit of one check. A passkey that is verified without a precompile takes about 400,000. */
export const SIGNATURE_GAS_MAX = 1_000_000n

const abi = parseAbi(["function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)"])

/** The answer that accepts a signature, padded to a word (ERC-1271). */
const MAGIC = `0x1626ba7e${"00".repeat(28)}`

/** A digest with the account that is said to have signed it, in lower case. */
export interface SignedDigest {
  readonly account: Hex
  readonly digest: Hex
  readonly signature: Hex
}

/** Returns the kinds of signatures that a network accepts, as its terms name them. */
export const signaturesOf = ({ config, factories }: OfferedNetwork): string =>
  ["eoa", ...(config.smartAccounts === true ? ["eip1271"] : []), ...(factories.length > 0 ? ["eip6492"] : [])].join(" ")

/**
 * Returns why a smart account has not signed the digest, or undefined if it has. The signature must be known not to be
 * that of an externally owned account. Shows it to the node, unless it is refused before.
 */
export const findFlaw = Effect.fnUntraced(function* (
  { chain, offered }: { readonly chain: EvmChain; readonly offered: OfferedNetwork },
  { account, digest, signature }: SignedDigest
): Effect.fn.Return<string | undefined, ProviderError> {
  const { network } = offered
  if (offered.config.smartAccounts !== true) {
    return (
      "The signature is not the 65-byte signature of the payer as an externally owned account, and smart accounts " +
      `(ERC-1271) can't pay on ${network}. Sign with the key of an externally owned account.`
    )
  }
  if (signature.length % 2 !== 0 || size(signature) > SIGNATURE_BYTES_MAX) {
    return `The signature of a smart account must have at most ${SIGNATURE_BYTES_MAX} whole bytes.`
  }
  const split = splitSignature(signature)
  if (split === undefined) return "The signature ends as one of ERC-6492, but does not contain a factory call."
  const { bytes, deployment } = split
  const isDeployed = yield* chain.hasCode(account)
  if (!isDeployed && deployment === undefined) {
    return `The signature is not that of the key ${account}, which is not a smart account on ${network}.`
  }
  if (!isDeployed && !offered.factories.some((factory) => factory === deployment?.factory.toLowerCase())) {
    return (
      `The smart account is not deployed on ${network}, and its factory is not accepted. ` +
      "Deploy the account, then sign again."
    )
  }
  const outcome = yield* chain.simulate({
    to: account,
    data: encodeFunctionData({ abi, args: [digest, bytes] }),
    gas: isDeployed ? SIGNATURE_GAS_MAX : SIGNATURE_GAS_MAX + DEPLOYMENT_GAS_MAX,
    ...(isDeployed ? {} : deployment)
  })
  return outcome.succeeded && outcome.data === MAGIC
    ? undefined
    : `The smart account on ${network} did not accept the signature.`
})
