import { isIP } from "node:net"
import { isPublicAddress } from "./PublicAddress.ts"

/** A host that is let through though it is not public, as the sandbox's own agent on the tester's machine. */
export interface AllowedAgent {
  /** As it stands in the address: an IP address without brackets, or `localhost`. */
  readonly host: string
  readonly port: number
  /** PEM of the authority behind its certificate. */
  readonly ca: string
}

/** Where an agent listens, as its address says. */
export interface CallbackUrl {
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** With the query. */
  readonly path: string
  readonly isLiteral: boolean
  readonly allowed: AllowedAgent | undefined
}

const LENGTH_MAX = 2_048
const HTTPS_PORT = 443

/** Names that are no public ones, whatever a resolver says of them. */
const privateName = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|onion|home\.arpa)$/

/** All that is said of a host that may not be asked, whether it is private or unknown: it tells nothing about names of the network. */
export const UNUSABLE_HOST = "its host has no address on the public internet"

/** Whether an agent listens where every https address may, or where it is allowed. */
export const hasUsualPort = ({ allowed, port }: CallbackUrl): boolean => allowed !== undefined || port === HTTPS_PORT

/** Reads an address, or says in a clause why it can't be an agent's. Asks nobody. */
export const readCallbackUrl = (text: string, allow: ReadonlyArray<AllowedAgent>): CallbackUrl | string => {
  if (text.length > LENGTH_MAX) return `it is longer than ${LENGTH_MAX} characters`
  const url = URL.parse(text)
  if (url === null) return "it is not a URL"
  if (url.protocol !== "https:") return "it is not https"
  if (url.username !== "" || url.password !== "") return "it has a user name or password in it"
  // A dot at the end names the same host, and no certificate does.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
  const port = url.port === "" ? HTTPS_PORT : Number(url.port)
  if (port === 0) return "it has no port that can be connected to"
  const allowed = allow.find((entry) => entry.host === host && entry.port === port)
  const isLiteral = isIP(host) !== 0
  if (allowed === undefined) {
    const isPublic = isLiteral ? isPublicAddress(host) : /^(?:[^.]+\.)+[^.]+$/.test(host) && !privateName.test(host)
    if (!isPublic) return UNUSABLE_HOST
  }
  return { host, port, path: url.pathname + url.search, isLiteral, allowed }
}
