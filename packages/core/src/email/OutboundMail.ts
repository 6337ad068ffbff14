import { Effect, Option, Stream } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { AttachmentStore } from "./AttachmentStore.ts"
import { isHardBounceStatus, recipientAfter } from "./DeliveryReport.ts"
import { foldAddress } from "./EmailAddress.ts"
import { EmailProvider, type OutgoingAttachment, type OutgoingMail } from "./EmailProvider.ts"
import type { Message, Recipient } from "./Message.ts"
import * as ReturnPath from "./ReturnPath.ts"

/**
 * Composes the mail that carries an outbound message to its queued recipients. Each attempt sends the same mail; only
 * the recipients become fewer.
 */
export const makeComposer = Effect.gen(function* () {
  const provider = yield* EmailProvider
  const keyring = yield* Keyring
  const attachments = yield* AttachmentStore

  /** Reads the bytes of an attachment when the mail is transferred. It exists as long as the operation or the message. */
  const outgoing =
    ({ messageId, tenantId }: Message) =>
    (
      { contentId = null, contentType, filename, sizeBytes }: Message["attachments"][number],
      index: number
    ): OutgoingAttachment => ({
      contentId,
      filename: filename ?? "",
      contentType,
      sizeBytes,
      content: Stream.unwrap(
        Effect.map(attachments.read(tenantId, messageId, index), (found) => {
          if (Option.isNone(found)) throw new Error(`attachment ${index} of message ${messageId} is not stored`)
          return found.value.content
        })
      )
    })

  const returnPath = ({ messageId }: Message, place: number | null): string =>
    `${ReturnPath.make(keyring, messageId, place)}@${provider.domain}`

  const envelopes = (message: Message) => {
    const queued = message.recipients.flatMap((recipient, place) =>
      isQueued(recipient) ? [{ recipient: recipient.address, returnPath: returnPath(message, place) }] : []
    )
    const returnPaths = queued.map((each) => each.returnPath)
    const [first = returnPath(message, null), ...others] = returnPaths
    return {
      recipients: queued.map(({ recipient }) => recipient),
      returnPaths,
      returnPath: others.length === 0 ? first : returnPath(message, null)
    }
  }

  return (message: Message): OutgoingMail => ({
    messageIdHeader: message.messageIdHeader ?? "",
    inReplyTo: message.inReplyTo,
    references: referencesOf(message),
    from: message.sender,
    ...envelopes(message),
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    replyTo: message.replyTo,
    autoSubmitted: autoSubmittedOf(message),
    subject: message.subject,
    text: message.text ?? "",
    html: message.html,
    attachments: message.attachments.map(outgoing(message)),
    date: message.sendAt ?? message.createdAt
  })
})

/** A first message names itself, so that the answers to a copy with the relay's Message-ID name it too. */
const referencesOf = ({ messageIdHeader, references }: Message): ReadonlyArray<string> =>
  references.length === 0 && messageIdHeader !== null ? [messageIdHeader] : references

const autoSubmittedOf = ({ automatic }: Message): OutgoingMail["autoSubmitted"] => {
  if (automatic === null) return null
  return automatic === "auto_replied" ? "auto-replied" : "auto-generated"
}

/** Whether the mail is still to be sent to the recipient. */
export const isQueued = ({ status }: Pick<Recipient, "status">): boolean =>
  status === "queued" || status === "scheduled"

/** Whether the message ended for every recipient without the relay's acceptance, so that a scheduled one is refunded. */
export const hasReachedNobody = (recipients: ReadonlyArray<Pick<Recipient, "status">>): boolean =>
  recipients.every(({ status }) => status === "failed" || status === "canceled")

/** The reason of a recipient whose transaction ended without a reply, so that the relay may have its mail. */
const UNANSWERED = "421 4.4.2"

/** Whether the relay may have the mail for a recipient to whom it is still to be sent. */
export const isUnknown = (recipient: Pick<Recipient, "reason" | "status">): boolean =>
  isQueued(recipient) && recipient.reason?.startsWith(UNANSWERED) === true

/** A recipient that was refused, and the reply, which begins with its code. */
type Refused = ReadonlyArray<{ readonly address: string; readonly reason: string }>

/** Whether a reply is a temporary refusal (RFC 5321, section 4.2.1). */
const isTemporary = (reason: string): boolean => /^4\d\d(?:[ -]|$)/.test(reason)

/**
 * Whether a reply is a permanent failure of the destination address. The enhanced code must follow the reply code:
 * elsewhere, for example in an IP address, such digits mean something else.
 */
const isHardBounce = (reason: string): boolean => {
  const [, status = ""] = /^5\d\d[ -]#?([\d.]+)/.exec(reason) ?? []
  return isHardBounceStatus(status)
}

/** Returns the (folded) addresses of the refused recipients that do not exist. */
export const bouncedOf = (refused: Refused): ReadonlyArray<string> =>
  refused.filter(({ reason }) => isHardBounce(reason)).map(({ address }) => foldAddress(address))

/**
 * Returns the recipients after an attempt. Only queued ones change: one that was refused temporarily stays queued, one
 * that was refused permanently is `failed`, and `others` decides on those that were not refused.
 */
export const afterAttempt = (
  recipients: ReadonlyArray<Recipient>,
  refused: Refused,
  others: (recipient: Recipient) => Recipient
): ReadonlyArray<Recipient> => {
  const reasons = new Map(refused.map(({ address, reason }) => [foldAddress(address), reason]))
  return recipients.map((recipient) => {
    if (!isQueued(recipient)) return recipient
    const reason = reasons.get(foldAddress(recipient.address))
    if (reason === undefined) return others(recipient)
    return recipientAfter(recipient, isTemporary(reason) ? "Defer" : "Refuse", reason)
  })
}

/** The relay accepted the mail for this recipient. */
export const accepted = (recipient: Recipient): Recipient => recipientAfter(recipient, "Accept", null)

/** The attempt failed, and will be repeated. */
export const deferred = (recipient: Recipient): Recipient => recipientAfter(recipient, "Defer", recipient.reason)

/** The recipient is given up, for the reason of its last refusal, unless there is another. */
export const failed =
  (reason?: string) =>
  (recipient: Recipient): Recipient =>
    recipientAfter(recipient, "GiveUp", reason ?? recipient.reason)
