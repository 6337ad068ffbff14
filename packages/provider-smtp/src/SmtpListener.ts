import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { EmailProvider, InboundMails } from "@agentos/core"
import type { Certificate } from "./Certificate.ts"
import { DEFAULT_SMTP_LIMITS, type SmtpLimits, SmtpService } from "./listener/SmtpService.ts"

export { DEFAULT_SMTP_LIMITS, type SmtpLimits } from "./listener/SmtpService.ts"

/** Where inbound mail is taken, and how much of it at a time. */
export interface SmtpListenerConfig {
  /** The address to listen on: `0.0.0.0`, `::` for both families, `127.0.0.1` … */
  readonly host: string
  /** 0 takes any that is free. */
  readonly port: number
  /** The name it gives itself, which is the one that the domain's MX names: `mx.example.com`. */
  readonly hostName: string
  /** For STARTTLS. */
  readonly tls: Certificate
  readonly limits?: Partial<SmtpLimits> | undefined
}

/** The port could not be had. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

/**
 * The SMTP server that takes mail for the mailboxes (RFC 5321), which are those of `EmailProvider`'s domain.
 *
 * A recipient is taken when `InboundMails` has a mailbox for it; a mail is answered with 250 only once
 * `InboundMails` has stored its bytes, which are exactly those that came. It offers STARTTLS, SIZE, 8BITMIME,
 * SMTPUTF8 and PIPELINING, and no AUTH: nobody can send through it.
 *
 * Closing stops new connections at once, lets mails that are arriving finish for `shutdownMillis`, and answers
 * everything else with 421.
 */
export class SmtpListener extends Context.Service<
  SmtpListener,
  {
    /** The port that it listens on. */
    readonly port: number
  }
>()("@agentos/provider-smtp/SmtpListener") {}

/** A store that hangs must not hold its senders: they are told to come again. In milliseconds. */
const ANSWER_MILLIS = 30_000
const STORE_MILLIS = 60_000

const inTime = <A>(effect: Effect.Effect<A>, millis: number): Effect.Effect<A> =>
  Effect.orDie(Effect.timeout(effect, millis))

/** Listens for as long as its scope is open. */
export const layer = (
  config: SmtpListenerConfig
): Layer.Layer<SmtpListener, ListenFailed, InboundMails | EmailProvider> =>
  Layer.effect(
    SmtpListener,
    Effect.gen(function* () {
      const inbound = yield* InboundMails
      const { domain } = yield* EmailProvider
      const run = Effect.runPromiseExitWith(yield* Effect.context<never>())
      const service = yield* Effect.try({
        try: () =>
          new SmtpService({
            domain,
            hostName: config.hostName,
            privateKey: Redacted.value(config.tls.privateKey),
            certificate: config.tls.certificate,
            limits: { ...DEFAULT_SMTP_LIMITS, ...config.limits },
            isDeliverable: (address) => run(inTime(inbound.isDeliverable(address), ANSWER_MILLIS)),
            accept: (envelope, raw) => run(inTime(inbound.accept(envelope, raw), STORE_MILLIS)),
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
      return SmtpListener.of({ port })
    })
  )
