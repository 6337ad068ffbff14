import { Clock, Context, Effect, Layer, Metric, Redacted, Schema } from "effect"
import {
  EmailProvider,
  InboundRefusal,
  type InboundRefused,
  InboundMails,
  ListenerRefusal,
  type MailRefusal,
  refusalLabel,
  type RateDecision,
  RateLimiter,
  TransitMemory
} from "@agentos/core"
import type { Certificate } from "./Certificate.ts"
import { DEFAULT_SMTP_LIMITS, type SmtpLimits } from "./listener/SmtpLimits.ts"
import { SmtpService } from "./listener/SmtpService.ts"

export { DEFAULT_SMTP_LIMITS, sessionLimits, type SmtpLimits } from "./listener/SmtpLimits.ts"

/** The address and limits of the listener for inbound mail. */
export interface SmtpListenerConfig {
  /** The address to listen on: `0.0.0.0`, `::` for both families, `127.0.0.1` … */
  readonly host: string
  /** 0 uses any free port. */
  readonly port: number
  /** The server's own name, as in the domain's MX record: `mx.example.com`. */
  readonly hostName: string
  readonly tls: Certificate
  readonly limits?: Partial<SmtpLimits> | undefined
}

/** The port could not be opened. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

/** No TLS connection can be made with a certificate. */
export class CertificateUnusable extends Schema.TaggedError<CertificateUnusable>()("CertificateUnusable", {
  cause: Schema.Defect()
}) {}

/**
 * The SMTP server that receives mail for the mailboxes (RFC 5321) of `EmailProvider`'s domain.
 *
 * Each command and each piece of a message is handled in a bounded share of the process, in which senders take
 * turns; `SmtpLimits` bounds the rest. A message must have exactly one author, whose domain the sender checks
 * use.
 *
 * A recipient is accepted if `InboundMails` has a mailbox for it. A mail is answered with 250 only once
 * `InboundMails` has stored its bytes, exactly as received, for the recipients whose sender policies admit it. The
 * server offers STARTTLS, SIZE, 8BITMIME, SMTPUTF8 and PIPELINING, and no AUTH, so that it cannot be used to send
 * mail.
 *
 * Closing rejects new connections at once, lets arriving mails finish for `shutdownMillis`, and answers
 * everything else with 421.
 */
export class SmtpListener extends Context.Service<
  SmtpListener,
  {
    readonly port: number
    /** Uses another certificate for the sessions that begin TLS from now on. The old one stays if it fails. */
    readonly replaceCertificate: (tls: Certificate) => Effect.Effect<void, CertificateUnusable>
  }
>()("@agentos/provider-smtp/SmtpListener") {}

/** Time limits of the store, in milliseconds: when a store hangs, senders are told to retry later. */
const ANSWER_MILLIS = 30_000
const STORE_MILLIS = 60_000

const NANOS_PER_MILLI = 1e6

const inTime = <A>(effect: Effect.Effect<A>, millis: number): Effect.Effect<A> =>
  Effect.orDie(Effect.timeout(effect, millis))

const received = Metric.counter("agentos_mail_received_total", {
  description: "Mails that this server accepted and stored, each once for all of its recipients.",
  incremental: true
})
const refusedFor = (reason: MailRefusal) =>
  Metric.counter("agentos_mail_refused_total", {
    description: "Recipients and mails that this server refused, by reason.",
    attributes: { reason: refusalLabel(reason) },
    incremental: true
  })

/** Reports 0 for each series, so that its first increase shows. */
const startCounting = Effect.andThen(
  Metric.update(received, 0),
  Effect.forEach(
    [...InboundRefusal.literals, ...ListenerRefusal.literals],
    (reason) => Metric.update(refusedFor(reason), 0),
    { discard: true }
  )
)

const countRefused = (reason: MailRefusal): Effect.Effect<void> => Metric.update(refusedFor(reason), 1)

const refusalOf = (taken: Effect.Effect<void, InboundRefused>): Effect.Effect<InboundRefusal | null> =>
  Effect.matchEffect(taken, {
    onFailure: ({ refusal }) => Effect.as(countRefused(refusal), refusal),
    onSuccess: () => Effect.succeed(null)
  })

/** If the rate limiter fails, mail is accepted. */
const takeOrAdmit = (taking: Effect.Effect<RateDecision>): Effect.Effect<RateDecision> =>
  Effect.catchCause(taking, (cause) =>
    Effect.as(Effect.logError("The rate of a sender could not be limited", cause), {
      isAdmitted: true,
      remaining: 0,
      retryAfterSeconds: 0,
      resetSeconds: 0
    })
  )

/** Listens until its scope closes. */
export const layer = (
  config: SmtpListenerConfig
): Layer.Layer<SmtpListener, ListenFailed, InboundMails | EmailProvider> =>
  Layer.effect(
    SmtpListener,
    Effect.gen(function* () {
      yield* startCounting
      const inbound = yield* InboundMails
      const { domain } = yield* EmailProvider
      const limiter = yield* RateLimiter.RateLimiter
      const memory = yield* TransitMemory
      const clock = yield* Clock.Clock
      const context = yield* Effect.context<never>()
      const run = Effect.runPromiseExitWith(context)
      const take = Effect.runPromiseWith(context)
      const service = yield* Effect.try({
        try: () =>
          new SmtpService({
            domain,
            hostName: config.hostName,
            privateKey: Redacted.value(config.tls.privateKey),
            certificate: config.tls.certificate,
            limits: { ...DEFAULT_SMTP_LIMITS, ...config.limits },
            now: () => Number(clock.monotonicTimeNanosUnsafe()) / NANOS_PER_MILLI,
            memory,
            take: (rule, subject, cost) => take(takeOrAdmit(limiter.take(rule, subject, cost))),
            refusalOf: (address, from) => run(inTime(refusalOf(inbound.admit(address, from)), ANSWER_MILLIS)),
            accept: (envelope, raw, author) =>
              run(
                inTime(
                  refusalOf(Effect.andThen(inbound.accept(envelope, raw, author), Metric.update(received, 1))),
                  STORE_MILLIS
                )
              ),
            countRefused: (reason, rcptTo) =>
              void run(Effect.andThen(countRefused(reason), inbound.refused(rcptTo, reason))),
            report: (cause) => void run(Effect.logError("inbound mail could not be handled", cause))
          }),
        catch: (cause) =>
          new ListenFailed({ message: `can't listen for mail with this key and certificate: ${String(cause)}`, cause })
      })
      const port = yield* Effect.acquireRelease(
        Effect.tryPromise({
          try: () => service.listen(config.port, config.host),
          catch: (cause) =>
            new ListenFailed({
              message: `can't listen for mail on ${config.host}:${config.port}: ${String(cause)}`,
              cause
            })
        }),
        () => Effect.promise(() => service.close())
      )
      return SmtpListener.of({
        port,
        replaceCertificate: ({ certificate, privateKey }) =>
          Effect.try({
            try: () => service.replaceCertificate(Redacted.value(privateKey), certificate),
            catch: (cause) => new CertificateUnusable({ cause })
          })
      })
    })
  )
