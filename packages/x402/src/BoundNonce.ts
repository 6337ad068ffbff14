import { createHash } from "node:crypto"

/** The first 8 bytes of a nonce that is bound to a challenge: ASCII `agentos1`. */
export const NONCE_TAG = "0x6167656e746f7331"

/** Number of hash bytes after the tag: a nonce has 32 bytes (EIP-3009). */
const HASH_BYTES = 24

/**
 * Returns the authorization nonce that binds a payment to one challenge, and so to one request: the tag, then
 * the first 24 bytes of SHA-256 over the ASCII text of the challenge's `binding`.
 */
export const boundNonce = (binding: string): `0x${string}` =>
  `0x${NONCE_TAG.slice(2)}${createHash("sha256")
    .update(binding, "ascii")
    .digest("hex")
    .slice(0, 2 * HASH_BYTES)}`

/**
 * Returns whether a nonce (in lower case) carries the tag but is bound to another challenge than that of this
 * binding.
 */
export const isBoundElsewhere = (nonce: string, binding: unknown): boolean =>
  nonce.startsWith(NONCE_TAG) && !(typeof binding === "string" && nonce === boundNonce(binding))
