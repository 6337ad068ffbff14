import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { IncomingMessage } from "node:http"

const parse = (text: string): NetAddress.IpAddress | undefined => {
  const ip = NetAddress.ipFromString(text.trim())
  return Result.isSuccess(ip) ? NetAddress.toCanonical(ip.success) : undefined
}

/**
 * Returns the remote address of a client behind trusted proxies, for upgrade requests.
 * `HttpMiddleware.xForwardedHeaders` finds the same address for all other requests: from the right, the first address
 * in X-Forwarded-For that belongs to no trusted proxy, or the peer's own address if the header or the peer cannot be
 * trusted.
 */
export const forwardedAddress = (
  { headers, socket }: IncomingMessage,
  trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
): string => {
  const peer = socket.remoteAddress ?? ""
  const isTrusted = (address: NetAddress.IpAddress): boolean =>
    trustedProxies.some((network) => IpNetwork.contains(network, address))
  const peerAddress = parse(peer)
  const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",")
  if (peerAddress === undefined || forwarded === "" || !isTrusted(peerAddress)) return peer
  const hops = forwarded.split(",")
  for (let index = hops.length - 1; index >= 0; index--) {
    const address = parse(hops[index]!)
    if (address === undefined) return peer
    if (index === 0 || !isTrusted(address)) return NetAddress.formatIp(address)
  }
  return peer
}
