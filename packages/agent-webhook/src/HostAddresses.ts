import { Resolver } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"
import { callbackify } from "node:util"
import { isPublicAddress } from "./PublicAddress.ts"

/** An address of a host. */
export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Asks the DNS for a host's addresses, of both families. None when it has none; a rejection when it can't say now. */
export type ResolveHost = (host: string) => Promise<ReadonlyArray<HostAddress>>

/** How long one server of the DNS may take, in milliseconds, and how often it is asked. */
const TIMEOUT = 1_000
const TRIES = 2

/** That there is no such name, or that it has no address of a family. */
const isAbsence = (reason: unknown): boolean =>
  reason instanceof Error && "code" in reason && (reason.code === "ENOTFOUND" || reason.code === "ENODATA")

/** By the DNS alone (no file of this machine is read), and without the few threads that other lookups share. */
export const resolveByDns: ResolveHost = async (host) => {
  const resolver = new Resolver({ timeout: TIMEOUT, tries: TRIES })
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = results.flatMap((result, index) =>
    result.status === "fulfilled" ? result.value.map((address) => ({ address, family: FAMILIES[index]! })) : []
  )
  const unwell = results.find((result) => result.status === "rejected" && !isAbsence(result.reason))
  // What one family has is enough.
  if (found.length === 0 && unwell?.status === "rejected") throw unwell.reason
  return found
}
const FAMILIES = [4, 6] as const

/** A host that has no address which may be connected to, or none at all. */
export class NotPublic extends Error {
  override readonly name = "NotPublic"
}

/** The addresses of a host that are the public's. Rejects with `NotPublic`, or with what the DNS failed by. */
export const publicAddresses = async (resolve: ResolveHost, host: string): Promise<ReadonlyArray<HostAddress>> => {
  const usable = (await resolve(host)).filter(({ address }) => isPublicAddress(address))
  if (usable.length === 0) throw new NotPublic("no public address")
  return usable
}

const loopback: ReadonlyArray<HostAddress> = [{ address: "127.0.0.1", family: 4 }]

/** What node:net asks for a name's addresses. An allowed name is this machine's own. */
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

/** Whether what a socket is connected to is what it may be. */
export const mayBeConnected = (address: string, isAllowed: boolean): boolean =>
  isIP(address) !== 0 && (isAllowed ? address === "::1" || address.startsWith("127.") : isPublicAddress(address))
