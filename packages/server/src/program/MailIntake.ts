import { failed, type Finding, passed, warned } from "@agentos/node/command-line"
import { ConfigurationInvalid, SettingName } from "@agentos/core"
import {
  type Certificate,
  type CertificateReport,
  checkCertificate,
  generateCertificate,
  SmtpListener
} from "@agentos/provider-smtp"
import { Clock, Effect, Layer, Metric, Redacted } from "effect"
import type { MailConfig } from "../config/MailConfig.ts"
import { readConfiguredFile } from "../config/ServerConfig.ts"

/** The certificate of the listener, and what its check found. */
export interface ListenerCertificate {
  readonly tls: Certificate
  readonly report: CertificateReport
}

/** Reads the files of the listener's certificate; undefined if none is configured. Fails if no TLS connection can use them. */
export const configuredCertificate = Effect.fnUntraced(function* ({
  hostName,
  listener: { certificate }
}: MailConfig): Effect.fn.Return<ListenerCertificate | undefined, ConfigurationInvalid> {
  if (certificate === undefined) return undefined
  const tls = {
    privateKey: Redacted.make(yield* readConfiguredFile("AGENTOS_SMTP_KEY_FILE", certificate.keyFile)),
    certificate: yield* readConfiguredFile("AGENTOS_SMTP_CERT_FILE", certificate.certificateFile)
  }
  const report = checkCertificate(tls, hostName, yield* Clock.currentTimeMillis, yield* SettingName)
  if (report.unusable !== undefined) {
    const { fix, problem } = report.unusable
    return yield* new ConfigurationInvalid({
      issues: [`AGENTOS_SMTP_CERT_FILE and AGENTOS_SMTP_KEY_FILE: ${problem}. ${fix}`]
    })
  }
  return { tls, report }
})

const DAY_MILLIS = 86_400_000
/** A certificate that is renewed automatically has more time left than this. */
const SOON_DAYS = 14

/** Describes a usable certificate to the operator. */
export const certificateFinding = ({ expiresAt = 0, untrusted }: CertificateReport, now: number): Finding => {
  if (untrusted.length > 0)
    return failed(untrusted.map(({ problem }) => problem).join("; "), untrusted.map(({ fix }) => fix).join(" "))
  const days = Math.floor((expiresAt - now) / DAY_MILLIS)
  const detail = `expires in ${days} days (${new Date(expiresAt).toISOString()})`
  return days < SOON_DAYS ? warned(detail, "Renew it, and restart the server.") : passed(detail)
}

const expiry = Metric.gauge("agentos_certificate_expiry_timestamp_seconds", {
  description: "Time at which the configured certificate of a listener expires, in seconds since 1970.",
  attributes: { listener: "smtp" }
})

/** Reports what clients that verify the certificate will refuse, and when it expires. */
const reportCertificate = Effect.fnUntraced(function* ({ expiresAt, untrusted }: CertificateReport) {
  if (expiresAt !== undefined) yield* Metric.update(expiry, expiresAt / 1_000)
  for (const { fix, problem } of untrusted) yield* Effect.logWarning(`AGENTOS_SMTP_CERT_FILE: ${problem}. ${fix}`)
})

/** Starts the SMTP listener and returns its port. Each of the workers gets its share of the sessions. */
export const mailIntake = Effect.fnUntraced(function* (mail: MailConfig, workers: number) {
  const { host, messagesPerHour, port, sessions, sessionsPerAddress } = mail.listener
  const shareOf = (limit: number) => Math.ceil(limit / workers)
  const limits = { ...SmtpListener.sessionLimits(shareOf(sessions), shareOf(sessionsPerAddress)), messagesPerHour }
  const configured = yield* configuredCertificate(mail)
  if (configured !== undefined) yield* reportCertificate(configured.report)
  const tls = configured?.tls ?? (yield* generateCertificate(mail.hostName))
  const listening = yield* Layer.build(SmtpListener.layer({ host, port, hostName: mail.hostName, tls, limits }))
  return yield* Effect.provide(
    Effect.map(SmtpListener.SmtpListener, (smtp) => smtp.port),
    listening
  )
})
