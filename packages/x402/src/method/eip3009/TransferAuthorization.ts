import { concat, type Hex, keccak256, numberToHex, pad, stringToHex } from "viem"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"

const TYPE_HASH = keccak256(
  stringToHex(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
  )
)

/** Returns a number as the 32 bytes of its ABI. */
export const wordOf = (value: bigint): Hex => numberToHex(value, { size: 32 })

/** Returns the ABI of a message: 32 bytes for each field. A coder that reads an ABI takes ten times as long. */
export const wordsOf = ({
  from,
  nonce,
  to,
  validAfter,
  validBefore,
  value
}: AuthorizedTransfer): ReadonlyArray<Hex> => [
  pad(from),
  pad(to),
  wordOf(value),
  wordOf(validAfter),
  wordOf(validBefore),
  nonce
]

/**
 * Returns the 32 bytes that a payer signs: TransferWithAuthorization of EIP-3009
 * (https://eips.ethereum.org/EIPS/eip-3009), as typed data of EIP-712. The caller hashes the token's domain once, since
 * it never changes.
 */
export const digest = (separator: Hex, message: AuthorizedTransfer): Hex =>
  keccak256(concat(["0x1901", separator, keccak256(concat([TYPE_HASH, ...wordsOf(message)]))]))
