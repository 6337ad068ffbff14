// Loading the whole library takes a tenth of a second, these modules a hundredth.
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js"
import { Effect } from "effect"
import { createECDH } from "node:crypto"
import { type Address, bytesToHex, concat, type Hex, hexToBytes, keccak256, numberToHex } from "viem"

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
