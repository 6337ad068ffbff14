import type { TraceExport } from "@agentos/agentos"
import type { NetworkConfig } from "@agentos/x402"
import { ConfigurationInvalid, DEFAULT_EVENT_POLICY, isEmailAddress, Timestamp } from "@agentos/core"
import { type KeyringConfig, parseKeyring } from "@agentos/node/keyring"
import { Effect, Redacted, Result } from "effect"
import { IpNetwork } from "effect/net"
import { readFile } from "node:fs/promises"
import type { RateLimit } from "@agentos/http-server"
import { EnvironmentReader } from "./EnvironmentReader.ts"
import { type MailConfig, readMail } from "./MailConfig.ts"
import { readNetworks } from "./NetworkConfig.ts"
import { type PhoneConfig, readPhone } from "./PhoneConfig.ts"
import { type QuotaConfig, readQuotas } from "./QuotaConfig.ts"
import type { AccessLogMode } from "../output/ProgramOutput.ts"
import type { Environment } from "../variable/Variables.ts"
import { WORKERS_RULE, workersOf } from "../worker/WorkerCount.ts"

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : ""

export const readConfiguredFile = (variable: string, path: string): Effect.Effect<string, ConfigurationInvalid> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (error) => new ConfigurationInvalid({ issues: [`${variable}: cannot read ${path}${codeOf(error)}`] })
  })

export interface ServerConfig {
  readonly environment: "production" | "sandbox"
  readonly host: string
  readonly port: number
  /** The number of processes that serve, this one included. */
  readonly workers: number
  readonly accessLog: AccessLogMode
  /** The base URL for clients, without a trailing slash. */
  readonly publicUrl: string
  readonly keys: KeyringConfig
  readonly database:
    | {
        readonly url: Redacted.Redacted<string>
        readonly maxConnections: number
        /** Maximum time of a statement, and of an idle transaction, in seconds. */
        readonly statementTimeout: number
        readonly idleTransactionTimeout: number
      }
    | { readonly directory: string }
  /** How long completed events are kept after their creation, in milliseconds; null keeps them permanently. */
  readonly eventRetention: number | null
  readonly networks: ReadonlyArray<NetworkConfig>
  readonly mail: MailConfig | undefined
  readonly phone: PhoneConfig
  readonly quotas: QuotaConfig
  /** Null disables rate limits. */
  readonly rateLimit: RateLimit | null
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  readonly signInOrigins: ReadonlyArray<string>
  /** Where the operator routes are served; null without a token. */
  readonly operatorListen: { readonly host: string; readonly port: number } | null
  /** Null disables operator access. */
  readonly operatorToken: Redacted.Redacted | null
  /** How operators are informed of incidents. */
  readonly operatorContact:
    | {
        readonly webhook: { readonly url: string; readonly secret: Redacted.Redacted } | undefined
        readonly mailTo: string | undefined
      }
    | undefined
  /** Where traces are sent; null records none. */
  readonly traces: TraceExport | null
}

/** Reads a part of the configuration. Fails with all problems at once. */
const reading = <A>(
  environment: Environment,
  read: (reader: EnvironmentReader) => A
): Effect.Effect<A, ConfigurationInvalid> =>
  Effect.suspend(() => {
    const reader = new EnvironmentReader(environment)
    const config = read(reader)
    return reader.issues.length === 0
      ? Effect.succeed(config)
      : Effect.fail(new ConfigurationInvalid({ issues: reader.issues }))
  })

/** Reads the variables of the database alone. */
export const readStorage = (environment: Environment) =>
  reading(environment, (reader) => ({ database: readDatabase(reader) }))

/** Reads the names of the API and of mail alone. */
export const readNames = (environment: Environment) =>
  reading(environment, (reader) => ({
    publicUrl: readPublicUrl(reader, reader.choice("AGENTOS_ENVIRONMENT")),
    mail: readMail(reader)
  }))

/** Reads the configuration from environment variables. Fails with all problems at once. */
export const read = (environment: Environment): Effect.Effect<ServerConfig, ConfigurationInvalid> =>
  reading(environment, (reader) => {
    const mode = reader.choice("AGENTOS_ENVIRONMENT")
    const perMinute = reader.integer("AGENTOS_RATE_LIMIT_PER_MINUTE")
    const port = reader.integer("AGENTOS_PORT")
    const operatorToken = readOperatorToken(reader)
    return {
      environment: mode,
      host: reader.text("AGENTOS_HOST"),
      port,
      workers: readWorkers(reader),
      accessLog: reader.choice("AGENTOS_ACCESS_LOG"),
      publicUrl: readPublicUrl(reader, mode),
      rateLimit: perMinute === 0 ? null : { burst: perMinute, perSecond: perMinute / 60 },
      trustedProxies: readProxies(reader),
      signInOrigins: readOrigins(reader),
      operatorListen: operatorToken === null ? null : readOperatorListen(reader, port),
      operatorToken,
      operatorContact: readOperatorContact(reader),
      traces: readTraces(reader),
      keys: readKeys(reader),
      database: readDatabase(reader),
      eventRetention: readEventRetention(reader),
      networks: readNetworks(reader),
      mail: readMail(reader),
      phone: readPhone(reader, mode),
      quotas: readQuotas(reader, perMinute > 0)
    }
  })

const readWorkers = (reader: EnvironmentReader): number => {
  const workers = workersOf(reader.text("AGENTOS_WORKERS"))
  if (workers === undefined) reader.issues.push(`AGENTOS_WORKERS ${WORKERS_RULE}`)
  else if (workers > 1 && reader.text("DATABASE_URL") === undefined && reader.text("AGENTOS_DATA_DIR") !== undefined)
    reader.issues.push(
      "AGENTOS_WORKERS must be 1 with an embedded database (AGENTOS_DATA_DIR), which serves one process. Use a " +
        "PostgreSQL server (DATABASE_URL) for more"
    )
  return workers ?? 1
}

const readProxies = (reader: EnvironmentReader): ReadonlyArray<IpNetwork.IpNetwork> =>
  (reader.text("AGENTOS_TRUSTED_PROXIES")?.split(",") ?? []).flatMap((text) => {
    const network = IpNetwork.fromString(text.trim())
    if (network._tag === "Success") return [network.success]
    reader.issues.push(
      `AGENTOS_TRUSTED_PROXIES must be comma-separated networks such as 10.0.0.0/8,192.0.2.1/32; invalid: ${text}`
    )
    return []
  })

const readOrigins = (reader: EnvironmentReader): ReadonlyArray<string> =>
  (reader.text("AGENTOS_SIGN_IN_ORIGINS")?.split(",") ?? []).flatMap((text) => {
    const origin = text.trim()
    if (URL.parse(origin)?.origin === origin) return [origin]
    reader.issues.push(
      `AGENTOS_SIGN_IN_ORIGINS must be comma-separated origins such as https://app.example; invalid: ${text}`
    )
    return []
  })

/** 32 random characters cannot be guessed. Every matched character is allowed in a header. */
const OPERATOR_TOKEN = /^[\x21-\x7e]{32,}$/

const readOperatorToken = (reader: EnvironmentReader): Redacted.Redacted | null => {
  const token = reader.text("AGENTOS_OPERATOR_TOKEN")
  if (token === undefined) return null
  if (!OPERATOR_TOKEN.test(token)) {
    reader.issues.push(
      "AGENTOS_OPERATOR_TOKEN must be at least 32 printable characters without spaces. Generate one: openssl rand -hex 32"
    )
  }
  return Redacted.make(token)
}

/** By default the port after that of clients, which only this machine can reach; a free one if that of clients is. */
const readOperatorListen = (reader: EnvironmentReader, clients: number): { host: string; port: number } => {
  const text = reader.text("AGENTOS_OPERATOR_LISTEN")
  if (text === undefined) return { host: "127.0.0.1", port: clients === 0 ? 0 : clients + 1 }
  const [, bracketed, plain, digits] = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits ?? "-1")
  if (port < 0 || port > 65_535) {
    reader.issues.push("AGENTOS_OPERATOR_LISTEN must be a host and a port, such as 127.0.0.1:8081 or [::1]:8081")
  } else if (port !== 0 && port === clients) {
    reader.issues.push("AGENTOS_OPERATOR_LISTEN must have another port than AGENTOS_PORT, which clients reach")
  }
  return { host: bracketed ?? plain ?? "127.0.0.1", port }
}

/** Returns whether a request can be made to a URL: `fetch` refuses one with a password, in an error that contains it. */
const isRequestable = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
}

/** As Standard Webhooks writes secrets: of 24 to 64 bytes. */
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/

const readOperatorContact = (reader: EnvironmentReader): ServerConfig["operatorContact"] => {
  const webhook = reader.together("AGENTOS_OPERATOR_WEBHOOK_URL", "AGENTOS_OPERATOR_WEBHOOK_SECRET")
  const mailTo = reader.text("AGENTOS_OPERATOR_MAIL_TO")
  if (webhook !== undefined && !isRequestable(webhook[0]))
    reader.issues.push(
      "AGENTOS_OPERATOR_WEBHOOK_URL must be an http or https URL without a user name, such as https://ops.example.com/agentos"
    )
  if (webhook !== undefined && !WEBHOOK_SECRET.test(webhook[1]))
    reader.issues.push(
      'AGENTOS_OPERATOR_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in base64. Generate one: echo "whsec_$(openssl rand -base64 32)"'
    )
  if (mailTo !== undefined && !isEmailAddress(mailTo))
    reader.issues.push("AGENTOS_OPERATOR_MAIL_TO must be a mail address such as ops@example.com")
  if (mailTo !== undefined && reader.text("AGENTOS_EMAIL_DOMAIN") === undefined)
    reader.issues.push(
      "AGENTOS_OPERATOR_MAIL_TO needs a relay. Set AGENTOS_EMAIL_DOMAIN and AGENTOS_SMTP_RELAY_HOST too"
    )
  if (webhook === undefined && mailTo === undefined) return undefined
  return { webhook: webhook && { url: webhook[0], secret: Redacted.make(webhook[1]) }, mailTo }
}

const HEADER = /^\s*([!#$%&'*+.^`|~\w-]+)=([\x21-\x7e]+)\s*$/

const readTraces = (reader: EnvironmentReader): TraceExport | null => {
  const url = reader.text("AGENTOS_TRACES_URL")
  const oneIn = reader.integer("AGENTOS_TRACES_ONE_IN")
  const headers: Record<string, string> = {}
  for (const text of reader.text("AGENTOS_TRACES_HEADERS")?.split(",") ?? []) {
    const [, name, value] = HEADER.exec(text) ?? []
    if (name === undefined || value === undefined)
      reader.issues.push("AGENTOS_TRACES_HEADERS must be comma-separated headers such as Authorization=Bearer%20key")
    else headers[name] = value.replaceAll("%20", " ")
  }
  if (url === undefined) return null
  if (!isRequestable(url))
    reader.issues.push(
      "AGENTOS_TRACES_URL must be an http or https URL without a user name, such as http://127.0.0.1:4318/v1/traces. Set AGENTOS_TRACES_HEADERS instead"
    )
  return { url, headers: Redacted.make(headers), oneIn }
}

const readPublicUrl = (reader: EnvironmentReader, mode: ServerConfig["environment"]): string => {
  const text = reader.required("AGENTOS_PUBLIC_URL")
  if (text === "") return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    reader.issues.push("AGENTOS_PUBLIC_URL must be an http or https URL without query and fragment")
  } else if (mode === "production" && url.protocol !== "https:") {
    reader.issues.push(
      "AGENTOS_PUBLIC_URL must begin with https:// in production, because clients send access tokens to it"
    )
  }
  return text.replace(/\/+$/, "")
}

const readKeys = (reader: EnvironmentReader): KeyringConfig => {
  const none: KeyringConfig = { keys: [], activeKeyId: 0 }
  const text = reader.required("AGENTOS_KEYS")
  const activeKeyId = reader.integer("AGENTOS_ACTIVE_KEY")
  if (text === "") return none
  return Result.getOrElse(parseKeyring(text, activeKeyId), (problem) => {
    reader.issues.push(`AGENTOS_KEYS ${problem}`)
    return none
  })
}

const readDatabase = (reader: EnvironmentReader): ServerConfig["database"] => {
  const url = reader.text("DATABASE_URL")
  const directory = reader.text("AGENTOS_DATA_DIR")
  const maxConnections = reader.integer("AGENTOS_DATABASE_POOL")
  const statementTimeout = reader.integer("AGENTOS_DATABASE_STATEMENT_TIMEOUT_SECONDS")
  const idleTransactionTimeout = reader.integer("AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS")
  if (url !== undefined && directory !== undefined) {
    reader.issues.push("DATABASE_URL and AGENTOS_DATA_DIR are both set. Set only one: a server has one database")
  }
  if (url !== undefined) {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() ?? ""
    if (!["postgres:", "postgresql:"].includes(scheme)) {
      const given = scheme === "" ? "" : `; ${scheme}// is not supported`
      reader.issues.push(`DATABASE_URL must begin with postgres:// or postgresql://${given}`)
    }
    return { url: Redacted.make(url), maxConnections, statementTimeout, idleTransactionTimeout }
  }
  if (directory === undefined) {
    reader.issues.push(
      "DATABASE_URL is missing. Set it to the URL of a PostgreSQL database, or set AGENTOS_DATA_DIR to a directory for " +
        "an embedded one"
    )
  }
  return { directory: directory ?? "" }
}

const readEventRetention = (reader: EnvironmentReader): number | null => {
  const name = "AGENTOS_EVENT_RETENTION_DAYS"
  const days = reader.integer(name)
  if (days > 0 && days * Timestamp.DAY < DEFAULT_EVENT_POLICY.retention) {
    const replayDays = DEFAULT_EVENT_POLICY.retention / Timestamp.DAY
    reader.issues.push(
      `${name} must be at least ${replayDays}, because events can be replayed for ${replayDays} days, or 0 to keep ` +
        "events permanently"
    )
  }
  return days === 0 ? null : days * Timestamp.DAY
}
