import { settingIssues } from "@agentos/core"
import { Option, Result, Schema } from "effect"
import { closest, distance } from "fastest-levenshtein"

/** The environment variables of a server, except DATABASE_URL. */
const VARIABLES = [
  "AGENTOS_ACTIVE_KEY",
  "AGENTOS_AGENT_WEBHOOK_ALLOW",
  "AGENTOS_CALLS_AT_ONCE_PER_NUMBER",
  "AGENTOS_CALLS_AT_ONCE_PER_TENANT",
  "AGENTOS_CALLS_PER_HOUR",
  "AGENTOS_CALLS_PER_HOUR_TO_ONE_NUMBER",
  "AGENTOS_CALL_COUNTRIES",
  "AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS",
  "AGENTOS_DATABASE_POOL",
  "AGENTOS_DATABASE_STATEMENT_TIMEOUT_SECONDS",
  "AGENTOS_DATA_DIR",
  "AGENTOS_DKIM_KEY_FILE",
  "AGENTOS_DKIM_SELECTOR",
  "AGENTOS_DNS_SERVERS",
  "AGENTOS_DNS_ZONE_FILE",
  "AGENTOS_EMAIL_DOMAIN",
  "AGENTOS_ENVIRONMENT",
  "AGENTOS_EVENT_RETENTION_DAYS",
  "AGENTOS_HOST",
  "AGENTOS_KEYS",
  "AGENTOS_MAILBOX_LIMIT_MB",
  "AGENTOS_MAILBOX_LIMIT_MESSAGES",
  "AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX",
  "AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK",
  "AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER",
  "AGENTOS_MAIL_PAUSE_BOUNCES_COUNT",
  "AGENTOS_MAIL_PAUSE_BOUNCES_PER_1000",
  "AGENTOS_MAIL_PAUSE_COMPLAINTS_COUNT",
  "AGENTOS_MAIL_PAUSE_COMPLAINTS_PER_1000",
  "AGENTOS_MAIL_PAUSE_HOURS",
  "AGENTOS_MAIL_RECIPIENTS_PER_DAY",
  "AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST",
  "AGENTOS_NETWORKS",
  "AGENTOS_OPERATOR_TOKEN",
  "AGENTOS_PORT",
  "AGENTOS_PUBLIC_URL",
  "AGENTOS_RATE_LIMIT_PER_MINUTE",
  "AGENTOS_RAW_MAIL_RETENTION_DAYS",
  "AGENTOS_SHORT_CALLS_PER_HOUR",
  "AGENTOS_SMTP_CERT_FILE",
  "AGENTOS_SMTP_HOST",
  "AGENTOS_SMTP_KEY_FILE",
  "AGENTOS_SMTP_MAX_SESSIONS",
  "AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS",
  "AGENTOS_SMTP_MESSAGES_PER_HOUR",
  "AGENTOS_SMTP_NAME",
  "AGENTOS_SMTP_PORT",
  "AGENTOS_SMTP_RELAY_HOST",
  "AGENTOS_SMTP_RELAY_PASSWORD",
  "AGENTOS_SMTP_RELAY_PORT",
  "AGENTOS_SMTP_RELAY_TLS",
  "AGENTOS_SMTP_RELAY_USER",
  "AGENTOS_TENANT_MAIL_LIMIT_MB",
  "AGENTOS_TENANT_MAIL_LIMIT_MESSAGES",
  "AGENTOS_TRUSTED_PROXIES",
  "AGENTOS_TWILIO_ACCOUNT_SID",
  "AGENTOS_TWILIO_API_URL",
  "AGENTOS_TWILIO_AUTH_TOKEN",
  "AGENTOS_TWILIO_LABEL"
] as const

/** The name of an environment variable that a server reads. */
export type Variable = (typeof VARIABLES)[number] | "DATABASE_URL"

export type Environment = Readonly<Record<string, string | undefined>>

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Reads variables one by one and collects all problems with them. */
export class EnvironmentReader {
  readonly issues: Array<string> = []
  private readonly environment: Environment

  constructor(environment: Environment) {
    this.environment = environment
  }

  text(name: Variable): string | undefined {
    const value = this.environment[name]?.trim()
    return value === "" ? undefined : value
  }

  /** `meaning` continues "Set it to". */
  required(name: Variable, meaning: string): string {
    const value = this.text(name)
    if (value === undefined) this.issues.push(`${name} is missing. Set it to ${meaning}`)
    return value ?? ""
  }

  /** Reads two variables that are valid only together. */
  pair(first: Variable, second: Variable): readonly [string, string] | undefined {
    const values = [this.text(first), this.text(second)] as const
    if (values[0] !== undefined && values[1] !== undefined) return [values[0], values[1]]
    if (values[0] !== undefined || values[1] !== undefined) {
      const missing = values[0] === undefined ? first : second
      this.issues.push(`${first} and ${second} must be set together; ${missing} is missing`)
    }
    return undefined
  }

  port(name: Variable, fallback: number): number {
    return this.integer(name, 0, 65_535) ?? fallback
  }

  integer(name: Variable, minimum: number, maximum: number): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= minimum && number <= maximum) return number
    this.issues.push(`${name} must be a whole number from ${minimum} to ${maximum}`)
    return undefined
  }

  /** Decodes a variable that contains JSON. */
  json<A>(name: Variable, schema: Schema.Codec<A, unknown>): Option.Option<A> {
    const value = this.text(name)
    if (value === undefined) return Option.none()
    const parsed = parseJson(value)
    if (Option.isNone(parsed)) {
      this.issues.push(`${name} must be JSON`)
      return Option.none()
    }
    const decoded = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(parsed.value)
    if (Result.isSuccess(decoded)) return Option.some(decoded.success)
    this.issues.push(...settingIssues(name, decoded.failure.issue))
    return Option.none()
  }

  oneOf<const Value extends string>(name: Variable, values: ReadonlyArray<Value>, fallback: Value): Value {
    const value = this.text(name)
    if (value === undefined) return fallback
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) this.issues.push(`${name} must be one of ${values.join(", ")}`)
    return found ?? fallback
  }
}

const PREFIX = "AGENTOS_"
/** The sandbox passes its own environment on to its servers. */
const SANDBOX_PREFIX = "AGENTOS_SANDBOX_"
/** A name counts as a misspelling of another if at most this fraction of its letters after the prefix differs. */
const MISSPELT_PART = 1 / 3

/**
 * Returns a sentence for each `AGENTOS_*` variable that a server does not read, with the name that was probably meant.
 */
export const unknownVariables = (environment: Environment): ReadonlyArray<string> => {
  const known: ReadonlySet<string> = new Set(VARIABLES)
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(SANDBOX_PREFIX) && !known.has(name))
    .map((name) => {
      const nearest = closest(name, VARIABLES)
      const edits = (name.length - PREFIX.length) * MISSPELT_PART
      const hint = distance(name, nearest) <= edits ? ` Did you mean ${nearest}?` : ""
      return `${name} is not a setting of the server and has no effect.${hint}`
    })
}
