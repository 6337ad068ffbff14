import { Option } from "effect"

/**
 * Maps remote addresses to the subjects of limits. One IPv6 host has at least a /64 network to itself and a site a /48
 * (RFC 6177), so IPv6 addresses are never counted individually. A text that is not an address is its own subject.
 */

/** Leading groups that all IPv6 addresses of a client, and of a site, share. */
const CLIENT_GROUPS = 4
const SITE_GROUPS = 3
const GROUPS = 8

/** Longer texts are not addresses: eight groups, and the name of an interface (RFC 4007). */
const LENGTH_MAX = 64

/** An IPv4 address, also when mapped into an IPv6 address (RFC 4291, section 2.5.5.2). */
const IPV4 = /^(?:::ffff:)?(?<address>(?<network>\d+\.\d+\.\d+)\.\d+)$/i
/** The last two groups may be written as an IPv4 address; a zone names a link of this machine (RFC 4007). */
const IPV6 = /^(?<groups>[\da-f:]*:[\da-f:]*)(?<embedded>\d+\.\d+\.\d+\.\d+)?(?:%.+)?$/i

const matchAddress = (pattern: RegExp, address: string) =>
  address.length > LENGTH_MAX ? undefined : pattern.exec(address)?.groups

const embeddedGroups = (ipv4: string): ReadonlyArray<string> => {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number)
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
}

/** Returns the first groups of an IPv6 address in canonical spelling. */
const prefixOf = (address: string, count: number): Option.Option<string> =>
  Option.map(Option.fromNullishOr(matchAddress(IPV6, address)), ({ embedded, groups = "" }) => {
    const [head = "", tail = ""] = groups.split("::")
    const first = head.split(":").filter(Boolean)
    const last = [...tail.split(":").filter(Boolean), ...(embedded === undefined ? [] : embeddedGroups(embedded))]
    const zeros = Array.from({ length: Math.max(0, GROUPS - first.length - last.length) }, () => "0")
    const prefix = [...first, ...zeros, ...last].slice(0, count)
    return prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(":")
  })

/** Returns the client behind an address: an IPv4 address, or the /64 of an IPv6 address. */
export const clientOf = (address: string): string =>
  matchAddress(IPV4, address)?.["address"] ??
  Option.match(prefixOf(address, CLIENT_GROUPS), { onNone: () => address, onSome: (prefix) => `${prefix}::/64` })

/** Returns the /48 of an IPv6 address, in which one site has 65,536 clients; none for an IPv4 address. */
export const siteOf = (address: string): Option.Option<string> =>
  matchAddress(IPV4, address) !== undefined
    ? Option.none()
    : Option.map(prefixOf(address, SITE_GROUPS), (prefix) => `${prefix}::/48`)

/** Returns the network that often belongs to a single party: an IPv4 /24 or an IPv6 /48. */
export const networkOf = (address: string): string => {
  const network = matchAddress(IPV4, address)?.["network"]
  return network === undefined ? Option.getOrElse(siteOf(address), () => address) : `${network}.0/24`
}
