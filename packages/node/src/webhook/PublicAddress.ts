import ipaddr from "ipaddr.js"

/**
 * Ranges that the library classifies as unicast although they are not public: the first address and the prefix length
 * of each (IANA special-purpose registries).
 */
const special6 = [
  // IPv4-compatible, deprecated, and the unassigned range around it.
  ["::", 8],
  ["64:ff9b::", 96],
  // NAT64 for local use.
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["100:0:0:1::", 64],
  // Teredo, ORCHID, benchmarks and other protocol assignments.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  // Site-local, deprecated.
  ["fec0::", 10],
  ["ff00::", 8]
] as const

const special4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  // 6to4 relays, deprecated.
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Hypervisors answer their guests here, although no registry lists it.
  ["168.63.129.16", 32]
] as const

const ranges4 = special4.map(([first, length]) => [ipaddr.IPv4.parse(first), length] as [ipaddr.IPv4, number])
const ranges6 = special6.map(([first, length]) => [ipaddr.IPv6.parse(first), length] as [ipaddr.IPv6, number])
const globalUnicast = ipaddr.IPv6.parse("2000::")

/**
 * Returns whether the text is the address of a host on the public internet. An IPv6 address that embeds an IPv4 address
 * (mapped, NAT64, 6to4, Teredo) is never public, because the host is reachable by its IPv4 address.
 */
export const isPublicAddress = (text: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    const address = ipaddr.IPv4.parse(text)
    return address.range() === "unicast" && !ranges4.some((range) => address.match(range))
  }
  // An address with a zone belongs to one link.
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.IPv6.parse(text)
  return (
    address.range() === "unicast" && address.match([globalUnicast, 3]) && !ranges6.some((range) => address.match(range))
  )
}
