import { Option, Redacted, Schema } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

/** Allows event webhooks at every http URL of this machine. */
const AllowedLoopbackConfig = Schema.Struct({ loopback: Schema.Literal("http") })

/** A host that agents may use although it is not public. */
const AllowedHostConfig = Schema.Struct({
  /** The host as written in the agents' URLs: an IP address without brackets, or `localhost`. */
  host: Schema.NonEmptyString,
  port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 })),
  /** A PEM file with the certificate authority of the host. */
  caFile: Schema.NonEmptyString
})
const AllowedAgentConfig = Schema.Union([AllowedHostConfig, AllowedLoopbackConfig])
export type AllowedAgentConfig = typeof AllowedAgentConfig.Type

export interface CarrierConfig {
  readonly accountSid: string
  readonly authToken: Redacted.Redacted
  /** The secrets of the SharedKeys with which the carrier may sign. */
  readonly sharedKeys: ReadonlyArray<Redacted.Redacted>
  /** Marks this deployment's numbers at the carrier. */
  readonly label: string
  /** Whether the carrier reports who answered. */
  readonly detectsMachines: boolean
  /** Without a trailing slash. */
  readonly apiUrl: string
}

export interface PhoneConfig {
  readonly carrier: CarrierConfig | undefined
  /** Empty except in a sandbox. */
  readonly allowedAgents: ReadonlyArray<AllowedAgentConfig>
}

type Mode = "production" | "sandbox"

const ACCOUNT_SID = /^AC[0-9a-fA-F]{32}$/
const LABEL_CHARACTERS_MAX = 64
const SHARED_KEYS_MAX = 5

export const readPhone = (reader: EnvironmentReader, mode: Mode): PhoneConfig => ({
  carrier: readCarrier(reader, mode),
  allowedAgents: readAllowedAgents(reader, mode)
})

const readCarrier = (reader: EnvironmentReader, mode: Mode): CarrierConfig | undefined => {
  const accountSid = reader.text("AGENTOS_TWILIO_ACCOUNT_SID")
  const account = reader.together("AGENTOS_TWILIO_ACCOUNT_SID", "AGENTOS_TWILIO_AUTH_TOKEN")
  const label = reader.text("AGENTOS_TWILIO_LABEL")
  const apiUrl = readApiUrl(reader, mode)
  const sharedKeys = readSharedKeys(reader)
  if (accountSid !== undefined && !ACCOUNT_SID.test(accountSid)) {
    reader.issues.push("AGENTOS_TWILIO_ACCOUNT_SID must be AC followed by 32 hexadecimal digits")
  }
  if (label.length > LABEL_CHARACTERS_MAX) {
    reader.issues.push(`AGENTOS_TWILIO_LABEL must have at most ${LABEL_CHARACTERS_MAX} characters`)
  }
  const detectsMachines = reader.choice("AGENTOS_TWILIO_MACHINE_DETECTION") === "on"
  const authToken = account && Redacted.make(account[1])
  return account && authToken && { accountSid: account[0], authToken, sharedKeys, label, detectsMachines, apiUrl }
}

const readSharedKeys = (reader: EnvironmentReader): ReadonlyArray<Redacted.Redacted> => {
  const name = "AGENTOS_TWILIO_SHARED_KEYS"
  const secrets = (reader.given(name) ?? "").split(",").flatMap((secret) => secret.trim() || [])
  if (secrets.length > SHARED_KEYS_MAX) reader.issues.push(`${name} must have at most ${SHARED_KEYS_MAX} secrets`)
  return secrets.map((secret) => Redacted.make(secret))
}

/** Returns whether the URL is Twilio's. A production server never uses a substitute for Twilio. */
const isTwilio = ({ hostname, protocol }: URL): boolean =>
  protocol === "https:" && (hostname === "twilio.com" || hostname.endsWith(".twilio.com"))

const readApiUrl = (reader: EnvironmentReader, mode: Mode): string => {
  const name = "AGENTOS_TWILIO_API_URL"
  const text = reader.text(name)
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === ""
  if (!isPlain) {
    reader.issues.push(`${name} must be an http or https URL without user, query and fragment`)
  } else if (mode === "production" && !isTwilio(url)) {
    reader.issues.push(`${name} must be an https URL of twilio.com or its subdomains, except in a sandbox`)
  }
  return text.replace(/\/+$/, "")
}

const readAllowedAgents = (reader: EnvironmentReader, mode: Mode): ReadonlyArray<AllowedAgentConfig> => {
  const name = "AGENTOS_AGENT_WEBHOOK_ALLOW"
  if (reader.given(name) === undefined) return []
  if (mode !== "sandbox") {
    reader.issues.push(`${name} is valid only in a sandbox. In production, agents must have public addresses`)
    return []
  }
  return Option.getOrElse(reader.json(name, Schema.Array(AllowedAgentConfig)), () => [])
}
