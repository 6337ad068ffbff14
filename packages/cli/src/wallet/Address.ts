import { createECDH } from "node:crypto"
import { keccak_256 } from "@noble/hashes/sha3"

/** The address of a private key of 32 bytes, in the mixed case of EIP-55. Throws where it is no key of the curve. */
export const addressOf = (key: Uint8Array): string => {
  const curve = createECDH("secp256k1")
  curve.setPrivateKey(key)
  // The uncompressed point, without the byte that says that it is one.
  const hash = keccak_256(curve.getPublicKey().subarray(1))
  return checksummed(Buffer.from(hash.subarray(12)).toString("hex"))
}

/** An address of 40 hexadecimal digits with the checksum of EIP-55 in its letters. */
export const checksummed = (hex: string): string => {
  const lower = hex.replace(/^0x/, "").toLowerCase()
  const digits = Buffer.from(keccak_256(Buffer.from(lower, "ascii"))).toString("hex")
  return `0x${[...lower].map((letter, index) => (Number.parseInt(digits[index]!, 16) >= 8 ? letter.toUpperCase() : letter)).join("")}`
}

/** The Keccak-256 hash, which is not SHA3-256. */
export const keccak256 = (bytes: Uint8Array): Buffer => Buffer.from(keccak_256(bytes))
