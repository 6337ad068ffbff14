import { createPrivateKey } from "node:crypto"
import { EmailProvider, type OutgoingMail, ProviderError, type SendReceipt } from "@agentos/core"
import { Effect, Layer, Redacted } from "effect"
import nodemailer, { type SendMailOptions } from "nodemailer"
import type { SMTPPoolOptions, SMTPPoolSentMessageInfo } from "nodemailer/lib/smtp-pool"
import { RelayPool } from "./outbound/RelayPool.ts"
import { refusalsIn, replyText, toProviderError } from "./outbound/SendFailure.ts"

const PROVIDER = "smtp"

/** How long each step may take, in milliseconds. */
export interface SendTimeouts {
  /** Until the connection stands, name lookup included. */
  readonly connect: number
  /** From there to the server's greeting. */
  readonly greeting: number
  /** Of silence, at any later point. */
  readonly socket: number
  /** Of one send in all, its wait for a free connection included. */
  readonly send: number
}

/** RFC 5321, section 4.5.3.2, allows servers minutes for each reply; a relay of one's own is quicker. */
export const DEFAULT_SEND_TIMEOUTS: SendTimeouts = { connect: 10_000, greeting: 10_000, socket: 60_000, send: 120_000 }

/** The relay (smarthost) that carries outbound mail, and how to talk to it. */
export interface EmailProviderSmtpConfig {
  /** The domain of every mailbox. */
  readonly domain: string
  readonly host: string
  readonly port: number
  /** The name this side gives itself in EHLO, as `mail.example.com`. */
  readonly clientName: string
  /**
   * `tls`: encrypted from the first byte (usually port 465). `starttls`: refuses to send unless the server
   * upgrades (587). `opportunistic`: upgrades where the server offers it. `none`: never, as between processes
   * of one machine.
   */
  readonly security: "tls" | "starttls" | "opportunistic" | "none"
  /** PEM of the authority behind the relay's certificate; without it, the well-known ones. */
  readonly certificateAuthority?: string | undefined
  /** False takes any certificate: encryption without proof of who is at the other end. True unless given. */
  readonly verifyCertificate?: boolean | undefined
  readonly credentials?: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  /** Signs every mail (RFC 6376). `domain` aligns with the From domain for DMARC, so it is usually the same. */
  readonly dkim?:
    | {
        readonly domain: string
        readonly selector: string
        /** RSA, PKCS #8 or PKCS #1, PEM. */
        readonly privateKey: Redacted.Redacted
      }
    | undefined
  /** Most connections at a time; 4 unless given. */
  readonly connectionsMax?: number | undefined
  readonly timeouts?: Partial<SendTimeouts> | undefined
}

const misconfigured = (message: string) => new ProviderError({ provider: PROVIDER, reason: "Misconfigured", message })

const securityOptions = (security: EmailProviderSmtpConfig["security"]): SMTPPoolOptions => {
  switch (security) {
    case "tls":
      return { secure: true }
    case "starttls":
      return { secure: false, requireTLS: true }
    case "opportunistic":
      return { secure: false }
    case "none":
      return { secure: false, ignoreTLS: true }
  }
}

const poolOptions = (config: EmailProviderSmtpConfig, timeouts: SendTimeouts): SMTPPoolOptions => ({
  host: config.host,
  port: config.port,
  name: config.clientName,
  ...securityOptions(config.security),
  tls: {
    minVersion: "TLSv1.2",
    rejectUnauthorized: config.verifyCertificate ?? true,
    ...(config.certificateAuthority === undefined ? {} : { ca: config.certificateAuthority })
  },
  ...(config.credentials === undefined
    ? {}
    : {
        auth: { user: config.credentials.user, pass: Redacted.value(config.credentials.password) },
        // Credentials that the server does not ask for are a mistake in the configuration, not to be passed over.
        forceAuth: true
      }),
  maxConnections: config.connectionsMax ?? 4,
  // A pooled connection that the server has dropped meanwhile is noticed before a byte of the mail is sent.
  maxRequeues: 2,
  connectionTimeout: timeouts.connect,
  dnsTimeout: timeouts.connect,
  greetingTimeout: timeouts.greeting,
  socketTimeout: timeouts.socket,
  logger: false
})

/** What holds for every mail: its content never names a file or an address that would be fetched. */
const mailDefaults = (dkim: EmailProviderSmtpConfig["dkim"]): SendMailOptions => ({
  disableFileAccess: true,
  disableUrlAccess: true,
  ...(dkim === undefined
    ? {}
    : { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: Redacted.value(dkim.privateKey) } })
})

const foldRecipient = (address: string): string => address.toLowerCase()

const recipientsOf = (mail: OutgoingMail): ReadonlyArray<string> => [
  ...new Map([...mail.to, ...mail.cc, ...mail.bcc].map((address) => [foldRecipient(address), address])).values()
]

/** Bcc recipients stand in the envelope alone. */
const compose = (mail: OutgoingMail, signal: AbortSignal): SendMailOptions => ({
  messageId: mail.messageIdHeader,
  date: new Date(mail.date),
  from: { address: mail.from.address, name: mail.from.name ?? "" },
  to: [...mail.to],
  cc: [...mail.cc],
  subject: mail.subject,
  text: mail.text,
  ...(mail.html === null ? {} : { html: mail.html }),
  envelope: { from: mail.from.address, to: [...recipientsOf(mail)] },
  signal
})

/** The recipients that nodemailer says were refused, as they were given, and why. */
const refusedOf = (mail: OutgoingMail, outcome: unknown): SendReceipt["rejected"] => {
  const reasons = new Map(refusalsIn(outcome).map(({ recipient, reply }) => [foldRecipient(recipient), reply]))
  return recipientsOf(mail).flatMap((address) => {
    const reason = reasons.get(foldRecipient(address))
    return reason === undefined ? [] : [{ address, reason }]
  })
}

const toReceipt = (mail: OutgoingMail, info: SMTPPoolSentMessageInfo): SendReceipt => {
  const rejected = refusedOf(mail, info)
  const refused = new Set(rejected.map(({ address }) => address))
  return {
    accepted: recipientsOf(mail).filter((address) => !refused.has(address)),
    rejected,
    response: replyText(info.response)
  }
}

/** nodemailer leaves a mail unsigned when its key is unusable, so the key is tried beforehand. */
const checkDkimKey = (dkim: EmailProviderSmtpConfig["dkim"]): Effect.Effect<void, ProviderError> =>
  dkim === undefined
    ? Effect.void
    : Effect.try({
        try: () => createPrivateKey(Redacted.value(dkim.privateKey)).asymmetricKeyType,
        catch: () => misconfigured("the DKIM key is not a private key in PEM")
      }).pipe(
        Effect.filterOrFail(
          (type) => type === "rsa",
          () => misconfigured("the DKIM key is not an RSA key")
        )
      )

/**
 * Outbound mail through one SMTP relay, over pooled connections.
 *
 * - All recipients refused with 5xx, or the mail itself: `Rejected`. With 4xx: `Temporary`.
 * - No connection, or one lost before the message was wholly handed over: `Temporary`.
 * - A connection lost, or silent for too long, after that: `Unknown`.
 * - Credentials, certificate or greeting refused: `Misconfigured`.
 *
 * Fails at once with `Misconfigured` when the DKIM key is none. It makes no connection before the first mail.
 */
export const layer = (config: EmailProviderSmtpConfig): Layer.Layer<EmailProvider, ProviderError> =>
  Layer.effect(
    EmailProvider,
    Effect.gen(function* () {
      yield* checkDkimKey(config.dkim)
      const timeouts = { ...DEFAULT_SEND_TIMEOUTS, ...config.timeouts }
      const pool = yield* Effect.acquireRelease(
        Effect.sync(() => new RelayPool(poolOptions(config, timeouts))),
        // Whoever waited for a send was interrupted before, and with it its connection.
        (opened) => Effect.sync(() => opened.close({ force: true }))
      )
      const transport = nodemailer.createTransport(pool, mailDefaults(config.dkim))
      // Each send hears of its own failure; an event without a listener would end the process.
      transport.on("error", () => undefined)

      return EmailProvider.of({
        name: PROVIDER,
        domain: config.domain,
        send: (mail) =>
          Effect.tryPromise({
            try: (interrupted) =>
              transport.sendMail(compose(mail, AbortSignal.any([interrupted, AbortSignal.timeout(timeouts.send)]))),
            catch: (error) => toProviderError(PROVIDER, error, pool.wasHandedOver(error), refusedOf(mail, error))
          }).pipe(Effect.map((info) => toReceipt(mail, info)))
      })
    })
  )
