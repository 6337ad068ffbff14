import { hexOf, utf8 } from "../Encoding.ts"
import { isLoopback } from "../Options.ts"

/** ASCII `agentos2`: the prefix of a nonce that is bound to a server and a challenge. */
const NONCE_TAG = "6167656e746f7332"
/** Bytes of the hash after the tag. */
const HASH_BYTES = 24

/** Returns the origin of a URL. Every name of this machine is `localhost`. */
const originOf = (text: string): string => {
  const url = new URL(text)
  if (isLoopback(url.hostname)) url.hostname = "localhost"
  return url.origin
}

/**
 * Returns the nonce of a payment, bound to the server that this client connected to and to the challenge: the tag, then 24
 * bytes of SHA-256 over the origin, a line feed and `extra.binding`. So a server that relays the challenge of another one
 * gets a payment that the other one refuses, also if it removes the binding.
 */
export const nonceFor = async (binding: unknown, baseUrl: string): Promise<`0x${string}`> => {
  const hash =
    typeof binding === "string"
      ? new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(`${originOf(baseUrl)}\n${binding}`)))
      : // oxlint-disable-next-line no-restricted-properties -- a nonce is random on every platform
        crypto.getRandomValues(new Uint8Array(HASH_BYTES))
  return `0x${NONCE_TAG}${hexOf(hash.subarray(0, HASH_BYTES))}`
}
