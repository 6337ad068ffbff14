import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** The header with the signature, both in requests and in socket handshakes. */
export const SIGNATURE_HEADER = "x-twilio-signature"

/**
 * Returns whether a request was signed by Twilio: its signature is the HMAC-SHA1, keyed with the account's auth
 * token, of the requested URL and the form's fields sorted by name
 * (https://www.twilio.com/docs/usage/security). A repeated field is signed once for each different value,
 * sorted.
 *
 * `url` is the URL as it was given to Twilio, with its query. It is made from the configured public URL, never
 * from the Host header, which the sender can choose. Twilio may or may not include the port. The handshake of a
 * socket has no form. The comparison takes constant time.
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
 * Returns the URL as it is, and the other forms that Twilio may have signed. One is without its port, which
 * Twilio omits for https on some ports. The other is with the default port of its scheme.
 */
const spellings = (url: string): ReadonlyArray<string> => {
  const [, scheme = "", host = "", port, rest = ""] =
    /^([a-z]+):\/\/((?:\[[^\]]*\])?[^/?#:]*)(?::(\d+))?(.*)$/is.exec(url) ?? []
  const usual = DEFAULT_PORTS[scheme.toLowerCase()]
  if (usual === undefined) return [url]
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}:${port ?? usual}${rest}`]
}
