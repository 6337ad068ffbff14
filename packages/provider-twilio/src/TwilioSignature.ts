import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** The header that carries the signature, of requests and of socket handshakes alike. */
export const SIGNATURE_HEADER = "x-twilio-signature"

/**
 * Whether a request is Twilio's: its signature is the HMAC-SHA1, under the account's auth token, of the address that
 * was called and the form's fields in the order of their names (https://www.twilio.com/docs/usage/security). A field
 * that stands there several times is signed once for each value that differs, in order.
 *
 * `url` is the address as Twilio was given it, with its query: made of the configured public URL, never of the Host
 * header, which is the caller's to choose. Twilio may or may not write its port. A socket's handshake has no form. Takes as long for a signature that is nearly right as for any other.
 */
export const verify = (
  authToken: Redacted.Redacted,
  url: string,
  params: URLSearchParams,
  header: string | undefined
): boolean => {
  const given = Buffer.from(header ?? "")
  const fields = signedFields(params)
  const matches = spellings(url).map((spelling) => {
    const expected = Buffer.from(
      createHmac("sha1", Redacted.value(authToken)).update(`${spelling}${fields}`).digest("base64")
    )
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return matches.includes(true)
}

/** Groups the fields once: `getAll` searches the whole form for each name. */
const signedFields = (params: URLSearchParams): string => {
  const valuesByName = Map.groupBy(params, ([name]) => name)
  return [...valuesByName.keys()]
    .toSorted()
    .flatMap((name) => {
      const values = new Set(valuesByName.get(name)?.map(([, value]) => value))
      return [...values].toSorted().map((value) => `${name}${value}`)
    })
    .join("")
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443", ws: "80", wss: "443" }

/**
 * The address as it is, and the others that Twilio may have signed: without its port, which is left out of signatures for
 * https on any port, though not of all; and with the port that its scheme has anyway.
 */
const spellings = (url: string): ReadonlyArray<string> => {
  const [, scheme = "", host = "", port, rest = ""] =
    /^([a-z]+):\/\/((?:\[[^\]]*\])?[^/?#:]*)(?::(\d+))?(.*)$/is.exec(url) ?? []
  const usual = DEFAULT_PORTS[scheme.toLowerCase()]
  if (usual === undefined) return [url]
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}:${port ?? usual}${rest}`]
}
