import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as Schema from "effect/Schema"
import { createTransport } from "nodemailer"
import PostalMime from "postal-mime"
import { decodeJson, HttpError, ok, readJson, type Routes } from "../shared/JsonServer.ts"
import { type MailService, SmtpError } from "./MailService.ts"
import type { Envelope, Outbox, StoredMail } from "./Outbox.ts"
import { deliveryReport } from "./Reports.ts"

const OUTBOX_ITEMS_MAX = 20

/** A little more than the service's limit of 25 MiB after base64, so that the service rejects large mail itself. */
const BODY_BYTES_MAX = 40 * 1024 * 1024

const Address = Schema.String.check(Schema.isPattern(/^[^\s@<>]+@[^\s@<>]+$/))
const Header = Schema.String.check(Schema.isPattern(/^[^\r\n]*$/))

const OutsideMail = Schema.Struct({
  from: Address,
  /** The name beside the address. */
  fromName: Schema.optionalKey(Header),
  to: Schema.NonEmptyArray(Address),
  cc: Schema.Array(Address),
  subject: Header,
  text: Schema.String,
  html: Schema.optionalKey(Schema.String),
  /** The Message-ID of the mail that this one answers. */
  inReplyTo: Schema.optionalKey(Header),
  attachments: Schema.Array(
    Schema.Struct({
      filename: Header,
      contentType: Schema.optionalKey(Header),
      contentBase64: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]*={0,2}$/))
    })
  )
})

/** A report about a mail that the service sent to a recipient outside. */
const DeliveryReport = Schema.Struct({
  recipient: Address,
  /** An enhanced status code (RFC 3463): 5.x.x failed, 4.x.x is delayed, 2.x.x was delivered. */
  status: Schema.String.check(Schema.isPattern(/^[245]\.\d{1,3}\.\d{1,3}$/))
})

/** Reads a stored mail, as its recipients do. */
const readMail = async ({ file, mailFrom, messageId, rcptTo, receivedAt }: StoredMail) => {
  const { from, subject, text } = await PostalMime.parse(await readFile(file))
  return {
    receivedAt,
    from: from?.address ?? mailFrom,
    to: rcptTo,
    subject: subject ?? "",
    text: text ?? "",
    messageId,
    file
  }
}

/** Composes mail without sending it. */
const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" })

/**
 * The routes that send mail from outside to the service: POST /sandbox/mail sends a mail, and POST /sandbox/reports
 * `{recipient, status}` sends a report about the last mail to that recipient to its return path. Each returns the reply of
 * the service, or 422 if the service refuses the mail. GET /sandbox/outbox returns the last mails that the service has sent,
 * newest first; `to` selects those to one recipient.
 */
export const outsideMailRoutes = (service: MailService, outbox: Outbox): Routes => {
  const deliver = async (envelope: Envelope, raw: Buffer): Promise<string> => {
    try {
      return await service.deliver(envelope, raw)
    } catch (error) {
      if (error instanceof SmtpError)
        throw new HttpError(422, `the service refused the mail: ${error.responseCode} ${error.message}`)
      throw error
    }
  }
  return {
    "/sandbox/mail": {
      POST: async (request) => {
        const body = await readJson(request, BODY_BYTES_MAX)
        const mail = decodeJson(OutsideMail, body, { cc: [], subject: "", text: "", attachments: [] })
        const { attachments, cc, from, fromName, inReplyTo, to, ...content } = mail
        const messageId = `<${randomUUID()}@${from.slice(from.lastIndexOf("@") + 1)}>`
        const { message } = await composer.sendMail({
          ...content,
          messageId,
          from: { name: fromName ?? "", address: from },
          to: [...to],
          cc: [...cc],
          ...(inReplyTo === undefined ? {} : { inReplyTo, references: inReplyTo }),
          attachments: attachments.map(({ contentBase64, ...attachment }) => ({
            ...attachment,
            content: Buffer.from(contentBase64, "base64")
          })),
          // Text of the caller names no files.
          disableFileAccess: true,
          disableUrlAccess: true
        })
        return ok({ messageId, reply: await deliver({ mailFrom: from, rcptTo: [...to, ...cc] }, message as Buffer) })
      }
    },
    "/sandbox/reports": {
      POST: async (request) => {
        const report = decodeJson(DeliveryReport, await readJson(request), { status: "5.1.1" })
        const [mail] = await outbox.last(1, report.recipient)
        if (mail === undefined) throw new HttpError(404, `no mail to ${report.recipient} was sent`)
        const envelope = { mailFrom: "", rcptTo: [mail.mailFrom] }
        return ok({ messageId: mail.messageId, reply: await deliver(envelope, deliveryReport(report, mail)) })
      }
    },
    "/sandbox/outbox": {
      GET: async ({ url = "" }) => {
        const to = new URL(url, "http://relay").searchParams.get("to") ?? undefined
        return ok({ items: await Promise.all((await outbox.last(OUTBOX_ITEMS_MAX, to)).map(readMail)) })
      }
    }
  }
}
