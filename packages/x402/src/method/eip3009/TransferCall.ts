import { concat, encodeFunctionData, type Hex, multicall3Abi, parseAbi, size, slice, toFunctionSelector } from "viem"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"
import {
  type CallOutcome,
  DEPLOYMENT_GAS_MAX,
  ECDSA_BYTES,
  MULTICALL3,
  type SimulatedCall,
  splitSignature,
  TRANSFER_GAS_MAX
} from "../../network/SimulatedCall.ts"
import { wordOf } from "../../network/TypedDomain.ts"
import { wordsOf } from "./TransferAuthorization.ts"

/** EIP-3009 has the first form; tokens that take signatures of smart accounts also have the second. */
const ECDSA_TRANSFER = toFunctionSelector(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)
const bytesAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)"
])

/** Returns the data of the token's transfer, in the form that facilitators use: 65 bytes are split. */
const transferData = (message: AuthorizedTransfer, signature: Hex): Hex => {
  if (size(signature) !== ECDSA_BYTES) {
    const { from, nonce, to, validAfter, validBefore, value } = message
    return encodeFunctionData({ abi: bytesAbi, args: [from, to, value, validAfter, validBefore, nonce, signature] })
  }
  const [r, s, v] = [slice(signature, 0, 32), slice(signature, 32, 64), BigInt(slice(signature, 64))]
  return concat([ECDSA_TRANSFER, ...wordsOf(message), wordOf(v < 27n ? v + 27n : v), r, s])
}

/** Returns the call that simulates a transfer. If the signature names a deployment, that call comes first. */
export const transferCall = (asset: Hex, message: AuthorizedTransfer, signature: Hex): SimulatedCall => {
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
