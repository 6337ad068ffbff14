import {
  ByteBudget,
  EmailProvider,
  type InboundEnvelope,
  InboundMails,
  InboundRefused,
  type InboundSender,
  RateLimiter,
  TransitMemory
} from "@agentos/core"
import { Effect, Layer, Logger, ManagedRuntime } from "effect"
import { type Certificate, generateCertificate } from "../../src/Certificate.ts"
import * as SmtpListener from "../../src/SmtpListener.ts"

export interface TakenMail {
  readonly envelope: InboundEnvelope
  readonly raw: Uint8Array
  /** The address in From. */
  readonly author: string
}

export interface TestListener {
  readonly port: number
  readonly tls: Certificate
  readonly taken: Array<TakenMail>
  readonly replaceCertificate: (other: Certificate) => Promise<void>
  readonly close: () => Promise<void>
}

export interface TestListenerOptions {
  readonly limits?: Partial<SmtpListener.SmtpLimits>
  readonly admit?: (address: string, from: InboundSender) => Effect.Effect<void, InboundRefused>
  readonly isDeliverable?: (address: string) => Effect.Effect<boolean>
  readonly accept?: (mail: TakenMail) => Effect.Effect<void, InboundRefused>
  readonly refused?: (addresses: ReadonlyArray<string>, refusal: string) => void
  readonly port?: number
  /** Default: unlimited. */
  readonly limiter?: RateLimiter.RateLimiter
  readonly memory?: ByteBudget
  /** Default: self-signed. */
  readonly tls?: Certificate
}

/** Opens a listener for agents.test, where ada and bob have mailboxes, which collects accepted mails in a list. */
export const openListener = async (options: TestListenerOptions = {}): Promise<TestListener> => {
  const taken: Array<TakenMail> = []
  const known = /^(ada|bob|r\d+)(\+[^@]*)?@agents\.test$/i
  const inbound = Layer.mock(InboundMails, {
    admit:
      options.admit ??
      ((address) =>
        Effect.flatMap(options.isDeliverable?.(address) ?? Effect.succeed(known.test(address)), (isDeliverable) =>
          isDeliverable ? Effect.void : Effect.fail(new InboundRefused({ refusal: "mailbox unknown" }))
        )),
    accept: (envelope, raw, author) =>
      Effect.tap(options.accept?.({ envelope, raw, author }) ?? Effect.void, () =>
        Effect.sync(() => taken.push({ envelope, raw, author }))
      ),
    refused: (addresses, refusal) => Effect.sync(() => options.refused?.(addresses, refusal))
  })
  const provider = Layer.mock(EmailProvider, { name: "smtp", domain: "agents.test" })
  const tls = options.tls ?? (await Effect.runPromise(generateCertificate("mx.agents.test")))
  const runtime = ManagedRuntime.make(
    SmtpListener.layer({
      host: "127.0.0.1",
      port: options.port ?? 0,
      hostName: "mx.agents.test",
      tls,
      limits: options.limits
    }).pipe(
      Layer.provide([
        inbound,
        provider,
        Layer.succeed(RateLimiter.RateLimiter, options.limiter ?? RateLimiter.unlimited),
        Layer.succeed(TransitMemory, options.memory ?? new ByteBudget(64 * 1024 * 1024))
      ]),
      Layer.provide(Logger.layer([]))
    )
  )
  const { port, replaceCertificate } = await runtime.runPromise(SmtpListener.SmtpListener)
  return {
    port,
    tls,
    taken,
    replaceCertificate: (other) => runtime.runPromise(replaceCertificate(other)),
    close: () => runtime.dispose()
  }
}
