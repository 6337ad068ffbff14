import { isIP } from "node:net"
import { isPublicAddress } from "./PublicAddress.ts"

/** A host that is allowed although it is not public, such as the sandbox's agent on the tester's machine. */
export interface AllowedAgent {
  /** The host as written in the URL: an IP address without brackets, or `localhost`. */
  readonly host: string
  readonly port: number
  /** The certificate authority of the host, as PEM. */
  readonly ca: string
}

/** The parts of an agent's URL. */
export interface CallbackUrl {
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** Includes the query. */
  readonly path: string
  readonly isLiteral: boolean
  readonly allowed: AllowedAgent | undefined
}

const LENGTH_MAX = 2_048
const HTTPS_PORT = 443

/** Names that are never public, even if a resolver returns a public address for them. */
const privateName = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|onion|home\.arpa)$/

/**
 * The only message about a host that may not be used, whether it is private or unknown, so that it reveals nothing
 * about names in the network.
 */
export const UNUSABLE_HOST = "must have a host with a public internet address"

/** Returns whether the port is the default https port, or the host is explicitly allowed. */
export const hasUsualPort = ({ allowed, port }: CallbackUrl): boolean => allowed !== undefined || port === HTTPS_PORT

/** Parses a URL, or returns why it cannot be an agent's, as a predicate ("must begin with https://"). Uses no network. */
export const readCallbackUrl = (text: string, allow: ReadonlyArray<AllowedAgent>): CallbackUrl | string => {
  if (text.length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`
  const url = URL.parse(text)
  if (url === null) return "is not a valid URL"
  if (url.protocol !== "https:") return "must begin with https://"
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password"
  // A trailing dot names the same host, but no certificate contains it.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
  const port = url.port === "" ? HTTPS_PORT : Number(url.port)
  if (port === 0) return "has a port that can't be connected to"
  const allowed = allow.find((entry) => entry.host === host && entry.port === port)
  const isLiteral = isIP(host) !== 0
  if (allowed === undefined) {
    const isPublic = isLiteral ? isPublicAddress(host) : /^(?:[^.]+\.)+[^.]+$/.test(host) && !privateName.test(host)
    if (!isPublic) return UNUSABLE_HOST
  }
  return { host, port, path: url.pathname + url.search, isLiteral, allowed }
}
