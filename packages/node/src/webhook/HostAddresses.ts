import { Resolver } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"
import { callbackify } from "node:util"
import { isPublicAddress } from "./PublicAddress.ts"

export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/**
 * Resolves a host's addresses of both families. Returns none if the host has none, and rejects if DNS cannot answer
 * now.
 */
export type ResolveHost = (host: string) => Promise<ReadonlyArray<HostAddress>>

/** Timeout of one query to a DNS server, in milliseconds, and the number of tries. */
const TIMEOUT = 1_000
const TRIES = 2

/** Returns whether the name does not exist, or has no address of this family. */
const isAbsence = (reason: unknown): boolean =>
  reason instanceof Error && "code" in reason && (reason.code === "ENOTFOUND" || reason.code === "ENODATA")

/** Uses DNS only: reads no local file, and avoids the small thread pool that other lookups share. */
export const resolveByDns: ResolveHost = async (host) => {
  const resolver = new Resolver({ timeout: TIMEOUT, tries: TRIES })
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = results.flatMap((result, index) =>
    result.status === "fulfilled" ? result.value.map((address) => ({ address, family: FAMILIES[index]! })) : []
  )
  const failed = results.find((result) => result.status === "rejected" && !isAbsence(result.reason))
  // Addresses of one family are sufficient.
  if (found.length === 0 && failed?.status === "rejected") throw failed.reason
  return found
}
const FAMILIES = [4, 6] as const

/** The host has no address, or none that may be connected to. */
export class NotPublic extends Error {
  override readonly name = "NotPublic"
}

/** Returns the public addresses of a host. Rejects with `NotPublic`, or with the error of DNS. */
export const publicAddresses = async (resolve: ResolveHost, host: string): Promise<ReadonlyArray<HostAddress>> => {
  const usable = (await resolve(host)).filter(({ address }) => isPublicAddress(address))
  if (usable.length === 0) throw new NotPublic("no public address")
  return usable
}

const loopback: ReadonlyArray<HostAddress> = [{ address: "127.0.0.1", family: 4 }]

/** The lookup function for node:net. An allowed name resolves to this machine. */
export const lookupOf = (resolve: ResolveHost, isAllowed: boolean): LookupFunction => {
  const addressesOf = callbackify((host: string) =>
    isAllowed ? Promise.resolve(loopback) : publicAddresses(resolve, host)
  )
  return (host, options, callback) =>
    addressesOf(host, (error, found) => {
      const [first] = error === null ? found : []
      if (first === undefined) return callback(error, options.all === true ? [] : "")
      return options.all === true ? callback(null, [...found]) : callback(null, first.address, first.family)
    })
}

export const mayBeConnected = (address: string, isAllowed: boolean): boolean =>
  isIP(address) !== 0 && (isAllowed ? address === "::1" || address.startsWith("127.") : isPublicAddress(address))
