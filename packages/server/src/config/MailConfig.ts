import { DateTime, isEmailAddress, type Timestamp } from "@agentos/core"
import { Option, Redacted, Schema } from "effect"
import { Resolver } from "node:dns"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

interface DkimKeyConfig {
  readonly selector: string
  readonly keyFile: string
}

/** The key that replaces another one. */
export interface NextDkimKeyConfig extends DkimKeyConfig {
  readonly from: Timestamp.Timestamp
}

export interface MailConfig {
  readonly domain: string
  readonly relay: {
    readonly host: string
    readonly port: number
    /** `starttls` by default: the connection is encrypted before anything is sent. */
    readonly security: "none" | "opportunistic" | "starttls" | "tls"
    readonly credentials: { readonly user: string; readonly password: Redacted.Redacted<string> } | undefined
  }
  readonly dkim: (DkimKeyConfig & { readonly next: NextDkimKeyConfig | undefined }) | undefined
  /** The name of this host in mail, which is the name in the domain's MX record. */
  readonly hostName: string
  readonly listener: {
    readonly host: string
    readonly port: number
    /** If undefined, a self-signed certificate is generated, because senders do not verify the issuer. */
    readonly certificate: { readonly keyFile: string; readonly certificateFile: string } | undefined
    /** Limits of concurrent sessions: of all senders, and of one address. */
    readonly sessions: number
    readonly sessionsPerAddress: number
    /** Limit of one address. */
    readonly messagesPerHour: number
  }
  /** DNS for lookups: the system's resolver if neither is given. */
  readonly dns: { readonly servers: ReadonlyArray<string>; readonly zoneFile: string | undefined }
}

const DEFAULT_SESSIONS_PER_ADDRESS = 80

/** Reads the mail variables; undefined if no domain is configured. */
export const readMail = (reader: EnvironmentReader): MailConfig | undefined => {
  const domain = reader.text("AGENTOS_EMAIL_DOMAIN")?.toLowerCase()
  if (domain === undefined) return undefined
  if (!isEmailAddress(`a@${domain}`))
    reader.issues.push("AGENTOS_EMAIL_DOMAIN must be a domain name such as agents.example.com")
  const certificate = reader.together("AGENTOS_SMTP_KEY_FILE", "AGENTOS_SMTP_CERT_FILE")
  const credentials = reader.together("AGENTOS_SMTP_RELAY_USER", "AGENTOS_SMTP_RELAY_PASSWORD")
  const sessions = reader.integer("AGENTOS_SMTP_MAX_SESSIONS")
  const sessionsPerAddress =
    reader.integer("AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS") ?? Math.min(DEFAULT_SESSIONS_PER_ADDRESS, sessions)
  if (sessionsPerAddress > sessions) {
    reader.issues.push(`AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS must be at most AGENTOS_SMTP_MAX_SESSIONS (${sessions})`)
  }
  return {
    domain,
    relay: {
      host: reader.required("AGENTOS_SMTP_RELAY_HOST", "the host of the relay that sends outbound mail"),
      port: reader.integer("AGENTOS_SMTP_RELAY_PORT"),
      security: reader.choice("AGENTOS_SMTP_RELAY_TLS"),
      credentials: credentials && { user: credentials[0], password: Redacted.make(credentials[1]) }
    },
    dkim: readDkim(reader),
    hostName: reader.text("AGENTOS_SMTP_NAME") ?? domain,
    listener: {
      host: reader.text("AGENTOS_SMTP_HOST"),
      port: reader.integer("AGENTOS_SMTP_PORT"),
      certificate: certificate && { keyFile: certificate[0], certificateFile: certificate[1] },
      sessions,
      sessionsPerAddress,
      messagesPerHour: reader.integer("AGENTOS_SMTP_MESSAGES_PER_HOUR")
    },
    dns: {
      servers: readDnsServers(reader),
      zoneFile: reader.text("AGENTOS_DNS_ZONE_FILE")
    }
  }
}

const decodeDateTime = Schema.decodeUnknownOption(DateTime)

const readDkim = (reader: EnvironmentReader): MailConfig["dkim"] => {
  const key = reader.together("AGENTOS_DKIM_SELECTOR", "AGENTOS_DKIM_KEY_FILE")
  const next = reader.together("AGENTOS_DKIM_NEXT_SELECTOR", "AGENTOS_DKIM_NEXT_KEY_FILE", "AGENTOS_DKIM_NEXT_FROM")
  const from = decodeDateTime(next?.[2])
  if (next !== undefined && Option.isNone(from))
    reader.issues.push(
      "AGENTOS_DKIM_NEXT_FROM must be a date and time with an offset, for example 2026-01-31T12:00:00Z"
    )
  if (next !== undefined && reader.text("AGENTOS_DKIM_SELECTOR") === undefined)
    reader.issues.push(
      "AGENTOS_DKIM_NEXT_SELECTOR follows AGENTOS_DKIM_SELECTOR, which is missing. Set AGENTOS_DKIM_SELECTOR and " +
        "AGENTOS_DKIM_KEY_FILE, to the next key if no other signs until then"
    )
  if (key === undefined) return undefined
  const [selector, keyFile] = key
  if (next?.[0].toLowerCase() === selector.toLowerCase())
    reader.issues.push(
      "AGENTOS_DKIM_NEXT_SELECTOR must differ from AGENTOS_DKIM_SELECTOR: the records of both keys are published at the " +
        "same time. Choose another name, and publish the record of the next key there"
    )
  return {
    selector,
    keyFile,
    next: next && Option.isSome(from) ? { selector: next[0], keyFile: next[1], from: from.value } : undefined
  }
}

const readDnsServers = (reader: EnvironmentReader): ReadonlyArray<string> => {
  const servers = (reader.text("AGENTOS_DNS_SERVERS")?.split(",") ?? []).map((server) => server.trim())
  try {
    new Resolver().setServers(servers)
  } catch {
    reader.issues.push("AGENTOS_DNS_SERVERS must be comma-separated IP addresses such as 192.0.2.1,[2001:db8::1]:53")
  }
  return servers
}
