import { EmailProvider, MailParser, noMailParser, ProviderError, Timestamp } from "@agentos/core"
import type { EmailProviderSmtp, SenderDns } from "@agentos/provider-smtp"
import { Effect, Layer, Redacted } from "effect"
import { NO_PROVIDER } from "./ProviderCalls.ts"

/** Mail as layers: what `smtp(…)` returns. */
export interface Mail {
  readonly layer: Layer.Layer<EmailProvider | MailParser, unknown>
  /** Checks that mail can be sent, and sends none. */
  readonly verify?: Effect.Effect<void, ProviderError>
}

export interface SigningKey {
  readonly selector: string
  /** RSA, PEM text. */
  readonly privateKey: string | Redacted.Redacted<string>
}

export interface SmtpOptions {
  /** The domain of every mailbox. */
  readonly domain: string
  /** The name of this host in mail, which is the name in the domain's MX record; by default the domain. */
  readonly hostName?: string | undefined
  /** The relay that sends outbound mail. */
  readonly relay: {
    readonly host: string
    /** Default 587. */
    readonly port?: number | undefined
    /** `starttls` by default: the connection is encrypted before anything is sent. */
    readonly security?: EmailProviderSmtp.EmailProviderSmtpConfig["security"] | undefined
    readonly user?: string | undefined
    readonly password?: string | Redacted.Redacted<string> | undefined
  }
  /**
   * Signs outbound mail, unless the relay does. The key `next` signs instead from a time on, without a restart; keep the
   * DNS record of the first for a week after it.
   */
  readonly dkim?: (SigningKey & { readonly next?: (SigningKey & { readonly from: Date }) | undefined }) | undefined
  /** DNS for checks of senders: by default the system's resolver. */
  readonly dns?: SenderDns | undefined
}

const redacted = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  typeof secret === "string" ? Redacted.make(secret) : secret

const keyOf = ({ privateKey, selector }: SigningKey) => ({ selector, privateKey: redacted(privateKey) })

const load = Effect.promise(() => import("@agentos/provider-smtp"))

/** Parses MIME, and determines the senders by DNS, in processes that can be killed. */
export const mimeParser = ({ dns, hostName }: Pick<SmtpOptions, "dns"> & { readonly hostName: string }) =>
  Layer.unwrap(
    Effect.map(load, ({ MailParserWorker }) => MailParserWorker.layer({ hostName, dns: dns ?? { _tag: "System" } }))
  )

/** Mail through an SMTP relay. Inbound mail is passed in by the host, or by a listener of `@agentos/provider-smtp`. */
export const smtp = ({ dkim, dns, domain, hostName = domain, relay }: SmtpOptions): Mail => {
  const config: EmailProviderSmtp.EmailProviderSmtpConfig = {
    domain,
    host: relay.host,
    port: relay.port ?? 587,
    clientName: hostName,
    security: relay.security ?? "starttls",
    credentials:
      relay.user === undefined || relay.password === undefined
        ? undefined
        : { user: relay.user, password: redacted(relay.password) },
    dkim: dkim && {
      domain,
      ...keyOf(dkim),
      next: dkim.next && { ...keyOf(dkim.next), from: Timestamp.fromMillis(dkim.next.from.getTime()) }
    }
  }
  return {
    layer: Layer.unwrap(
      Effect.map(load, ({ EmailProviderSmtp }) =>
        Layer.merge(EmailProviderSmtp.layer(config), mimeParser({ hostName, dns }))
      )
    ),
    verify: Effect.flatMap(load, ({ EmailProviderSmtp }) => EmailProviderSmtp.verify(config))
  }
}

/** The mail ports of a host without mail: every use of them fails. */
export const noMail: Mail = {
  layer: Layer.mergeAll(
    Layer.succeed(EmailProvider, {
      name: NO_PROVIDER,
      domain: "invalid",
      send: () =>
        Effect.fail(
          new ProviderError({ provider: NO_PROVIDER, reason: "Misconfigured", message: "Mail is not configured." })
        )
    }),
    Layer.succeed(MailParser, noMailParser)
  )
}
