import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** The header with the signature, both in requests and in socket handshakes. */
export const SIGNATURE_HEADER = "x-twilio-signature"
/** The header of requests that are signed with a SharedKey: `key=<id>,algorithm=HMAC_SHA256`. */
export const SETTINGS_HEADER = "x-twilio-webhooks-signature-settings"
/** The maximum number of SharedKeys: the current one and those of a rotation. */
export const SHARED_KEYS_MAX = 5
/** Size limit of the settings. An id of a key has about 50 characters. */
const SETTINGS_MAX = 512

const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ["HMAC_SHA1", "sha1"],
  ["HMAC_SHA256", "sha256"]
])

/** How a request says that it is signed, and the secrets of the account's SharedKeys. */
export interface SharedKeySettings {
  /** The value of `SETTINGS_HEADER`. */
  readonly header: string | undefined
  readonly sharedKeys: ReadonlyArray<Redacted.Redacted>
}

/**
 * Returns whether a request was signed by Twilio: its signature is the HMAC-SHA1, keyed with the account's auth
 * token, of the requested URL and the form's fields sorted by name
 * (https://www.twilio.com/docs/usage/security). A repeated field is signed once for each different value,
 * sorted.
 *
 * A request with `SETTINGS_HEADER` is signed with the algorithm that the header names, HMAC-SHA1 or HMAC-SHA256, and a
 * SharedKey (https://www.twilio.com/docs/usage/webhooks/webhook-shared-keys). The header itself is not signed, so it
 * selects no key: every secret is tried, at most `SHARED_KEYS_MAX` and the auth token.
 *
 * `url` is the URL as it was given to Twilio, with its query. It is made from the configured public URL, never
 * from the Host header, which the sender can choose. Twilio may or may not include the port. The handshake of a
 * socket has no form. The comparison takes constant time.
 */
export const verify = (
  authToken: Redacted.Redacted,
  url: string,
  params: URLSearchParams,
  header: string | undefined,
  { header: settings = "", sharedKeys }: SharedKeySettings = { header: undefined, sharedKeys: [] }
): boolean => {
  const hash = ALGORITHMS.get(algorithmIn(settings))
  if (hash === undefined) return false
  const given = Buffer.from(header ?? "")
  const fields = signedFields(params)
  const keys = settings === "" ? [authToken] : [authToken, ...sharedKeys.slice(0, SHARED_KEYS_MAX)]
  const matches = spellings(url).flatMap((spelling) =>
    keys.map((key) => {
      const expected = Buffer.from(
        createHmac(hash, Redacted.value(key)).update(`${spelling}${fields}`).digest("base64")
      )
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  )
  return matches.includes(true)
}

/** Returns the algorithm that the settings name; by default that of the auth token. */
const algorithmIn = (settings: string): string => {
  const parts = settings.length > SETTINGS_MAX ? [] : settings.split(",").map((part) => part.trim())
  const named = parts.find((part) => /^algorithm=./.test(part))
  return named === undefined ? "HMAC_SHA1" : named.slice("algorithm=".length).trim().toUpperCase()
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
