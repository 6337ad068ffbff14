import type { ConfigurationInvalid } from "@agentos/core"
import { type Certificate, generateCertificate, SmtpListener } from "@agentos/provider-smtp"
import { Effect, Layer, Redacted } from "effect"
import type { MailConfig } from "./MailConfig.ts"
import { readConfiguredFile } from "./ServerConfig.ts"

/** Reads the files of the listener's certificate; undefined if none is configured. */
export const configuredCertificate = Effect.fnUntraced(function* ({
  listener: { certificate }
}: MailConfig): Effect.fn.Return<Certificate | undefined, ConfigurationInvalid> {
  if (certificate === undefined) return undefined
  return {
    privateKey: Redacted.make(yield* readConfiguredFile("AGENTOS_SMTP_KEY_FILE", certificate.keyFile)),
    certificate: yield* readConfiguredFile("AGENTOS_SMTP_CERT_FILE", certificate.certificateFile)
  }
})

/** Starts the SMTP listener and returns its port. Each of the workers gets its share of the sessions. */
export const mailIntake = Effect.fnUntraced(function* (mail: MailConfig, workers: number) {
  const { host, messagesPerHour, port, sessions, sessionsPerAddress } = mail.listener
  const shareOf = (limit: number) => Math.ceil(limit / workers)
  const limits = { ...SmtpListener.sessionLimits(shareOf(sessions), shareOf(sessionsPerAddress)), messagesPerHour }
  const tls = (yield* configuredCertificate(mail)) ?? (yield* generateCertificate(mail.hostName))
  const listening = yield* Layer.build(SmtpListener.layer({ host, port, hostName: mail.hostName, tls, limits }))
  return yield* Effect.provide(
    Effect.map(SmtpListener.SmtpListener, (smtp) => smtp.port),
    listening
  )
})
