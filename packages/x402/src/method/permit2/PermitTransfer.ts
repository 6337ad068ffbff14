import {
  type Address,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  slice
} from "viem"
import type { AllowancePermit } from "../../header/GasSponsoring.ts"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"
import { PERMIT2, PERMIT2_PROXY } from "../../network/Permit2Address.ts"
import { domainSeparator, hashOf, typedDigest, wordOf } from "../../network/TypedDomain.ts"

/*
 * The message that a payer signs: PermitWitnessTransferFrom of Permit2 (https://github.com/Uniswap/permit2,
 * src/libraries/PermitHash.sol), with the recipient as the witness of x402's proxy (scheme_exact_evm.md).
 */

const PERMISSIONS_TYPE = "TokenPermissions(address token,uint256 amount)"
const WITNESS_TYPE = "Witness(address to,uint256 validAfter)"

const PERMISSIONS_TYPE_HASH = hashOf(PERMISSIONS_TYPE)
export const WITNESS_TYPE_HASH = hashOf(WITNESS_TYPE)
const TYPE_HASH = hashOf(
  "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)" +
    PERMISSIONS_TYPE +
    WITNESS_TYPE
)

const hashPair = (hash: Hex, address: Address, value: bigint): Hex =>
  keccak256(concat([hash, pad(address), wordOf(value)]))

/** Returns the hash of Permit2's domain on a chain, which has no version. */
export const permit2Separator = (chainId: bigint): Hex =>
  domainSeparator({ name: "Permit2", chainId, verifyingContract: PERMIT2 })

/** Returns the 32 bytes that a payer signs. The caller hashes the domain once, since it never changes. */
export const digest = (separator: Hex, asset: Address, transfer: AuthorizedTransfer): Hex =>
  typedDigest(separator, TYPE_HASH, [
    hashPair(PERMISSIONS_TYPE_HASH, asset, transfer.value),
    pad(PERMIT2_PROXY),
    transfer.nonce,
    wordOf(transfer.validBefore),
    hashPair(WITNESS_TYPE_HASH, transfer.to, transfer.validAfter)
  ])

const abi = parseAbi([
  "struct Allowance { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }",
  "struct Permissions { address token; uint256 amount; }",
  "struct Permit { Permissions permitted; uint256 nonce; uint256 deadline; }",
  "struct Witness { address to; uint256 validAfter; }",
  "function settle(Permit permit, address owner, Witness witness, bytes signature)",
  "function settleWithPermit(Allowance permit2612, Permit permit, address owner, Witness witness, bytes signature)"
])

/** The transfer that a call of the proxy executes. Addresses are in lower case. */
export interface ExecutedTransfer {
  readonly asset: string
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: bigint
}

/** Decodes the data of the proxy's call that executes a transfer; undefined if it is another call. */
export const executedBy = (data: Hex): ExecutedTransfer | undefined => {
  try {
    const { args } = decodeFunctionData({ abi, data })
    const [{ nonce, permitted }, owner, { to }] = args.length === 4 ? args : ([args[1], args[2], args[3]] as const)
    const [asset, from, recipient] = [permitted.token, owner, to].map((address) => address.toLowerCase())
    return { asset: asset!, from: from!, to: recipient!, value: permitted.amount, nonce }
  } catch {
    return undefined
  }
}

/** Returns the data of the proxy's call that executes a transfer, after the permit if there is one. */
export const settleData = (
  asset: Address,
  transfer: AuthorizedTransfer,
  signature: Hex,
  permit?: AllowancePermit
): Hex => {
  const args = [
    {
      permitted: { token: asset, amount: transfer.value },
      nonce: BigInt(transfer.nonce),
      deadline: transfer.validBefore
    },
    transfer.from,
    { to: transfer.to, validAfter: transfer.validAfter },
    signature
  ] as const
  if (permit === undefined) return encodeFunctionData({ abi, functionName: "settle", args })
  const [r, s, v] = [slice(permit.signature, 0, 32), slice(permit.signature, 32, 64), slice(permit.signature, 64)]
  const { deadline } = permit
  return encodeFunctionData({
    abi,
    functionName: "settleWithPermit",
    args: [{ value: transfer.value, deadline, r, s, v: Number(v) }, ...args]
  })
}
