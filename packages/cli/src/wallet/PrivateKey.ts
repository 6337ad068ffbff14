import { Failure } from "@agentos/node/command-line"
import { createECDH, randomBytes } from "node:crypto"
import { keccak_256 } from "@noble/hashes/sha3"

/** Keccak-256, which differs from SHA3-256. */
export const keccak256 = (bytes: Uint8Array): Buffer => Buffer.from(keccak_256(bytes))

/** Writes an address of 40 hexadecimal digits with the checksum of EIP-55. */
export const checksummed = (hex: string): string => {
  const lower = hex.replace(/^0x/, "").toLowerCase()
  const digits = keccak256(Buffer.from(lower, "ascii")).toString("hex")
  return `0x${[...lower].map((letter, index) => (Number.parseInt(digits[index]!, 16) >= 8 ? letter.toUpperCase() : letter)).join("")}`
}

/** Returns the address of a private key. Throws if the key is not valid on secp256k1. */
const addressOf = (key: Uint8Array): string => {
  const curve = createECDH("secp256k1")
  curve.setPrivateKey(key)
  // The uncompressed point without its prefix byte.
  return checksummed(keccak256(curve.getPublicKey().subarray(1)).subarray(12).toString("hex"))
}

/** A private key in a private field, so that no log, JSON or template prints it. */
export class PrivateKey {
  readonly #bytes: Uint8Array
  readonly address: string

  private constructor(bytes: Uint8Array, address: string) {
    this.#bytes = bytes
    this.address = address
  }

  /** Takes 32 bytes. `source` names their origin in the failure. */
  static ofBytes(bytes: Uint8Array, source: string): PrivateKey {
    const failure = new Failure({
      code: "WRONG_WALLET",
      message: `${source} does not contain a valid private key (32 bytes on the curve secp256k1).`
    })
    if (bytes.length !== 32) throw failure
    try {
      return new PrivateKey(bytes, addressOf(bytes))
    } catch {
      throw failure
    }
  }

  /** Takes 64 hexadecimal digits, with or without 0x. */
  static ofText(text: string, source: string): PrivateKey {
    const match = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())
    // The text is not repeated: it may be a key with a typo.
    if (match === null)
      throw new Failure({
        code: "WRONG_WALLET",
        message: `${source} contains neither a private key (64 hexadecimal digits) nor a keystore.`
      })
    return PrivateKey.ofBytes(Buffer.from(match[1]!, "hex"), source)
  }

  static generate(): PrivateKey {
    for (;;) {
      const bytes = randomBytes(32)
      // Invalid keys begin with 0xff or are zero.
      if (bytes.some((byte) => byte !== 0) && bytes[0] !== 0xff)
        return PrivateKey.ofBytes(bytes, "The random generator")
    }
  }

  toString(): string {
    return `the key of ${this.address}`
  }

  /** Returns the secret bytes, for signing and for the wallet file. */
  reveal(): Uint8Array {
    return this.#bytes
  }

  /** Returns the secret as `0x` and 64 digits. */
  revealHex(): `0x${string}` {
    return `0x${Buffer.from(this.#bytes).toString("hex")}`
  }
}
