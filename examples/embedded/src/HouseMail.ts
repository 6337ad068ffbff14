import { EmailProvider, MailParser, MailUnreadable, type OutgoingMail, type ParsedMail } from "@agentos/core"
import { Effect, Layer, Schema, Stream } from "effect"
import { createHash } from "node:crypto"

/** The JSON format of mail in this host. */
const HouseMail = Schema.Struct({
  id: Schema.String,
  from: Schema.String,
  to: Schema.Array(Schema.String),
  subject: Schema.String,
  text: Schema.String
})
export type HouseMail = typeof HouseMail.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(HouseMail))

/** Adapters of the mail ports for a custom mail system. Outbound mail is appended to `sent`. */
export const houseMail = (domain: string, sent: Array<OutgoingMail>) =>
  Layer.mergeAll(
    Layer.succeed(EmailProvider, {
      name: "house",
      domain,
      send: (mail) =>
        Effect.sync(() => {
          sent.push(mail)
          return { accepted: [...mail.to, ...mail.cc, ...mail.bcc], rejected: [], response: "accepted" }
        })
    }),
    Layer.succeed(MailParser, {
      parse: (raw) =>
        Stream.decodeText(raw).pipe(
          Stream.mkString,
          Effect.flatMap(decode),
          Effect.mapError((error) => new MailUnreadable({ message: error.message })),
          Effect.map(toParsedMail)
        ),
      authenticate: () => Effect.succeed(AUTHENTICATION)
    })
  )

/** Only the host itself can submit mail, so senders need no authentication. */
const AUTHENTICATION = { spf: "none", dkim: "none", dmarc: "none", domain: null }

const toParsedMail = ({ from, id, subject, text, to }: HouseMail): ParsedMail => ({
  messageIdHeader: `<${id}>`,
  inReplyTo: null,
  references: [],
  from: { address: from, name: null },
  to: to.map((address) => ({ address, name: null })),
  cc: [],
  subject,
  text,
  html: null,
  extractedText: text,
  attachments: [],
  truncated: false,
  authentication: AUTHENTICATION,
  bodyHash: createHash("sha256").update(text).digest("hex")
})
