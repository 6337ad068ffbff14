import { concat, encodeAbiParameters, type Hex, keccak256, stringToHex } from "viem"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"

const TYPE_HASH = keccak256(
  stringToHex(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
  )
)

const BYTES32 = { type: "bytes32" } as const
const UINT256 = { type: "uint256" } as const
const ADDRESS = { type: "address" } as const
const PARAMETERS = [BYTES32, ADDRESS, ADDRESS, UINT256, UINT256, UINT256, BYTES32] as const

/**
 * Returns the 32 bytes that a payer signs: TransferWithAuthorization of EIP-3009
 * (https://eips.ethereum.org/EIPS/eip-3009), as typed data of EIP-712. The caller hashes the token's domain once, since
 * it never changes.
 */
export const digest = (separator: Hex, message: AuthorizedTransfer): Hex =>
  keccak256(
    concat([
      "0x1901",
      separator,
      keccak256(
        encodeAbiParameters(PARAMETERS, [
          TYPE_HASH,
          message.from,
          message.to,
          message.value,
          message.validAfter,
          message.validBefore,
          message.nonce
        ])
      )
    ])
  )
