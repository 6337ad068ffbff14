import { type AllowedAgent } from "@agentos/node/webhook"
import {
  pglite,
  postgres,
  type PostgresSettings,
  type Setup,
  smtp,
  type Storage,
  twilio,
  x402Networks
} from "@agentos/agentos"
import { ConfigurationInvalid, settingIssues } from "@agentos/core"
import type { SenderDns } from "@agentos/provider-smtp"
import { Effect, Redacted, Schema } from "effect"
import { createPrivateKey } from "node:crypto"
import type { MailConfig } from "../config/MailConfig.ts"
import type { AllowedAgentConfig } from "../config/PhoneConfig.ts"
import { readConfiguredFile, type ServerConfig } from "../config/ServerConfig.ts"
import { hostConditions } from "./HostConditions.ts"
import type { Variable } from "../variable/Variables.ts"
import { VERSION } from "../Version.ts"

/** The part of the configuration that selects the storage. Commands beside a server are one process. */
export type StorageConfig = Pick<ServerConfig, "database"> & Partial<Pick<ServerConfig, "workers">>

/** The storage that the configuration selects. A server has a version, by which the servers of a database see each other. */
export const storageOf = (
  { database, workers }: StorageConfig,
  settings: Pick<PostgresSettings, "migrates" | "version"> = {}
): Storage =>
  "url" in database
    ? postgres(database.url, {
        maxConnections: database.maxConnections,
        processes: workers,
        statementTimeoutSeconds: database.statementTimeout,
        idleTransactionTimeoutSeconds: database.idleTransactionTimeout,
        ...settings
      })
    : pglite(database.directory, settings)

/** The DNS records that replace all of DNS. */
const Zone = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    type: Schema.Literals(["TXT", "A", "AAAA", "MX", "PTR"]),
    value: Schema.String
  })
)
const decodeZone = Schema.decodeUnknownEffect(Schema.fromJsonString(Zone))

/** The DNS with which senders of mail are checked. */
export const senderDns = Effect.fnUntraced(function* ({
  servers,
  zoneFile
}: MailConfig["dns"]): Effect.fn.Return<SenderDns, ConfigurationInvalid> {
  if (zoneFile === undefined) return servers.length === 0 ? { _tag: "System" } : { _tag: "Servers", servers }
  const text = yield* readConfiguredFile("AGENTOS_DNS_ZONE_FILE", zoneFile)
  const records = yield* Effect.mapError(
    decodeZone(text),
    ({ issue }) => new ConfigurationInvalid({ issues: [...settingIssues("AGENTOS_DNS_ZONE_FILE", issue)] })
  )
  return { _tag: "Zone", records }
})

const isRsaKey = (pem: string): boolean => {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa"
  } catch {
    return false
  }
}

/** Reads and checks the DKIM key in the file of a variable. */
export const readDkimKey = Effect.fnUntraced(function* (variable: Variable, path: string) {
  const pem = yield* readConfiguredFile(variable, path)
  if (isRsaKey(pem)) return Redacted.make(pem)
  return yield* new ConfigurationInvalid({
    issues: [
      `${variable} must name a PEM file with an RSA private key. Make one: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048`
    ]
  })
})

const dkimOf = Effect.fnUntraced(function* (dkim: MailConfig["dkim"]) {
  if (dkim === undefined) return undefined
  const { keyFile, next, selector } = dkim
  return {
    selector,
    privateKey: yield* readDkimKey("AGENTOS_DKIM_KEY_FILE", keyFile),
    next: next && {
      selector: next.selector,
      privateKey: yield* readDkimKey("AGENTOS_DKIM_NEXT_KEY_FILE", next.keyFile),
      from: new Date(next.from)
    }
  }
})

const mailOf = Effect.fnUntraced(function* ({ dkim, dns, domain, hostName, relay }: MailConfig) {
  const { credentials, ...connection } = relay
  return smtp({
    domain,
    hostName,
    relay: { ...connection, ...credentials },
    dkim: yield* dkimOf(dkim),
    dns: yield* senderDns(dns)
  })
})

const allowedAgent = (entry: AllowedAgentConfig): Effect.Effect<AllowedAgent, ConfigurationInvalid> => {
  if ("loopback" in entry) return Effect.succeed(entry)
  const { caFile, host, port } = entry
  return Effect.map(readConfiguredFile("AGENTOS_AGENT_WEBHOOK_ALLOW", caFile), (ca) => ({ host, port, ca }))
}

/** Reads the files that the configuration names, and selects the adapters. */
export const setupOf = Effect.fnUntraced(function* (
  config: ServerConfig
): Effect.fn.Return<Setup, ConfigurationInvalid> {
  const { carrier } = config.phone
  return {
    environment: config.environment,
    publicUrl: config.publicUrl,
    keys: config.keys,
    storage: storageOf(config, { version: VERSION }),
    payment: x402Networks(config.networks),
    mail: config.mail && (yield* mailOf(config.mail)),
    telephony: carrier && twilio(carrier),
    allowedAgents: yield* Effect.forEach(config.phone.allowedAgents, allowedAgent),
    eventRetention: config.eventRetention,
    quotas: config.quotas,
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    signInOrigins: config.signInOrigins,
    operatorToken: config.operatorToken,
    operatorContact: config.operatorContact && {
      ...config.operatorContact,
      sources: yield* hostConditions(config)
    },
    traces: config.traces
  }
})
