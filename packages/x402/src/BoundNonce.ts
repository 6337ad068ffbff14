import { createHash } from "node:crypto"

/*
 * Clients may bind the nonce of an authorization, which the payer signs, to what they were asked to pay for. A nonce has 32
 * bytes (EIP-3009): a tag of 8, then the first 24 of a SHA-256.
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

/**
 * Returns the nonce that is bound to a challenge and a server: the hash is over the origin that the client connected to, a
 * line feed, and the challenge's `binding`.
 */
export const originNonce = (origin: string, binding: string): `0x${string}` =>
  tagged(ORIGIN_NONCE_TAG, `${origin}\n${binding}`)

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]

/** Returns the origins of a server: that of its public URL, and for one on loopback the other names of this machine. */
const originsOf = (publicUrl: string): ReadonlyArray<string> => {
  const { hostname, origin, port, protocol } = new URL(publicUrl)
  return LOOPBACK_HOSTS.includes(hostname)
    ? LOOPBACK_HOSTS.map((host) => new URL(`${protocol}//${host}:${port}`).origin)
    : [origin]
}

/**
 * Returns whether a nonce (in lower case) carries a tag but is bound to another challenge than that of this binding, or to
 * another server than that of this URL.
 */
export const isBoundElsewhere = (nonce: string, binding: unknown, publicUrl: string): boolean => {
  if (nonce.startsWith(NONCE_TAG)) return !(typeof binding === "string" && nonce === boundNonce(binding))
  if (!nonce.startsWith(ORIGIN_NONCE_TAG)) return false
  return !(typeof binding === "string" && originsOf(publicUrl).some((origin) => nonce === originNonce(origin, binding)))
}
