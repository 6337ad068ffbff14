import type { ConfigurationInvalid } from "@agentos/core"
import { type Certificate, generateCertificate, SmtpListener } from "@agentos/provider-smtp"
import { Effect, Layer, Option, Redacted } from "effect"
import type { MailConfig } from "./MailConfig.ts"
import { readConfiguredFile } from "./ServerConfig.ts"

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

/** Starts the SMTP listener. Returns its port, or none without mail. */
export const mailIntake = (mail: MailConfig | undefined) =>
  mail === undefined
    ? Effect.succeed(Option.none<number>())
    : Effect.gen(function* () {
        const { host, messagesPerHour, port, sessions, sessionsPerAddress } = mail.listener
        const limits = { ...SmtpListener.sessionLimits(sessions, sessionsPerAddress), messagesPerHour }
        const listening = yield* Layer.build(
          SmtpListener.layer({ host, port, hostName: mail.hostName, tls: yield* certificate(mail), limits })
        )
        return Option.some(
          yield* Effect.provide(
            Effect.map(SmtpListener.SmtpListener, (smtp) => smtp.port),
            listening
          )
        )
      })
