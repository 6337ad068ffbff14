// Loading the whole library takes a tenth of a second, these modules a hundredth.
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js"
import { Effect } from "effect"
import { createECDH } from "node:crypto"
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
 * (https://eips.ethereum.org/EIPS/eip-3009), as typed data of EIP-712 (https://eips.ethereum.org/EIPS/eip-712).
 */
export interface TransferAuthorization {
  readonly from: Address
  readonly to: Address
  /** Base units of the token. */
  readonly value: bigint
  /** The authorization is valid between these two times in unix seconds, both excluded. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes that the payer chooses. The token accepts each value once. */
  readonly nonce: Hex
}

/** The EIP-712 domain of the token that an authorization is signed for. */
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

/**
 * Returns the hash of the token's domain (EIP-712, "Definition of domainSeparator"), as its contract's
 * DOMAIN_SEPARATOR returns it.
 */
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

/** Returns the 32 bytes that are signed. The caller hashes the domain once, since it never changes. */
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

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const addressOfPublicKey = (key: Uint8Array): Address => `0x${keccak256(key.subarray(1)).slice(26)}`

/** Returns the account of a private key in lower case. Throws on an invalid key, which `PrivateKey` never accepts. */
export const addressOf = (privateKey: Hex): Address => {
  const curve = createECDH("secp256k1")
  curve.setPrivateKey(privateKey.slice(2), "hex")
  return addressOfPublicKey(curve.getPublicKey())
}

/** Signs and recovers with secp256k1. */
export interface Signer {
  /**
   * Returns the signer of a digest in lower case, or undefined if the signature is invalid.
   *
   * Accepts only the form of a signature that token contracts accept: 65 bytes r, s and v, with s in the lower
   * half of the curve's order and v 27 or 28 (as OpenZeppelin's ECDSA does). With both halves allowed, anyone
   * could compute a second valid signature from each one.
   */
  readonly recoverSigner: (hash: Hex, signature: Hex) => string | undefined
  /**
   * Signs a digest in the form that `recoverSigner` reads. The same key and digest give the same signature (RFC
   * 6979).
   */
  readonly sign: (privateKey: Hex, hash: Hex) => Hex
}

const makeSigner = async (): Promise<Signer> => {
  const secp256k1 = await instantiateSecp256k1()
  return {
    recoverSigner: (hash, signature) => {
      const bytes = hexToBytes(signature)
      if (bytes.length !== 65) return undefined
      const recoveryId = bytes[64] === 27 ? 0 : bytes[64] === 28 ? 1 : undefined
      if (recoveryId === undefined || BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return undefined
      // The library returns a string if no key can be recovered.
      const key = secp256k1.recoverPublicKeyUncompressed(bytes.subarray(0, 64), recoveryId, hexToBytes(hash))
      return typeof key === "string" ? undefined : addressOfPublicKey(key)
    },
    sign: (privateKey, hash) => {
      const signed = secp256k1.signMessageHashRecoverableCompact(hexToBytes(privateKey), hexToBytes(hash))
      if (typeof signed === "string") throw new Error("not a private key")
      return concat([bytesToHex(signed.signature), numberToHex(27 + signed.recoveryId, { size: 1 })])
    }
  }
}

let made: Promise<Signer> | undefined

/** The signer of this process, made on first use: its WebAssembly is compiled asynchronously. */
export const signer: Effect.Effect<Signer> = Effect.promise(() => (made ??= makeSigner()))
