// The whole of the library takes a tenth of a second to load, and this of it a hundredth.
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js"
import {
  type Address,
  bytesToHex,
  concat,
  encodeAbiParameters,
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  stringToHex
} from "viem"

/**
 * The message that a payer signs: TransferWithAuthorization of EIP-3009
 * (https://eips.ethereum.org/EIPS/eip-3009), as typed data of EIP-712
 * (https://eips.ethereum.org/EIPS/eip-712).
 */
export interface TransferAuthorization {
  readonly from: Address
  readonly to: Address
  /** Base units of the token. */
  readonly value: bigint
  /** Unix seconds between which, both excluded, the token takes the authorization. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes of the payer's choice. The token takes each once. */
  readonly nonce: Hex
}

/** The token for which an authorization is signed. */
export interface Domain {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  readonly verifyingContract: Address
}

const DOMAIN_TYPE_HASH = keccak256(
  stringToHex("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
)
const TYPE_HASH = keccak256(
  stringToHex(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
  )
)

const BYTES32 = { type: "bytes32" } as const
const UINT256 = { type: "uint256" } as const
const ADDRESS = { type: "address" } as const
const DOMAIN_PARAMETERS = [BYTES32, BYTES32, BYTES32, UINT256, ADDRESS] as const
const PARAMETERS = [BYTES32, ADDRESS, ADDRESS, UINT256, UINT256, UINT256, BYTES32] as const

/** The hash of the token's domain (EIP-712, "Definition of domainSeparator"), as its contract's DOMAIN_SEPARATOR says it. */
export const domainSeparator = (domain: Domain): Hex =>
  keccak256(
    encodeAbiParameters(DOMAIN_PARAMETERS, [
      DOMAIN_TYPE_HASH,
      keccak256(stringToHex(domain.name)),
      keccak256(stringToHex(domain.version)),
      domain.chainId,
      domain.verifyingContract
    ])
  )

/** The 32 bytes that are signed. The domain, which never changes, is hashed by the caller once. */
export const digest = (separator: Hex, message: TransferAuthorization): Hex =>
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

const secp256k1 = await instantiateSecp256k1()

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Who signed a digest, in lower case, or undefined when the bytes are no signature.
 *
 * Takes one spelling of a signature alone, the one that token contracts take: 65 bytes r, s and v, with s in the lower
 * half of the curve's order and v 27 or 28 (as OpenZeppelin's ECDSA has it). Of the two halves each signature has a
 * twin that anybody can compute.
 */
export const recoverSigner = (hash: Hex, signature: Hex): string | undefined => {
  const bytes = hexToBytes(signature)
  if (bytes.length !== 65) return undefined
  const recoveryId = bytes[64] === 27 ? 0 : bytes[64] === 28 ? 1 : undefined
  if (recoveryId === undefined || BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return undefined
  // The library answers text where there is no key to be found.
  const key = secp256k1.recoverPublicKeyUncompressed(bytes.subarray(0, 64), recoveryId, hexToBytes(hash))
  return typeof key === "string" ? undefined : addressOfPublicKey(key)
}

const addressOfPublicKey = (key: Uint8Array): Address => `0x${keccak256(key.subarray(1)).slice(26)}`

/** The account of a private key, in lower case. Throws where the number is no key; `PrivateKey` takes none of those. */
export const addressOf = (privateKey: Hex): Address => {
  const key = secp256k1.derivePublicKeyUncompressed(hexToBytes(privateKey))
  if (typeof key === "string") throw new Error("not a private key")
  return addressOfPublicKey(key)
}

/** Signs a digest as `recoverSigner` reads it. The same key and digest give the same signature (RFC 6979). */
export const sign = (privateKey: Hex, hash: Hex): Hex => {
  const signed = secp256k1.signMessageHashRecoverableCompact(hexToBytes(privateKey), hexToBytes(hash))
  if (typeof signed === "string") throw new Error("not a private key")
  return concat([bytesToHex(signed.signature), numberToHex(27 + signed.recoveryId, { size: 1 })])
}
