import { type Hex, isErc6492Signature, parseErc6492Signature, zeroAddress } from "viem"

/** A call to simulate. With a factory, the called account is deployed first, for this call alone. */
export interface SimulatedCall {
  readonly to: Hex
  readonly data: Hex
  /** The limit of gas: a contract of a stranger may try to use any amount. */
  readonly gas: bigint
  readonly factory?: Hex
  readonly factoryData?: Hex
  /** The code of the called account, for this call alone. Many nodes can do this, and others ignore it. */
  readonly code?: Hex
}

export type CallOutcome =
  | { readonly succeeded: true; readonly data: Hex }
  /** `reason` comes from the node and must not be shown. */
  | { readonly succeeded: false; readonly reason: string }

/** The call of a factory that deploys a smart account (ERC-6492). */
export interface Deployment {
  readonly factory: Hex
  readonly factoryData: Hex
}

/** A signature as the payer's account reads it, and the deployment of that account if the signature names one. */
export interface AccountSignature {
  readonly bytes: Hex
  readonly deployment: Deployment | undefined
}

/** Length of an ECDSA signature: r, s and v. */
export const ECDSA_BYTES = 65

/** The address of Multicall3 on every chain that has it. */
export const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"

/**
 * Gas limit of a simulated transfer, and of a real one. Without a smart account, it takes about 100,000; the rest is
 * for the account's own check, and for its deployment.
 */
export const TRANSFER_GAS_MAX = 2_000_000n
export const DEPLOYMENT_GAS_MAX = 3_000_000n

/** Splits a signature that may name a deployment (ERC-6492). Returns undefined if it is malformed. */
export const splitSignature = (signature: Hex): AccountSignature | undefined => {
  if (!isErc6492Signature(signature)) return { bytes: signature, deployment: undefined }
  try {
    const { address, data, signature: bytes } = parseErc6492Signature(signature)
    if (address === undefined || data === undefined || address === zeroAddress) return undefined
    return isErc6492Signature(bytes) ? undefined : { bytes, deployment: { factory: address, factoryData: data } }
  } catch {
    return undefined
  }
}
