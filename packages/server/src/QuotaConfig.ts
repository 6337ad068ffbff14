import {
  type CallPolicy,
  type CallsPerHour,
  DEFAULT_CALL_POLICY,
  DEFAULT_MAIL_POLICY,
  type InboundPerHour,
  type MailPolicy,
  type MailUsage,
  type SendingPolicy,
  type SendingQuota,
  Timestamp
} from "@agentos/core"
import { COUNTRIES } from "@agentos/numbering-libphonenumber"
import type { EnvironmentReader, Variable } from "./EnvironmentReader.ts"

type Mode = "production" | "sandbox"

/** Limits of the usage that is not paid by amount. */
export interface QuotaConfig {
  readonly calls: CallPolicy
  readonly mail: MailPolicy
}

/**
 * Reads the quotas. A missing variable means the core's default. Without rate limits there are no limits of calls per
 * hour.
 */
export const readQuotas = (reader: EnvironmentReader, mode: Mode, hasRateLimits: boolean): QuotaConfig => ({
  calls: {
    countries: readCountries(reader),
    atOnce: {
      perNumber: readLimit(reader, "AGENTOS_CALLS_AT_ONCE_PER_NUMBER", DEFAULT_CALL_POLICY.atOnce.perNumber),
      perTenant: readLimit(reader, "AGENTOS_CALLS_AT_ONCE_PER_TENANT", DEFAULT_CALL_POLICY.atOnce.perTenant)
    },
    perHour: hasRateLimits ? readCallsPerHour(reader, mode) : UNLIMITED_CALLS_PER_HOUR
  },
  mail: {
    mailboxLimit: readStorage(reader, "AGENTOS_MAILBOX_LIMIT", DEFAULT_MAIL_POLICY.mailboxLimit),
    tenantLimit: readStorage(reader, "AGENTOS_TENANT_MAIL_LIMIT", DEFAULT_MAIL_POLICY.tenantLimit),
    sending: readSending(reader),
    inboundPerHour: readInbound(reader, mode),
    rawRetention: readRawRetention(reader)
  }
})

const QUOTA_MAX = 1_000_000_000
const MEBIBYTE = 1024 ** 2

/** Reads a limit from 0 on; 0 means no limit. */
const readLimit = (reader: EnvironmentReader, name: Variable, fallback: number): number => {
  const limit = reader.integer(name, 0, QUOTA_MAX) ?? fallback
  return limit === 0 ? Number.POSITIVE_INFINITY : limit
}

/** Reads a rate in thousandths, and the minimum count from which it applies. */
const readFeedback = (
  reader: EnvironmentReader,
  prefix: "AGENTOS_MAIL_PAUSE_BOUNCES" | "AGENTOS_MAIL_PAUSE_COMPLAINTS",
  { count, rate }: SendingQuota.FeedbackLimit
): SendingQuota.FeedbackLimit => ({
  count: readLimit(reader, `${prefix}_COUNT`, count),
  rate: (reader.integer(`${prefix}_PER_1000`, 0, 1_000) ?? rate * 1_000) / 1_000
})

const SANDBOX_INBOUND_PER_HOUR: InboundPerHour = { sender: 10_000, network: 10_000, mailbox: 10_000 }

const readInbound = (reader: EnvironmentReader, mode: Mode): InboundPerHour => {
  const fallback = mode === "sandbox" ? SANDBOX_INBOUND_PER_HOUR : DEFAULT_MAIL_POLICY.inboundPerHour
  const read = (name: Variable, count: number) => reader.integer(name, 1, QUOTA_MAX) ?? count
  return {
    sender: read("AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER", fallback.sender),
    network: read("AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK", fallback.network),
    mailbox: read("AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX", fallback.mailbox)
  }
}

const UNLIMITED_CALLS_PER_HOUR: CallsPerHour = {
  calls: Number.POSITIVE_INFINITY,
  toOneNumber: Number.POSITIVE_INFINITY,
  short: Number.POSITIVE_INFINITY
}

/** Calls in a sandbox reach no real person. */
const SANDBOX_CALLS_PER_HOUR: CallsPerHour = { calls: 600, toOneNumber: 300, short: 300 }

const readCallsPerHour = (reader: EnvironmentReader, mode: Mode): CallsPerHour => {
  const fallback = mode === "sandbox" ? SANDBOX_CALLS_PER_HOUR : DEFAULT_CALL_POLICY.perHour
  return {
    calls: readLimit(reader, "AGENTOS_CALLS_PER_HOUR", fallback.calls),
    toOneNumber: readLimit(reader, "AGENTOS_CALLS_PER_HOUR_TO_ONE_NUMBER", fallback.toOneNumber),
    short: readLimit(reader, "AGENTOS_SHORT_CALLS_PER_HOUR", fallback.short)
  }
}

const readRawRetention = (reader: EnvironmentReader): number | null => {
  const days = reader.integer("AGENTOS_RAW_MAIL_RETENTION_DAYS", 0, 36_500) ?? 0
  return days === 0 ? null : days * Timestamp.DAY
}

const readSending = (reader: EnvironmentReader): SendingPolicy => {
  const { sending } = DEFAULT_MAIL_POLICY
  return {
    recipientsPerDayAtFirst: readLimit(
      reader,
      "AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST",
      sending.recipientsPerDayAtFirst
    ),
    recipientsPerDay: readLimit(reader, "AGENTOS_MAIL_RECIPIENTS_PER_DAY", sending.recipientsPerDay),
    bounces: readFeedback(reader, "AGENTOS_MAIL_PAUSE_BOUNCES", sending.bounces),
    complaints: readFeedback(reader, "AGENTOS_MAIL_PAUSE_COMPLAINTS", sending.complaints),
    pause: (reader.integer("AGENTOS_MAIL_PAUSE_HOURS", 1, 8_760) ?? sending.pause / Timestamp.HOUR) * Timestamp.HOUR
  }
}

const readStorage = (
  reader: EnvironmentReader,
  prefix: "AGENTOS_MAILBOX_LIMIT" | "AGENTOS_TENANT_MAIL_LIMIT",
  { bytes, messages }: MailUsage
): MailUsage => ({
  messages: readLimit(reader, `${prefix}_MESSAGES`, messages),
  bytes: readLimit(reader, `${prefix}_MB`, bytes / MEBIBYTE) * MEBIBYTE
})

const readCountries = (reader: EnvironmentReader): ReadonlySet<string> => {
  const name = "AGENTOS_CALL_COUNTRIES"
  const text = reader.text(name)
  if (text === undefined) return DEFAULT_CALL_POLICY.countries
  const countries = text.split(",").map((code) => code.trim().toUpperCase())
  const unknown = countries.filter((code) => !COUNTRIES.has(code))
  if (unknown.length > 0) {
    reader.issues.push(
      `${name} must be comma-separated ISO 3166-1 alpha-2 codes such as US,CA,GB; unknown: ${unknown.join(", ")}`
    )
  }
  return new Set(countries)
}
