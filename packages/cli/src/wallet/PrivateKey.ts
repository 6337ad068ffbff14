import { randomBytes } from "node:crypto"
import { Failure } from "../failure/Failure.ts"
import { addressOf } from "./Address.ts"

/**
 * A private key that no log, no JSON and no template can print: its bytes are
 * in a private field, and come out only by `reveal`.
 */
export class PrivateKey {
  readonly #bytes: Uint8Array
  readonly address: string

  private constructor(bytes: Uint8Array, address: string) {
    this.#bytes = bytes
    this.address = address
  }

  /** The key of 32 bytes. `from` says where they come from, for the failure. */
  static ofBytes(bytes: Uint8Array, from: string): PrivateKey {
    const failure = new Failure({
      code: "WRONG_WALLET",
      message: `What ${from} holds is no private key: 32 bytes of the curve secp256k1.`
    })
    if (bytes.length !== 32) throw failure
    let address: string
    try {
      address = addressOf(bytes)
    } catch {
      throw failure
    }
    return new PrivateKey(bytes, address)
  }

  /** The key written as 64 hexadecimal digits, with or without 0x. */
  static ofText(text: string, from: string): PrivateKey {
    const match = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())
    // The text itself is not repeated: it may be a key with a slip in it.
    if (match === null)
      throw new Failure({
        code: "WRONG_WALLET",
        message: `What ${from} holds is neither 64 hexadecimal digits nor a keystore.`
      })
    return PrivateKey.ofBytes(Buffer.from(match[1]!, "hex"), from)
  }

  static make(): PrivateKey {
    for (;;) {
      const bytes = randomBytes(32)
      // All but one of 2^127 are keys.
      if (bytes.some((byte) => byte !== 0) && bytes[0] !== 0xff) return PrivateKey.ofBytes(bytes, "the random source")
    }
  }

  /** For messages: which key it is, and not what it is. */
  toString(): string {
    return `the key of ${this.address}`
  }

  /** The bytes, for signing and for the wallet file. */
  reveal(): Uint8Array {
    return this.#bytes
  }

  /** The bytes as `0x` and 64 digits, as signing libraries take them. */
  revealHex(): `0x${string}` {
    return `0x${Buffer.from(this.#bytes).toString("hex")}`
  }
}
