import {
  asciiDomain,
  type CallPolicy,
  type CallsPerHour,
  type InboundPerHour,
  type MailPolicy,
  type MailUsage,
  RETENTION_DAYS_MIN,
  type RetentionPolicy,
  type SendingPolicy,
  type SendingQuota,
  Timestamp
} from "@agentos/core"
import { isCountry } from "@agentos/node/numbering"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

/** Limits of the usage that is not paid by amount. */
export interface QuotaConfig {
  readonly calls: CallPolicy
  readonly mail: MailPolicy
  readonly retention: RetentionPolicy
}

/** Reads the quotas. Without rate limits, calls per hour are unlimited. */
export const readQuotas = (reader: EnvironmentReader, hasRateLimits: boolean): QuotaConfig => ({
  calls: {
    countries: readCountries(reader),
    atOnce: {
      perNumber: unlimitedIfZero(reader.integer("AGENTOS_CALLS_AT_ONCE_PER_NUMBER")),
      perTenant: unlimitedIfZero(reader.integer("AGENTOS_CALLS_AT_ONCE_PER_TENANT"))
    },
    perHour: hasRateLimits ? readCallsPerHour(reader) : UNLIMITED_CALLS_PER_HOUR,
    retention: readRetention(reader, "AGENTOS_CALL_RETENTION_DAYS"),
    transcriptRetention: readRetention(reader, "AGENTOS_TRANSCRIPT_RETENTION_DAYS")
  },
  mail: {
    mailboxLimit: readStorage(reader, "AGENTOS_MAILBOX_LIMIT"),
    tenantLimit: readStorage(reader, "AGENTOS_TENANT_MAIL_LIMIT"),
    sending: readSending(reader),
    feedbackReporters: readReporters(reader),
    inboundPerHour: readInbound(reader),
    postmaster: readPostmaster(reader),
    rawRetention: readRetention(reader, "AGENTOS_RAW_MAIL_RETENTION_DAYS"),
    messageRetention: readRetention(reader, "AGENTOS_MESSAGE_RETENTION_DAYS")
  },
  retention: {
    answers: readRetention(reader, "AGENTOS_ANSWER_RETENTION_DAYS", RETENTION_DAYS_MIN.answers),
    audit: readRetention(reader, "AGENTOS_AUDIT_RETENTION_DAYS", RETENTION_DAYS_MIN.audit)
  }
})

const MEBIBYTE = 1024 ** 2

const unlimitedIfZero = (limit: number): number => (limit === 0 ? Number.POSITIVE_INFINITY : limit)

/** Reads a rate in thousandths, and the minimum count from which it applies. */
const readFeedback = (
  reader: EnvironmentReader,
  prefix: "AGENTOS_MAIL_PAUSE_BOUNCES" | "AGENTOS_MAIL_PAUSE_COMPLAINTS"
): SendingQuota.FeedbackLimit => ({
  count: unlimitedIfZero(reader.integer(`${prefix}_COUNT`)),
  rate: reader.integer(`${prefix}_PER_1000`) / 1_000
})

const readInbound = (reader: EnvironmentReader): InboundPerHour => ({
  sender: reader.integer("AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER"),
  network: reader.integer("AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK"),
  mailbox: reader.integer("AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX")
})

const UNLIMITED_CALLS_PER_HOUR: CallsPerHour = {
  calls: Number.POSITIVE_INFINITY,
  toOneNumber: Number.POSITIVE_INFINITY,
  short: Number.POSITIVE_INFINITY
}

const readCallsPerHour = (reader: EnvironmentReader): CallsPerHour => ({
  calls: unlimitedIfZero(reader.integer("AGENTOS_CALLS_PER_HOUR")),
  toOneNumber: unlimitedIfZero(reader.integer("AGENTOS_CALLS_PER_HOUR_TO_ONE_NUMBER")),
  short: unlimitedIfZero(reader.integer("AGENTOS_SHORT_CALLS_PER_HOUR"))
})

const readRetention = (
  reader: EnvironmentReader,
  name:
    | "AGENTOS_RAW_MAIL_RETENTION_DAYS"
    | "AGENTOS_MESSAGE_RETENTION_DAYS"
    | "AGENTOS_CALL_RETENTION_DAYS"
    | "AGENTOS_TRANSCRIPT_RETENTION_DAYS"
    | "AGENTOS_ANSWER_RETENTION_DAYS"
    | "AGENTOS_AUDIT_RETENTION_DAYS",
  least = 1
): number | null => {
  const days = reader.integer(name)
  if (days > 0 && days < least)
    reader.issues.push(`${name} must be at least ${least}, or 0 for no limit; it is ${days}`)
  return days === 0 ? null : days * Timestamp.DAY
}

const readSending = (reader: EnvironmentReader): SendingPolicy => ({
  recipientsPerDayAtFirst: unlimitedIfZero(reader.integer("AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST")),
  recipientsPerDay: unlimitedIfZero(reader.integer("AGENTOS_MAIL_RECIPIENTS_PER_DAY")),
  bounces: readFeedback(reader, "AGENTOS_MAIL_PAUSE_BOUNCES"),
  complaints: readFeedback(reader, "AGENTOS_MAIL_PAUSE_COMPLAINTS"),
  pause: reader.integer("AGENTOS_MAIL_PAUSE_HOURS") * Timestamp.HOUR
})

const readReporters = (reader: EnvironmentReader): ReadonlyArray<string> => {
  const name = "AGENTOS_FEEDBACK_REPORTERS"
  const given = (reader.text(name)?.split(",") ?? []).map((domain) => domain.trim())
  const invalid = given.filter((domain) => asciiDomain(domain)?.includes(".") !== true)
  if (invalid.length > 0) {
    reader.issues.push(
      `${name} must be comma-separated domain names such as fbl.example.com; invalid: ${invalid.join(", ")}`
    )
  }
  return given.flatMap((domain) => asciiDomain(domain) ?? [])
}

const readPostmaster = (reader: EnvironmentReader): string | null => {
  const name = "AGENTOS_POSTMASTER"
  const given = reader.text(name)
  if (given === undefined) return null
  const domain = asciiDomain(reader.text("AGENTOS_EMAIL_DOMAIN") ?? "")
  const at = given.lastIndexOf("@")
  if (at < 1 || asciiDomain(given.slice(at + 1)) !== domain) {
    reader.issues.push(`${name} must be the address of a mailbox of AGENTOS_EMAIL_DOMAIN, not ${JSON.stringify(given)}`)
    return null
  }
  return given
}

const readStorage = (
  reader: EnvironmentReader,
  prefix: "AGENTOS_MAILBOX_LIMIT" | "AGENTOS_TENANT_MAIL_LIMIT"
): MailUsage => ({
  messages: unlimitedIfZero(reader.integer(`${prefix}_MESSAGES`)),
  bytes: unlimitedIfZero(reader.integer(`${prefix}_MB`)) * MEBIBYTE
})

const readCountries = (reader: EnvironmentReader): ReadonlySet<string> => {
  const name = "AGENTOS_CALL_COUNTRIES"
  const countries = reader
    .text(name)
    .split(",")
    .map((code) => code.trim().toUpperCase())
  // The default needs no check, which would load the metadata of every country.
  const unknown = reader.given(name) === undefined ? [] : countries.filter((code) => !isCountry(code))
  if (unknown.length > 0) {
    reader.issues.push(
      `${name} must be comma-separated ISO 3166-1 alpha-2 codes such as US,CA,GB; unknown: ${unknown.join(", ")}`
    )
  }
  return new Set(countries)
}
