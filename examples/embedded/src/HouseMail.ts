import { EmailProvider, MailParser, MailUnreadable, type OutgoingMail, type ParsedMail } from "@agentos/core"
import { Effect, Layer, Schema, Stream } from "effect"
import { createHash } from "node:crypto"

/** How mail travels inside this house: as JSON. */
const HouseMail = Schema.Struct({
  id: Schema.String,
  from: Schema.String,
  to: Schema.Array(Schema.String),
  subject: Schema.String,
  text: Schema.String
})
export type HouseMail = typeof HouseMail.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(HouseMail))

/** The ports of mail, for a house that has a mail system of its own: what is sent is put into `sent`. */
export const houseMail = (domain: string, sent: Array<OutgoingMail>) =>
  Layer.mergeAll(
    Layer.succeed(EmailProvider, {
      name: "house",
      domain,
      send: (mail) =>
        Effect.sync(() => {
          sent.push(mail)
          return { accepted: [...mail.to, ...mail.cc, ...mail.bcc], rejected: [], response: "taken" }
        })
    }),
    Layer.succeed(MailParser, {
      parse: (raw) =>
        Stream.decodeText(raw).pipe(
          Stream.mkString,
          Effect.flatMap(decode),
          Effect.mapError((error) => new MailUnreadable({ message: error.message })),
          Effect.map(toParsedMail)
        )
    })
  )

const toParsedMail = ({ from, id, subject, text, to }: HouseMail): ParsedMail => ({
  messageIdHeader: `<${id}>`,
  inReplyTo: null,
  references: [],
  from,
  to,
  cc: [],
  subject,
  text,
  html: null,
  attachments: [],
  truncated: false,
  // Nobody outside the house can write here, so nobody's claim has to be checked.
  authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
  bodyHash: createHash("sha256").update(text).digest("hex")
})
