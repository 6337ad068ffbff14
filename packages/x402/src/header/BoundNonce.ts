import { createHash } from "node:crypto"

/*
 * Clients may bind the nonce of an authorization, which the payer signs, to the challenge that they accepted. A nonce
 * has 32 bytes (EIP-3009): a tag of 8, then the first 24 of a SHA-256.
 */

/** ASCII `agentos1`: the tag of a nonce that is bound to a challenge, and so to one request. */
export const NONCE_TAG = "0x6167656e746f7331"

/**
 * ASCII `agentos2`: the tag of a nonce that is also bound to the server which the client connected to. A site that relays the
 * challenge of this server as its own gets a payment that this server refuses.
 */
export const ORIGIN_NONCE_TAG = "0x6167656e746f7332"

/** Number of hash bytes after the tag. */
const HASH_BYTES = 24

const tagged = (tag: string, text: string): `0x${string}` =>
  `0x${tag.slice(2)}${createHash("sha256")
    .update(text, "ascii")
    .digest("hex")
    .slice(0, 2 * HASH_BYTES)}`

/** Returns the nonce that is bound to a challenge: the hash is over its `binding`. */
export const boundNonce = (binding: string): `0x${string}` => tagged(NONCE_TAG, binding)

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns the origin of a URL. Every name of this machine is `localhost`: which one a client uses says nothing. */
const originOf = (text: string): string => {
  const url = new URL(text)
  if (LOOPBACK.test(url.hostname)) url.hostname = "localhost"
  return url.origin
}

/**
 * Returns the nonce that is bound to a challenge and a server: the hash is over the origin of the URL that the client
 * connected to, a line feed, and the challenge's `binding`.
 */
export const originNonce = (url: string, binding: string): `0x${string}` =>
  tagged(ORIGIN_NONCE_TAG, `${originOf(url)}\n${binding}`)

/**
 * Returns whether a nonce (in lower case) carries a tag but is bound to another challenge than that of this binding, or to
 * another server than that of this URL.
 */
export const isBoundElsewhere = (nonce: string, binding: unknown, publicUrl: string): boolean => {
  const isTagged = nonce.startsWith(NONCE_TAG) || nonce.startsWith(ORIGIN_NONCE_TAG)
  if (!isTagged) return false
  return !(typeof binding === "string" && (nonce === boundNonce(binding) || nonce === originNonce(publicUrl, binding)))
}
