import { createPrivateKey } from "node:crypto"
import {
  ATTACHMENTS_LIMIT_BYTES,
  EmailProvider,
  needsSmtpUtf8,
  type OutgoingMail,
  ProviderError,
  type SendReceipt,
  type Timestamp
} from "@agentos/core"
import { Clock, Effect, Layer, Redacted, Semaphore, Stream } from "effect"
import nodemailer, { type SendMailOptions, type Transport } from "nodemailer"
import type { PluginFunction } from "nodemailer/lib/mailer"
import type { SMTPPoolOptions } from "nodemailer/lib/smtp-pool"
import { type DkimSigner, signing } from "./outbound/DkimSigning.ts"
import { type PreparedMail, RelayPool } from "./outbound/RelayPool.ts"
import { type Failed, mostOpen, replyText, toFailed } from "./outbound/SendFailure.ts"

const PROVIDER = "smtp"

/** Time limits of each step, in milliseconds. */
export interface SendTimeouts {
  /** Opening the connection, name lookup included. */
  readonly connect: number
  /** From the open connection to the server's greeting. */
  readonly greeting: number
  /** Silence of the server at any later point. */
  readonly socket: number
  /** The whole send, its wait for a free connection included. */
  readonly send: number
}

/** RFC 5321, section 4.5.3.2, allows servers minutes for each reply; a relay of the deployment is faster. */
export const DEFAULT_SEND_TIMEOUTS: SendTimeouts = { connect: 10_000, greeting: 10_000, socket: 60_000, send: 120_000 }

/** The relay (smarthost) for outbound mail, and how to connect to it. */
export interface EmailProviderSmtpConfig {
  /** The domain of every mailbox. */
  readonly domain: string
  readonly host: string
  readonly port: number
  /** The name of this client in EHLO, for example `mail.example.com`. */
  readonly clientName: string
  /**
   * `tls`: encrypted from the first byte (usually port 465). `starttls`: does not send unless the server
   * upgrades (587). `opportunistic`: upgrades if the server offers it. `none`: never, for processes on one
   * machine.
   */
  readonly security: "tls" | "starttls" | "opportunistic" | "none"
  /**
   * PEM certificate of the authority that issued the relay's certificate; default: the authorities that Node
   * trusts.
   */
  readonly certificateAuthority?: string | undefined
  /** False accepts any certificate: encryption without authentication of the server. Default: true. */
  readonly verifyCertificate?: boolean | undefined
  readonly credentials?: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  /** Signs every mail (RFC 6376). For DMARC, `domain` must align with the From domain, so it is usually the same. */
  readonly dkim?:
    | {
        readonly domain: string
        readonly selector: string
        /** RSA, PKCS #8 or PKCS #1, PEM. */
        readonly privateKey: Redacted.Redacted
        /** The key that signs instead from this time on. Receivers of queued mail need both records. */
        readonly next?:
          | { readonly selector: string; readonly privateKey: Redacted.Redacted; readonly from: Timestamp.Timestamp }
          | undefined
      }
    | undefined
  /** Limit of simultaneous connections; default 4. */
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
        // Credentials that the server does not ask for are a configuration error, which must not go unnoticed.
        forceAuth: true
      }),
  maxConnections: config.connectionsMax ?? 4,
  // If the server has closed a pooled connection, this is detected before a byte of the mail is sent.
  maxRequeues: 2,
  connectionTimeout: timeouts.connect,
  dnsTimeout: timeouts.connect,
  greetingTimeout: timeouts.greeting,
  socketTimeout: timeouts.socket,
  logger: false
})

/** Applies to every mail: its content cannot make nodemailer read a file or fetch a URL. */
const MAIL_DEFAULTS: SendMailOptions = { disableFileAccess: true, disableUrlAccess: true }

/**
 * Limit of transactions of one mail at the same time. Those of other mails wait for at most so many, however many
 * recipients it has.
 */
const TRANSACTIONS_MAX = 4

/** Composes and signs mail, and hands it back instead of sending it, because each recipient gets it by a transaction. */
const composer: Transport<PreparedMail> = {
  name: "compose",
  version: "1",
  send: (mail, done) => done(null, mail as unknown as PreparedMail)
}

type Files = NonNullable<SendMailOptions["attachments"]>

/**
 * Bytes of attachments that are in memory at the same time: those of two mails of the largest size. Each byte needs
 * another 1.4 in base64, because a DKIM signature precedes the content that it signs. Counted by bytes, so that small
 * attachments do not wait behind two mails to which the relay does not reply.
 */
const LOADED_BYTES_MAX = 2 * ATTACHMENTS_LIMIT_BYTES

/** The share of that limit which a mail takes; a larger mail than any that is accepted takes all of it. */
const loadedBytes = ({ attachments }: OutgoingMail): number =>
  Math.min(
    attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    LOADED_BYTES_MAX
  )

/** nodemailer opens the content again if it moves to another connection, so it must not be a stream. */
const load = (mail: OutgoingMail): Effect.Effect<Files> =>
  Effect.forEach(mail.attachments, ({ content, contentId, contentType, filename }) =>
    Effect.map(Stream.runCollect(content), (pieces) => ({
      filename,
      contentType,
      content: Buffer.concat(pieces),
      contentTransferEncoding: "base64" as const,
      // With a Content-ID it is a part of multipart/related, beside the HTML that shows it (RFC 2387).
      ...(contentId === null || contentId === undefined
        ? { contentDisposition: "attachment" as const }
        : { contentDisposition: "inline" as const, cid: contentId })
    }))
  )

/** Requests reports of successes and failures (RFC 3461) from a relay that offers DSN; no other is asked. */
const reportRequest = ({ messageIdHeader }: OutgoingMail, recipient: string): NonNullable<SendMailOptions["dsn"]> => ({
  id: messageIdHeader.replace(/^<|>$/g, ""),
  return: "headers",
  notify: ["success", "failure"],
  recipient
})

/**
 * Returns the addresses of a header field. A relay that was not asked for SMTPUTF8 can't take one beyond ASCII, so the copy
 * of an ASCII recipient has it as the name of an empty group, as RFC 6857, section 3.2.4, writes it for mail programs.
 */
const shown = (addresses: ReadonlyArray<string>, isAscii: boolean): Array<string> =>
  addresses.map((address) => (isAscii && needsSmtpUtf8(address) ? `"${address}":;` : address))

/** Bcc recipients are in the envelopes only. */
const compose = (mail: OutgoingMail, attachments: Files, isAscii: boolean): SendMailOptions => ({
  messageId: mail.messageIdHeader,
  date: new Date(mail.date),
  ...(mail.inReplyTo === null ? {} : { inReplyTo: mail.inReplyTo }),
  references: [...mail.references],
  from: { address: mail.from.address, name: mail.from.name ?? "" },
  to: shown(mail.to, isAscii),
  cc: shown(mail.cc, isAscii),
  replyTo: shown(mail.replyTo, isAscii),
  ...(mail.autoSubmitted === null ? {} : { headers: { "Auto-Submitted": mail.autoSubmitted } }),
  subject: mail.subject,
  text: mail.text,
  ...(mail.html === null ? {} : { html: mail.html }),
  attachments
})

/** Adds the field of an empty subject, which filters expect. nodemailer leaves out fields without a value. */
const keepEmptySubject: PluginFunction<PreparedMail> = ({ data, message }, done) => {
  if (data.subject === "") {
    const buildHeaders = message.buildHeaders.bind(message)
    message.buildHeaders = () => `${buildHeaders()}\r\nSubject: `
  }
  done()
}

/** Whether the header has an address that needs SMTPUTF8. */
const hasUnicode = ({ cc, replyTo, to }: OutgoingMail): boolean => [...to, ...cc, ...replyTo].some(needsSmtpUtf8)

/** The result of the transaction with one recipient: the reply by which the relay accepts the mail, or the failure. */
type Outcome = { readonly address: string } & ({ readonly response: string } | { readonly failed: Failed })

/** Ids of queues are shorter, and of no use to anyone outside. Names of hosts have dots. */
const RELAY_ID = /^[\w+=$/-]{16,128}$/

/**
 * Returns the id that a relay gave a mail by its reply, without brackets and domain: `250 Ok 0100018f2a…-000000` of Amazon
 * SES, `250 2.0.0 OK <AM0PR…@eurprd01.prod.outlook.com> [Hostname=…]` of Microsoft 365.
 */
export const relayIdOf = (response: string): string | undefined => {
  const words = response.slice(0, 500).split(/[\s=:;,[\]()]+/)
  const ids = words.flatMap((word) => {
    const bracketed = /^<([^<>@]{1,128})@[^<>@]+>$/.exec(word)
    if (bracketed !== null) return [bracketed[1]!]
    return RELAY_ID.test(word) && /\d/.test(word) ? [word] : []
  })
  return ids[0]
}

/** Returns the outcomes as one, or fails if no recipient was accepted, or deferred by a relay that answered for each. */
const toReceipt = (outcomes: ReadonlyArray<Outcome>): Effect.Effect<SendReceipt, ProviderError> => {
  const accepted = outcomes.flatMap((each) => ("response" in each ? [each] : []))
  const failed = outcomes.flatMap((each) => ("failed" in each ? [each] : []))
  const isAnswered = failed.every((each) => !each.failed.isUnanswered)
  const deferred = failed.find((each) => each.failed.isDeferred && isAnswered)
  const response = accepted[0]?.response ?? deferred?.failed.refusal
  if (response === undefined) return Effect.fail(mostOpen(failed.map((each) => each.failed.error)))
  return Effect.succeed({
    accepted: accepted.map(({ address }) => address),
    rejected: failed.map(({ address, failed: { refusal } }) => ({ address, reason: refusal })),
    response,
    relayIds: [...new Set(accepted.map((each) => relayIdOf(each.response)).filter((id) => id !== undefined))]
  })
}

/** Parses and checks a key. */
const openSigner = (
  domainName: string,
  keySelector: string,
  privateKey: Redacted.Redacted
): Effect.Effect<DkimSigner, ProviderError> =>
  Effect.try({
    try: () => createPrivateKey(Redacted.value(privateKey)),
    catch: () => misconfigured(`the DKIM key of the selector ${keySelector} is not a private key in PEM`)
  }).pipe(
    Effect.filterOrFail(
      ({ asymmetricKeyType }) => asymmetricKeyType === "rsa",
      () => misconfigured(`the DKIM key of the selector ${keySelector} is not an RSA key`)
    ),
    Effect.map((opened) => ({ domainName, keySelector, privateKey: opened }))
  )

/** Parses and checks both keys. */
const openDkim = Effect.fnUntraced(function* (dkim: EmailProviderSmtpConfig["dkim"]) {
  if (dkim === undefined) return undefined
  const { domain, next, privateKey, selector } = dkim
  return {
    current: yield* openSigner(domain, selector, privateKey),
    next: next && { signer: yield* openSigner(domain, next.selector, next.privateKey), from: next.from }
  }
})

const composing = (signer: DkimSigner | undefined) => {
  const transport = nodemailer.createTransport(composer, MAIL_DEFAULTS)
  transport.use("stream", keepEmptySubject)
  if (signer !== undefined) transport.use("stream", signing(signer))
  return transport
}

/**
 * Checks the DKIM keys, and by a connection without a mail that the relay can be reached, encrypts as configured, and
 * accepts the credentials. Fails like a mail that is sent.
 */
export const verify = Effect.fnUntraced(function* (
  config: EmailProviderSmtpConfig
): Effect.fn.Return<void, ProviderError> {
  yield* openDkim(config.dkim)
  const pool = new RelayPool(poolOptions(config, { ...DEFAULT_SEND_TIMEOUTS, ...config.timeouts }))
  yield* Effect.tryPromise({
    try: () => pool.verify(),
    catch: (error) => toFailed(PROVIDER, "", error, false).error
  }).pipe(Effect.ensuring(Effect.sync(() => pool.close({ force: true }))))
})

/**
 * Sends outbound mail through one SMTP relay, over pooled connections. A mail is composed and signed once, and transferred
 * to each recipient by a transaction with its own return path. A recipient whose transaction failed while another was
 * accepted is rejected in the receipt, with 421 if the relay gave no reply.
 *
 * If no recipient was accepted, and none was deferred (4xx to RCPT) by a relay that answered for each:
 *
 * - All recipients refused with 5xx, or the mail itself: `Rejected`. The mail with 4xx: `Temporary`.
 * - No connection, or one lost before the message was completely transferred: `Temporary`.
 * - A connection lost, or silent for too long, after that: `Unknown`.
 * - Credentials, certificate or greeting refused: `Misconfigured`.
 *
 * Fails at once with `Misconfigured` if a DKIM key is invalid. No connection is opened before the first mail.
 */
export const layer = (config: EmailProviderSmtpConfig): Layer.Layer<EmailProvider, ProviderError> =>
  Layer.effect(
    EmailProvider,
    Effect.gen(function* () {
      const dkim = yield* openDkim(config.dkim)
      const timeouts = { ...DEFAULT_SEND_TIMEOUTS, ...config.timeouts }
      const pool = yield* Effect.acquireRelease(
        Effect.sync(() => new RelayPool(poolOptions(config, timeouts))),
        // All sends were interrupted before, which closed their connections.
        (opened) => Effect.sync(() => opened.close({ force: true }))
      )
      // Each send reports its own failure; an error event without a listener would end the process.
      pool.on("error", () => undefined)
      const current = composing(dkim?.current)
      const next = dkim?.next && { ...dkim.next, transport: composing(dkim.next.signer), isLogged: false }

      const loaded = yield* Semaphore.make(LOADED_BYTES_MAX)

      const transact = (mail: OutgoingMail, prepared: PreparedMail, place: number, deadline: AbortSignal) => {
        const address = mail.recipients[place]!
        return Effect.tryPromise({
          try: (interrupted) =>
            pool.transact(prepared, {
              from: mail.returnPaths[place]!,
              to: address,
              dsn: reportRequest(mail, address),
              signal: AbortSignal.any([interrupted, deadline])
            }),
          catch: (error) => toFailed(PROVIDER, address, error, pool.wasHandedOver(error))
        }).pipe(
          Effect.match({
            onSuccess: ({ response }): Outcome => ({ address, response: replyText(response) }),
            onFailure: (failed): Outcome => ({ address, failed })
          })
        )
      }

      const prepare = Effect.fnUntraced(function* (mail: OutgoingMail, attachments: Files, isAscii: boolean) {
        const switched = next !== undefined && (yield* Clock.currentTimeMillis) >= next.from ? next : undefined
        const prepared = yield* Effect.tryPromise({
          try: () => (switched?.transport ?? current).sendMail(compose(mail, attachments, isAscii)),
          catch: (error) => toFailed(PROVIDER, "", error, false).error
        })
        if (switched?.isLogged === false) {
          switched.isLogged = true
          yield* Effect.logInfo(`outbound mail is now signed with the DKIM selector ${switched.signer.keySelector}`)
        }
        return prepared
      })

      const transfer = Effect.fnUntraced(function* (mail: OutgoingMail, attachments: Files) {
        const deadline = AbortSignal.timeout(timeouts.send)
        const prepared = yield* prepare(mail, attachments, true)
        const unicode = hasUnicode(mail) ? yield* prepare(mail, attachments, false) : prepared
        let unanswered: Failed | undefined
        const transactFor = (address: string, place: number): Effect.Effect<Outcome> =>
          // A relay that does not answer is not asked again for each of the others.
          Effect.suspend(() =>
            unanswered === undefined
              ? Effect.tap(transact(mail, needsSmtpUtf8(address) ? unicode : prepared, place, deadline), (outcome) => {
                  if ("failed" in outcome && outcome.failed.isUnanswered) unanswered = outcome.failed
                  return Effect.void
                })
              : Effect.succeed({ address, failed: unanswered })
          )
        const [first, ...others] = mail.recipients
        if (first === undefined) return yield* toReceipt([])
        // Alone, so that a relay that does not answer is asked once, and not by several transactions.
        const outcome = yield* transactFor(first, 0)
        const outcomes = yield* Effect.forEach(others, (address, at) => transactFor(address, at + 1), {
          concurrency: TRANSACTIONS_MAX
        })
        return yield* toReceipt([outcome, ...outcomes])
      })

      return EmailProvider.of({
        name: PROVIDER,
        domain: config.domain,
        send: (mail) =>
          mail.attachments.length === 0
            ? transfer(mail, [])
            : Semaphore.withPermits(
                loaded,
                loadedBytes(mail),
                Effect.flatMap(load(mail), (files) => transfer(mail, files))
              )
      })
    })
  )
