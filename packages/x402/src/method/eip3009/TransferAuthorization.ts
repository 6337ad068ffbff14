import { type Hex, pad } from "viem"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"
import { hashOf, typedDigest, wordOf } from "../../network/TypedDomain.ts"

const TYPE_HASH = hashOf(
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)

/** Returns the ABI of a message: 32 bytes for each field. */
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
  typedDigest(separator, TYPE_HASH, wordsOf(message))
