import {
  BLANK_CONTENT,
  EmailProvider,
  type InboundEnvelope,
  mailPieces,
  MailParser,
  MailUnreadable,
  type OutgoingAttachment,
  type OutgoingMail,
  type ParsedMail,
  type SenderAuthentication,
  type SendReceipt
} from "@agentos/core"
import { Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { type Mail, mimeParser } from "../Mail.ts"
import { caller } from "./AdapterError.ts"

type MaybePromise<A> = A | PromiseLike<A>

/** A file of an outbound mail. Its bytes can be iterated more than once. */
export interface PlainAttachment extends Omit<OutgoingAttachment, "content"> {
  readonly content: AsyncIterable<Uint8Array>
}

/** An outbound mail. Texts for headers are free of control characters. */
export interface PlainMail extends Omit<OutgoingMail, "attachments" | "date"> {
  readonly attachments: ReadonlyArray<PlainAttachment>
  readonly date: Date
}

/** A received mail as the host parsed it. Missing parts are empty. Everything in it is the sender's claim. */
export type PlainParsedMail = Pick<ParsedMail, "from" | "subject"> & Partial<ParsedMail>

/** A mail system of the host. Methods may return promises, and throw `AdapterError`. */
export interface CustomMail {
  /** The source of its events; by default `custom`. */
  readonly name?: string | undefined
  /** The domain of every mailbox. */
  readonly domain: string
  /**
   * Sends a mail to its `recipients`. Returns which were accepted and refused, or nothing if all were accepted. Throws
   * `Rejected` if all were refused for good. The same `messageIdHeader` may come again after an error.
   */
  readonly send: (mail: PlainMail) => MaybePromise<SendReceipt | void>
  /**
   * Parses a received mail; by default as MIME, in processes of its own that can be killed. Throws if it can't be parsed.
   */
  readonly parse?: ((raw: Uint8Array, envelope: InboundEnvelope) => MaybePromise<PlainParsedMail>) | undefined
  /** Returns the results of SPF, DKIM and DMARC; by default they are determined by DNS. */
  readonly authenticate?:
    | ((raw: Uint8Array, envelope: InboundEnvelope) => MaybePromise<SenderAuthentication>)
    | undefined
}

const UNDETERMINED: SenderAuthentication = { spf: "temperror", dkim: "temperror", dmarc: "temperror", domain: null }
const UNCHECKED: SenderAuthentication = { spf: "none", dkim: "none", dmarc: "none", domain: null }

const collect = (raw: Stream.Stream<Uint8Array>): Effect.Effect<Uint8Array> =>
  Effect.map(Stream.runCollect(raw), (pieces) => new Uint8Array(Buffer.concat([...pieces])))

const toParsed = (parsed: PlainParsedMail, { authentication }: InboundEnvelope): ParsedMail => ({
  ...BLANK_CONTENT,
  extractedText: parsed.text ?? null,
  authentication: authentication ?? UNCHECKED,
  bodyHash: createHash("sha256")
    .update(JSON.stringify([parsed.text, parsed.html]))
    .digest("hex"),
  ...parsed
})

const toPlain = ({ attachments, date, ...mail }: OutgoingMail): PlainMail => ({
  ...mail,
  date: new Date(date),
  attachments: attachments.map(({ content, ...attachment }) => ({
    ...attachment,
    content: Stream.toAsyncIterable(content)
  }))
})

/** Returns the mail system as the ports of the core. */
export const customMail = (mail: CustomMail): Mail => {
  const { domain, name = "custom" } = mail
  const call = caller("mail", name, mail)
  const provider = EmailProvider.of({
    name,
    domain,
    send: (outgoing) =>
      Effect.map(
        call("send", "Unknown", toPlain(outgoing)),
        (receipt) => receipt ?? { accepted: outgoing.recipients, rejected: [], response: "accepted" }
      )
  })
  const parser = Effect.map(MailParser, (mime) => {
    const authenticate: MailParser["Service"]["authenticate"] =
      mail.authenticate === undefined
        ? mime.authenticate
        : (raw, envelope) =>
            Effect.flatMap(collect(raw), (bytes) => call("authenticate", "Temporary", bytes, envelope)).pipe(
              Effect.orElseSucceed(() => UNDETERMINED)
            )
    const parse: MailParser["Service"]["parse"] =
      mail.parse === undefined
        ? mime.parse
        : (raw, envelope) =>
            Effect.flatMap(collect(mailPieces(raw)), (bytes) => call("parse", "Rejected", bytes, envelope)).pipe(
              Effect.mapBoth({
                onFailure: ({ message }) => new MailUnreadable({ message }),
                onSuccess: (parsed) => toParsed(parsed, envelope)
              })
            )
    return MailParser.of({
      authenticate,
      parse: (raw, envelope) =>
        mail.authenticate === undefined || envelope.authentication !== undefined
          ? parse(raw, envelope)
          : Effect.flatMap(authenticate(mailPieces(raw), envelope), (authentication) =>
              parse(raw, { ...envelope, authentication })
            )
    })
  })
  const mime = mimeParser({ hostName: domain, dns: undefined })
  return {
    layer: Layer.merge(
      Layer.succeed(EmailProvider, provider),
      Layer.effect(MailParser, parser).pipe(Layer.provide(mime))
    )
  }
}
