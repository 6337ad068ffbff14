import {
  encodeFunctionData,
  type Hex,
  isErc6492Signature,
  multicall3Abi,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
  size,
  zeroAddress
} from "viem"
import type { TransferAuthorization } from "./TransferAuthorization.ts"

/** A call to simulate. With a factory, the called account is deployed first, for this call alone. */
export interface SimulatedCall {
  readonly to: Hex
  readonly data: Hex
  /** The limit of gas: a contract of a stranger may try to use any amount. */
  readonly gas: bigint
  readonly factory?: Hex
  readonly factoryData?: Hex
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

/** EIP-3009 has the first form; tokens that take signatures of smart accounts also have the second. */
const ecdsaAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)"
])
const bytesAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)"
])

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

/** Returns the data of the token's transfer, in the form that facilitators use: 65 bytes are split. */
const transferData = (message: TransferAuthorization, signature: Hex): Hex => {
  const { from, nonce, to, validAfter, validBefore, value } = message
  const args = [from, to, value, validAfter, validBefore, nonce] as const
  if (size(signature) !== ECDSA_BYTES) {
    return encodeFunctionData({ abi: bytesAbi, args: [...args, signature] })
  }
  const { r, s, yParity } = parseSignature(signature)
  return encodeFunctionData({ abi: ecdsaAbi, args: [...args, 27 + yParity, r, s] })
}

/** Returns the call that simulates a transfer. If the signature names a deployment, that call comes first. */
export const transferCall = (asset: Hex, message: TransferAuthorization, signature: Hex): SimulatedCall => {
  const { bytes, deployment } = splitSignature(signature) ?? { bytes: signature, deployment: undefined }
  const transfer = { target: asset, callData: transferData(message, bytes) }
  if (deployment === undefined) return { to: asset, data: transfer.callData, gas: TRANSFER_GAS_MAX }
  const deploy = { target: deployment.factory, callData: deployment.factoryData }
  return {
    to: MULTICALL3,
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3",
      // The factory may refuse an account that exists.
      args: [
        [
          { ...deploy, allowFailure: true },
          { ...transfer, allowFailure: false }
        ]
      ]
    }),
    gas: DEPLOYMENT_GAS_MAX + TRANSFER_GAS_MAX
  }
}

/** An expired authorization, which the token refuses under any signature. */
const PROBE = [MULTICALL3, MULTICALL3, 0n, 0n, 0n, `0x${"00".repeat(32)}`, `0x${"00".repeat(ECDSA_BYTES)}`] as const

/**
 * Returns two calls whose outcomes differ if the token has a transferWithAuthorization that takes the signature as
 * bytes. The first one then fails with an error of that function, and the second one because its function does not
 * exist.
 */
export const probeCalls = (asset: Hex): readonly [SimulatedCall, SimulatedCall] => {
  const data = encodeFunctionData({ abi: bytesAbi, args: PROBE })
  const unknown: Hex = `0x00000000${data.slice(10)}`
  return [
    { to: asset, data, gas: TRANSFER_GAS_MAX },
    { to: asset, data: unknown, gas: TRANSFER_GAS_MAX }
  ]
}

export const differ = (first: CallOutcome, second: CallOutcome): boolean =>
  JSON.stringify(first) !== JSON.stringify(second)
