import { isIP } from "node:net"
import { isPublicAddress } from "./PublicAddress.ts"

/** A host that is allowed although it is not public, such as the sandbox's agent on the tester's machine. */
export type AllowedAgent = AllowedHost | AllowedLoopback

/** Every http URL of this machine is allowed, for event webhooks. */
export interface AllowedLoopback {
  readonly loopback: "http"
}

/** One host, by https. */
export interface AllowedHost {
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
  /** Whether the host is on this machine, and allowed. */
  readonly isAllowed: boolean
  /** The certificate authority of an allowed host. */
  readonly ca: string | undefined
  /** Whether the URL is http, without TLS. Only on this machine. */
  readonly isPlain: boolean
}

const LENGTH_MAX = 2_048
const HTTPS_PORT = 443
const HTTP_PORT = 80

/** Names that are never public, even if a resolver returns a public address for them. */
const privateName = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|onion|home\.arpa)$/

/**
 * The only message about a host that may not be used, whether it is private or unknown, so that it reveals nothing
 * about names in the network.
 */
export const UNUSABLE_HOST = "must have a host with a public internet address"

/** Returns whether the port is the default https port, or the host is explicitly allowed. */
export const hasUsualPort = ({ isAllowed, port }: CallbackUrl): boolean => isAllowed || port === HTTPS_PORT

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

/** Parses a URL, or returns why it cannot be an agent's, as a predicate ("must begin with https://"). Uses no network. */
export const readCallbackUrl = (text: string, allow: ReadonlyArray<AllowedAgent>): CallbackUrl | string => {
  if (text.length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`
  const url = URL.parse(text)
  if (url === null) return "is not a valid URL"
  const isPlain = url.protocol === "http:" && allow.some((entry) => "loopback" in entry)
  if (url.protocol !== "https:" && !isPlain) return "must begin with https://"
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password"
  // A trailing dot names the same host, but no certificate contains it.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
  const usualPort = isPlain ? HTTP_PORT : HTTPS_PORT
  const port = url.port === "" ? usualPort : Number(url.port)
  if (port === 0) return "has a port that can't be connected to"
  if (isPlain && !isLoopback(host)) return "must begin with https://, unless its host is this machine"
  const found = allow.find(
    (entry): entry is AllowedHost => "host" in entry && entry.host === host && entry.port === port
  )
  const isAllowed = isPlain || found !== undefined
  const isLiteral = isIP(host) !== 0
  if (!isAllowed) {
    const isPublic = isLiteral ? isPublicAddress(host) : /^(?:[^.]+\.)+[^.]+$/.test(host) && !privateName.test(host)
    if (!isPublic) return UNUSABLE_HOST
  }
  return { host, port, path: url.pathname + url.search, isLiteral, isAllowed, ca: found?.ca, isPlain }
}
