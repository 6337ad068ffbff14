import { failed, type Finding, passed, warned } from "@agentos/node/command-line"
import { ConfigurationInvalid, SettingName } from "@agentos/core"
import {
  type Certificate,
  type CertificateReport,
  checkCertificate,
  generateCertificate,
  SmtpListener
} from "@agentos/provider-smtp"
import { Clock, Context, Duration, Effect, Layer, Metric, Redacted } from "effect"
import { explain } from "../output/ProgramOutput.ts"
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
}: Pick<MailConfig, "hostName" | "listener">): Effect.fn.Return<ListenerCertificate | undefined, ConfigurationInvalid> {
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
export const SOON_DAYS = 14

/** Describes a usable certificate to the operator. */
export const certificateFinding = ({ expiresAt = 0, untrusted }: CertificateReport, now: number): Finding => {
  if (untrusted.length > 0)
    return failed(untrusted.map(({ problem }) => problem).join("; "), untrusted.map(({ fix }) => fix).join(" "))
  const days = Math.floor((expiresAt - now) / DAY_MILLIS)
  const detail = `expires in ${days} days (${new Date(expiresAt).toISOString()})`
  return days < SOON_DAYS ? warned(detail, "Renew it.") : passed(detail)
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

/** How often the files of the certificate are read. Renewals replace them in different ways: by rename, by a symbolic link. */
const READ_EVERY = Duration.minutes(1)
/** Readings after which the certificate in use is checked again. */
const CHECK_AFTER = 60

const isSame = (one: Certificate, other: Certificate): boolean =>
  one.certificate === other.certificate && Redacted.value(one.privateKey) === Redacted.value(other.privateKey)

/**
 * Returns an effect that reads the files of a certificate once. It passes on a changed certificate that a TLS connection can
 * use. Otherwise the one in use stays, and each new problem is a warning. The sixtieth reading also checks the names and the
 * expiry of the one in use.
 */
export const certificateReading = <E>(
  mail: Pick<MailConfig, "hostName" | "listener">,
  first: ListenerCertificate,
  replace: (tls: Certificate) => Effect.Effect<void, E>
): Effect.Effect<void> => {
  let used = first.tls
  let problem = ""
  let readings = 0
  const read = Effect.gen(function* () {
    const found = yield* configuredCertificate(mail)
    if (found === undefined || isSame(found.tls, used)) return
    yield* replace(found.tls)
    used = found.tls
    yield* Effect.logInfo("the certificate for inbound mail was replaced")
    yield* reportCertificate(found.report)
  })
  const check = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* reportCertificate(checkCertificate(used, mail.hostName, now, yield* SettingName))
  })
  return Effect.gen(function* () {
    const before = problem
    problem = yield* Effect.match(read, { onFailure: explain, onSuccess: () => "" })
    if (problem !== "" && problem !== before)
      yield* Effect.logWarning(`the certificate for inbound mail stays, because its files can't be used. ${problem}`)
    if (++readings % CHECK_AFTER === 0) yield* check
  })
}

/** Starts the SMTP listener and returns its port. Each of the workers gets its share of the sessions. */
export const mailIntake = Effect.fnUntraced(function* (mail: MailConfig, workers: number) {
  const { host, messagesPerHour, port, sessions, sessionsPerAddress } = mail.listener
  const shareOf = (limit: number) => Math.ceil(limit / workers)
  const limits = { ...SmtpListener.sessionLimits(shareOf(sessions), shareOf(sessionsPerAddress)), messagesPerHour }
  const configured = yield* configuredCertificate(mail)
  if (configured !== undefined) yield* reportCertificate(configured.report)
  const tls = configured?.tls ?? (yield* generateCertificate(mail.hostName))
  const listening = yield* Layer.build(SmtpListener.layer({ host, port, hostName: mail.hostName, tls, limits }))
  const smtp = Context.get(listening, SmtpListener.SmtpListener)
  if (configured !== undefined) {
    const reading = certificateReading(mail, configured, smtp.replaceCertificate)
    yield* reading.pipe(Effect.delay(READ_EVERY), Effect.forever, Effect.forkScoped)
  }
  return smtp.port
})
