import {
  EmailProvider,
  InboundMails,
  issuesOf,
  MailParser,
  MessageRetries,
  noMailParser,
  ProviderError
} from "@agentos/core"
import {
  type Certificate,
  EmailProviderSmtp,
  generateCertificate,
  MailParserWorker,
  type SenderDns,
  SmtpListener
} from "@agentos/provider-smtp"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type { MailConfig } from "./MailConfig.ts"
import { ConfigurationInvalid, readConfiguredFile } from "./ServerConfig.ts"

const provider = (mail: MailConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { dkim, domain, hostName, relay } = mail
      const key = dkim === undefined ? undefined : yield* readConfiguredFile("AGENTOS_DKIM_KEY_FILE", dkim.keyFile)
      return EmailProviderSmtp.layer({
        domain,
        host: relay.host,
        port: relay.port,
        clientName: hostName,
        security: relay.security,
        credentials: relay.credentials,
        dkim:
          dkim === undefined || key === undefined
            ? undefined
            : { domain, selector: dkim.selector, privateKey: Redacted.make(key) }
      })
    })
  )

/** The DNS records that replace all of DNS. */
const Zone = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    type: Schema.Literals(["TXT", "A", "AAAA", "MX", "PTR"]),
    value: Schema.String
  })
)
const decodeZone = Schema.decodeUnknownEffect(Schema.fromJsonString(Zone))

const senderDns = Effect.fnUntraced(function* ({
  servers,
  zoneFile
}: MailConfig["dns"]): Effect.fn.Return<SenderDns, ConfigurationInvalid> {
  if (zoneFile === undefined) return servers.length === 0 ? { _tag: "System" } : { _tag: "Servers", servers }
  const text = yield* readConfiguredFile("AGENTOS_DNS_ZONE_FILE", zoneFile)
  const records = yield* Effect.mapError(
    decodeZone(text),
    ({ issue }) =>
      new ConfigurationInvalid({
        issues: issuesOf(issue).map(({ message, path }) => `AGENTOS_DNS_ZONE_FILE: ${path} ${message}`.trim())
      })
  )
  return { _tag: "Zone", records }
})

const parser = ({ dns, hostName }: MailConfig) =>
  Layer.unwrap(Effect.map(senderDns(dns), (resolved) => MailParserWorker.layer({ hostName, dns: resolved })))

const certificate = Effect.fnUntraced(function* ({
  hostName,
  listener
}: MailConfig): Effect.fn.Return<Certificate, ConfigurationInvalid> {
  if (listener.certificate === undefined) return yield* generateCertificate(hostName)
  const { certificateFile, keyFile } = listener.certificate
  return {
    privateKey: Redacted.make(yield* readConfiguredFile("AGENTOS_SMTP_KEY_FILE", keyFile)),
    certificate: yield* readConfiguredFile("AGENTOS_SMTP_CERT_FILE", certificateFile)
  }
})

/** The mail ports: those of the configured provider, or ports that fail because mail is not configured. */
export const mailPorts = (mail: MailConfig | undefined) =>
  mail === undefined ? unavailable : Layer.mergeAll(provider(mail), parser(mail))

const unavailable = Layer.mergeAll(
  Layer.succeed(EmailProvider, {
    name: "none",
    domain: "invalid",
    send: () =>
      Effect.fail(new ProviderError({ provider: "none", reason: "Misconfigured", message: "Mail is not configured." }))
  }),
  Layer.succeed(MailParser, noMailParser)
)

/**
 * Starts the SMTP listener, the worker that delivers its mail, and the one that retries outbound mail. Returns the port,
 * or none without mail.
 */
export const mailIntake = (mail: MailConfig | undefined) =>
  mail === undefined
    ? Effect.succeed(Option.none<number>())
    : Effect.gen(function* () {
        const { host, messagesPerHour, port, sessions, sessionsPerAddress } = mail.listener
        const limits = { ...SmtpListener.sessionLimits(sessions, sessionsPerAddress), messagesPerHour }
        const listening = yield* Layer.build(
          SmtpListener.layer({ host, port, hostName: mail.hostName, tls: yield* certificate(mail), limits })
        )
        yield* Effect.forkScoped((yield* InboundMails).run)
        yield* Effect.forkScoped((yield* MessageRetries).run)
        return Option.some(
          yield* Effect.provide(
            Effect.map(SmtpListener.SmtpListener, (smtp) => smtp.port),
            listening
          )
        )
      })
