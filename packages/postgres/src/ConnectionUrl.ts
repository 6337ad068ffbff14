import { Effect, Redacted } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { type ConnectionOptions, createSecureContext } from "node:tls"
import { type DatabaseUnsuitable, unsuitable } from "./DatabaseFailure.ts"

export interface DatabaseHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** How to connect to a database, as its URL says. */
export interface ConnectionTarget {
  /** The hosts, which are tried in this order. There is at least one. */
  readonly hosts: ReadonlyArray<DatabaseHost>
  /** Whether a server that accepts no writes is passed over. */
  readonly needsWrites: boolean
  /** The rest, as the driver takes it. */
  readonly driver: {
    readonly username: string | undefined
    readonly password: Redacted.Redacted | undefined
    readonly database: string | undefined
    readonly startupOptions: string | undefined
    readonly ssl: boolean | ConnectionOptions
  }
  /** TLS is used if the server offers it, without a check of its certificate. */
  readonly prefersTls: boolean
  readonly applicationName: string | undefined
  /** Milliseconds. */
  readonly connectTimeout: number | undefined
}

const DEFAULT_PORT = 5432
/** User and password; hosts; database; parameters (PostgreSQL manual, "Connection URIs"). */
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i

const SUPPORTED = [
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "application_name",
  "connect_timeout",
  "options",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "target_session_attrs"
]
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
const VERIFYING = ["require", "verify-ca", "verify-full"]

/** Thrown while a URL is read. */
class Refused {
  readonly reason: DatabaseUnsuitable
  constructor(problem: string, fix: string) {
    this.reason = unsuitable(problem, fix)
  }
}

const decoded = (text: string | undefined, part: string): string | undefined => {
  if (text === undefined || text === "") return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refused(
      `DATABASE_URL has an invalid percent-encoding in its ${part}`,
      "Encode a % itself as %25, and other special characters as % and two digits."
    )
  }
}

/** Splits `host:port`, where the host may be an IPv6 address in brackets. */
const hostOf = (text: string): readonly [host: string | undefined, port: string | undefined] => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(text) ?? []
  if (bracketed === undefined && plain === undefined)
    throw new Refused(
      "DATABASE_URL has an invalid host",
      "Write hosts as name:port, separated by commas, and an IPv6 address in brackets."
    )
  return [bracketed ?? decoded(plain, "host"), port === "" ? undefined : port]
}

const portOf = (text: string | undefined): number => {
  if (text === undefined || text === "") return DEFAULT_PORT
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new Refused("DATABASE_URL has an invalid port", "Use a number from 1 to 65535.")
}

/** Returns the hosts. The parameters `host` and `port` replace those before the path, as in libpq. */
const hostsOf = (authority: string, parameters: ReadonlyMap<string, string>): ReadonlyArray<DatabaseHost> => {
  const written = authority === "" ? [] : authority.split(",").map(hostOf)
  const names = parameters.get("host")?.split(",") ?? written.map(([host]) => host ?? "localhost")
  const ports = parameters.get("port")?.split(",") ?? written.map(([, port]) => port)
  if (names.length === 0) names.push("localhost")
  if (ports.length > 1 && ports.length !== names.length)
    throw new Refused(
      `DATABASE_URL has ${names.length} hosts and ${ports.length} ports`,
      "Name one port for all hosts, or one for each."
    )
  return names.map((host, index) => ({ host, port: portOf(ports.length === 1 ? ports[0] : ports[index]) }))
}

const parametersOf = (query: string | undefined): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>()
  for (const pair of (query ?? "").split("&").filter((text) => text !== "")) {
    const [name = "", value = ""] = pair.split(/=(.*)/s)
    // libpq decodes no + in parameters.
    parameters.set(decoded(name, "parameters") ?? "", decoded(value, `parameter ${name}`) ?? "")
  }
  const unknown = [...parameters.keys()].filter((name) => !SUPPORTED.includes(name))
  if (unknown.length > 0)
    throw new Refused(
      `DATABASE_URL has parameters that are not supported: ${unknown.join(", ")}`,
      `Remove them. These are supported: ${SUPPORTED.join(", ")}.`
    )
  return parameters
}

const readPem = (name: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : ""
    throw new Refused(
      `${name} of DATABASE_URL can't be read: ${path}${code}`,
      "Correct the path, or let this user read it."
    )
  }
}

/** Returns the driver's TLS options for the parameters whose names begin with `ssl`. */
const tlsOf = (parameters: ReadonlyMap<string, string>): boolean | ConnectionOptions => {
  const mode = parameters.get("sslmode") ?? "disable"
  if (!SSL_MODES.includes(mode))
    throw new Refused(`sslmode=${mode} of DATABASE_URL is not known`, `Use one of ${SSL_MODES.join(", ")}.`)
  const [root, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => parameters.get(name))
  const given = ["sslrootcert", "sslcert", "sslkey"].filter((name) => parameters.has(name))
  if (!VERIFYING.includes(mode)) {
    if (given.length === 0) return mode !== "disable"
    throw new Refused(
      `DATABASE_URL has ${given.join(", ")} without a TLS connection`,
      `Add sslmode=verify-full, which requires TLS and checks the server's certificate.`
    )
  }
  if ((cert === undefined) !== (key === undefined))
    throw new Refused(
      `DATABASE_URL has ${cert === undefined ? "sslkey without sslcert" : "sslcert without sslkey"}`,
      "Set both to present a client certificate."
    )
  const files: { readonly ca?: string; readonly cert?: string; readonly key?: string } = {
    // "system" names the authorities that the system trusts.
    ...(root !== undefined && root !== "system" && { ca: readPem("sslrootcert", root) }),
    ...(cert !== undefined && { cert: readPem("sslcert", cert) }),
    ...(key !== undefined && { key: readPem("sslkey", key) })
  }
  try {
    createSecureContext(files)
    // A context ignores authorities that it can't read.
    if (files.ca !== undefined) new X509Certificate(files.ca)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new Refused(
      `${given.join(", ")} of DATABASE_URL can't be used: ${detail}`,
      "Use PEM files, and a key without a passphrase that belongs to the certificate."
    )
  }
  // verify-ca accepts the certificate of another host.
  return { ...files, ...(mode === "verify-ca" && { checkServerIdentity: () => undefined }) }
}

const secondsOf = (text: string): number => {
  const seconds = Number(text)
  if (/^\d+$/.test(text) && seconds >= 1) return seconds
  throw new Refused("connect_timeout of DATABASE_URL is not valid", "Use a whole number of seconds, at least 1.")
}

const needsWrites = (attributes: string | undefined): boolean => {
  if (attributes === undefined || attributes === "any") return false
  if (attributes === "read-write" || attributes === "primary") return true
  throw new Refused(
    `target_session_attrs=${attributes} of DATABASE_URL selects a server that can't be written to`,
    "Use read-write or primary, or leave it out."
  )
}

/**
 * Reads a URL as libpq does, and the files that it names. Parameters that would have no effect are refused. Several
 * hosts are tried in order, and servers that accept no writes are passed over unless `target_session_attrs=any` says
 * otherwise. `sslmode=require` checks the server's certificate, as `verify-full` does; `prefer` and `allow` check none, and
 * use no TLS if the server has none.
 */
export const readConnectionUrl = (url: Redacted.Redacted): Effect.Effect<ConnectionTarget, DatabaseUnsuitable> =>
  Effect.try({
    try: (): ConnectionTarget => {
      const [match, userInfo = "", authority = "", path, query] = URL_FORM.exec(Redacted.value(url)) ?? []
      if (match === undefined)
        throw new Refused(
          "DATABASE_URL is not a valid URL",
          "Write it as postgres://user:password@host:port/database, with special characters of the password encoded."
        )
      const [user, password] = userInfo.split(/:(.*)/s)
      const parameters = parametersOf(query)
      const hosts = hostsOf(authority, parameters)
      const secret = parameters.get("password") ?? decoded(password, "password")
      const connectTimeout = parameters.get("connect_timeout")
      const attributes = parameters.get("target_session_attrs")
      return {
        hosts,
        needsWrites: needsWrites(attributes) || (attributes === undefined && hosts.length > 1),
        driver: {
          username: parameters.get("user") ?? decoded(user, "user"),
          password: secret === undefined ? undefined : Redacted.make(secret),
          database: parameters.get("dbname") ?? decoded(path, "database"),
          startupOptions: parameters.get("options"),
          ssl: tlsOf(parameters)
        },
        prefersTls: ["prefer", "allow"].includes(parameters.get("sslmode") ?? ""),
        applicationName: parameters.get("application_name"),
        connectTimeout: connectTimeout === undefined ? undefined : secondsOf(connectTimeout) * 1_000
      }
    },
    catch: (error) => {
      if (error instanceof Refused) return error.reason
      throw error
    }
  })
