import { Data, Effect, Exit, Option } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as CallGroup from "../kernel/CallGroup.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { type DeliveryReport, effectOf, type ReportAuthority } from "./DeliveryReport.ts"
import { emailReceived } from "./EmailEvent.ts"
import { EmailProvider } from "./EmailProvider.ts"
import { type InboundEnvelope, InboundMailStore, type ParsedMail, type WaitingMail } from "./InboundMail.ts"
import type { InboundAdmission, ReturnPaths, SentMessage } from "./InboundAdmission.ts"
import { foldAddress, splitAddress } from "./EmailAddress.ts"
import { isAddressOf, type Mailbox } from "./Mailbox.ts"
import { MailPolicy } from "./MailPolicy.ts"
import { BLANK_CONTENT, bodySizeBytes, type Message, receivedBy, snippetOf } from "./Message.ts"
import { MessageStore, type NewMessage } from "./MessageStore.ts"
import { hasForm } from "./ReturnPath.ts"
import { suppress, workingAddress } from "./Suppression.ts"
import { guessThread } from "./ThreadGuess.ts"

/** Size of the mails that one transaction delivers, in bytes. A mail counts at least as much as a small one. */
const GROUP_BYTES = 4 * 1024 * 1024
const SMALL_MAIL_BYTES = 64 * 1024

/** A mail that was parsed, or can't be. */
export interface ReadMail {
  readonly mail: WaitingMail
  readonly parsed: Option.Option<ParsedMail>
  /** The return paths that it was sent to. */
  readonly reported: ReturnPaths
  /** The messages of these, as far as they are stored. They never change tenant. */
  readonly sent: ReadonlyArray<SentMessage>
}

/** Another worker has leased the mail. */
export class LeaseLost extends Data.TaggedError("LeaseLost") {}

/** Returns the Message-IDs that a mail answers. */
const answeredBy = (parsed: Option.Option<ParsedMail>): ReadonlyArray<string> =>
  Option.match(parsed, {
    onNone: () => [],
    onSome: ({ inReplyTo, references }) => (inReplyTo === null ? references : [inReplyTo, ...references])
  })

/**
 * Opens the delivery of mails that were read: mails of overlapping calls in one transaction, in which each matching
 * mailbox gets one message and one event for each mail. A mail that can't be delivered does not affect the others.
 */
export const makeInboundDelivery = Effect.fnUntraced(function* ({
  findMailboxes,
  findSenders,
  isRole,
  mailboxesOf
}: InboundAdmission) {
  const provider = yield* EmailProvider
  const store = yield* InboundMailStore
  const messages = yield* MessageStore
  const events = yield* EventStore
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  const policy = yield* MailPolicy
  const suppression = { messages, policy, ownDomain: provider.domain }

  /** Whether a configured reporter sent a mail, as an aligned check of its author proves. */
  const isFromReporter = ({ authentication: { domain } }: ParsedMail): boolean =>
    domain !== null && policy.feedbackReporters.some((listed) => domain === listed || domain.endsWith(`.${listed}`))

  /** Stores a report for audit, and applies it to its message if the message's tenant is locked. */
  const applyReport = Effect.fnUntraced(function* (
    mail: WaitingMail,
    messageId: string,
    report: DeliveryReport,
    authority: ReportAuthority,
    isLocked: boolean
  ) {
    const { envelope, inboundMailId, receivedAt } = mail
    const { remoteAddress } = envelope
    yield* messages.addReport({
      reportId: inboundMailId,
      messageId,
      receivedAt,
      remoteAddress,
      report
    })
    // Read again, under the lock.
    const found = isLocked ? yield* messages.findSent(messageId) : Option.none()
    if (Option.isNone(found)) return
    // Also beyond the limit of stored reports, which one recipient can reach alone. A repetition finds no move left.
    const message = found.value
    const effect = effectOf(report, message, authority)
    if (effect === undefined) return
    yield* messages.setOutcome(messageId, effect)
    const { isReporter } = authority
    yield* suppress(suppression, { message, addresses: effect.bounced, reason: "bounced", isReporter: false })
    yield* suppress(suppression, { message, addresses: effect.complained, reason: "complained", isReporter })
  })

  /** Records that a mail to a return path reached no mailbox: its message is not stored, or its mailbox is gone or inactive. */
  const recordLost = ({ mail, reported, sent }: ReadMail, senders: ReadonlyArray<Mailbox>) =>
    Effect.forEach(
      reported.keys(),
      (messageId) => {
        const found = sent.find((each) => each.messageId === messageId)
        if (senders.some(({ mailboxId }) => mailboxId === found?.mailboxId)) return Effect.void
        const { envelope, inboundMailId, receivedAt } = mail
        return messages.addReport({
          reportId: inboundMailId,
          messageId,
          receivedAt,
          remoteAddress: envelope.remoteAddress,
          report: { _tag: "Undelivered", reason: found === undefined ? "message unknown" : "mailbox unknown" }
        })
      },
      { discard: true }
    )

  /** Records and logs a mail to a postmaster for whom there is no mailbox. */
  const recordForOperator = Effect.fnUntraced(function* (
    { mail, parsed }: ReadMail,
    mailboxes: ReadonlyArray<Mailbox>
  ) {
    const { envelope, inboundMailId, receivedAt } = mail
    const roles = envelope.rcptTo.filter((address) => isRole(address) && mailboxesOf(mailboxes, [address]).length === 0)
    if (roles.length === 0) return
    yield* messages.addReport({
      reportId: inboundMailId,
      messageId: Uuid.NIL,
      receivedAt,
      remoteAddress: envelope.remoteAddress,
      report: { _tag: "Undelivered", reason: "no postmaster" }
    })
    const { from, subject } = Option.getOrElse(parsed, () => ({ from: { address: envelope.mailFrom }, subject: "" }))
    yield* Effect.logWarning("mail to the postmaster reached no mailbox: configure one").pipe(
      Effect.annotateLogs({ to: roles.join(", "), from: from.address, subject, inboundMailId })
    )
  })

  /** Returns the message of each recipient. A reply joins the thread of a message that is stored, or in the group. */
  const composeAll = Effect.fnUntraced(function* (mails: ReadonlyArray<ReadMail>, mailboxes: ReadonlyArray<Mailbox>) {
    const grouped = new Map<string, string>()
    const composed: Array<NewMessage> = []
    for (const { mail, parsed, sent } of mails) {
      const answers = Option.getOrUndefined(parsed)?.report === undefined ? sent : []
      const threadOf = new Map(answers.map(({ mailboxId, threadId }) => [mailboxId, threadId]))
      const named = new Set(mailboxesOf(mailboxes, mail.envelope.rcptTo))
      const recipients = mailboxes.filter((mailbox) => named.has(mailbox) || threadOf.has(mailbox.mailboxId))
      const answered = answeredBy(parsed)
      const threads =
        answered.length === 0 || recipients.length === 0
          ? new Map<string, string>()
          : yield* messages.findThreads(
              recipients.map(({ mailboxId }) => mailboxId),
              answered
            )
      for (const mailbox of recipients) {
        const messageId = yield* Uuid.next
        const place = (messageIdHeader: string) => `${mailbox.mailboxId} ${messageIdHeader}`
        const known = answered.map((id) => grouped.get(place(id))).find((threadId) => threadId !== undefined)
        const guessed =
          answered.length === 0 ||
          threads.has(mailbox.mailboxId) ||
          known !== undefined ||
          threadOf.has(mailbox.mailboxId)
            ? undefined
            : yield* guessThread(messages, mailbox, Option.getOrThrow(parsed), mail.receivedAt)
        const threadId =
          threads.get(mailbox.mailboxId) ?? known ?? threadOf.get(mailbox.mailboxId) ?? guessed ?? messageId
        const received = receivedMessage(mail, parsed, mailbox, messageId, threadId)
        if (received.message.messageIdHeader !== null) grouped.set(place(received.message.messageIdHeader), threadId)
        composed.push(received)
      }
    }
    return composed
  })

  const deliverAll = Effect.fnUntraced(function* (
    mails: ReadonlyArray<ReadMail>,
    culprit: CallGroup.Culprit<ReadMail>
  ) {
    culprit.item = undefined
    const owners = mails.flatMap(({ sent }) => sent)
    const senders = yield* findSenders(owners)
    const named = yield* findMailboxes(mails.flatMap(({ mail }) => mail.envelope.rcptTo))
    const mailboxes = [
      ...named,
      ...senders.filter(({ mailboxId }) => !named.some((each) => each.mailboxId === mailboxId))
    ]
    yield* tenants.lock([...new Set([...mailboxes, ...owners].map(({ tenantId }) => tenantId))])
    for (const read of mails) {
      yield* recordForOperator(read, named).pipe(CallGroup.onBehalfOf(culprit, read))
      const parsed = Option.getOrUndefined(read.parsed)
      if (parsed?.report === undefined) {
        yield* recordLost(read, senders).pipe(CallGroup.onBehalfOf(culprit, read))
        continue
      }
      const { report } = parsed
      const isReporter = isFromReporter(parsed)
      const locked = new Set(read.sent.map(({ messageId }) => messageId))
      yield* Effect.forEach(
        read.reported,
        ([messageId, returnPaths]) =>
          applyReport(read.mail, messageId, report, { returnPaths, isReporter }, locked.has(messageId)),
        { discard: true }
      ).pipe(CallGroup.onBehalfOf(culprit, read))
    }
    const received = yield* composeAll(mails, mailboxes)
    const stored = yield* messages.insert(received)
    const fresh = received.map(({ message }) => message).filter(({ messageId }) => stored.has(messageId))
    yield* events.append(fresh.map((message) => emailReceived(message, provider.name)))
    yield* messages.liftBounces(
      fresh.flatMap((message) => {
        const address = workingAddress(message)
        return address === undefined ? [] : [{ tenantId: message.tenantId, address }]
      })
    )
    const completed = yield* store.complete(mails.map(({ mail }) => mail))
    const lost = mails.find(({ mail }) => !completed.has(mail.inboundMailId))
    // Rolls back if another worker has leased the mail after this worker's lease expired.
    if (lost !== undefined) return yield* CallGroup.onBehalfOf(culprit, lost)(Effect.fail(new LeaseLost()))
    return mails.map(() => Exit.void)
  })

  return CallGroup.make<ReadMail, void, LeaseLost>({
    limit: GROUP_BYTES,
    sizeOf: ({ mail }) => Math.max(mail.sizeBytes, SMALL_MAIL_BYTES) * Math.max(mail.envelope.rcptTo.length, 1),
    work: (mails, culprit) => transactor.transact(deliverAll(mails, culprit))
  })
})

/**
 * The envelope sender, Message-ID, body, author, subject and date identify duplicates of a mail: some programs write one
 * Message-ID into several. A mail without a Message-ID has no duplicates.
 */
const duplicateKey = ({ mailFrom }: InboundEnvelope, mail: ParsedMail): string | null => {
  const { bodyHash, from, headerHash, messageIdHeader, subject } = mail
  if (messageIdHeader === null) return null
  return [mailFrom, messageIdHeader, bodyHash, headerHash ?? `${from.address} ${subject}`].join("\n")
}

const receivedMessage = (
  mail: WaitingMail,
  parsed: Option.Option<ParsedMail>,
  mailbox: Mailbox,
  messageId: string,
  threadId: string
): NewMessage => {
  const place = {
    messageId,
    threadId,
    mailboxId: mailbox.mailboxId,
    tenantId: mailbox.tenantId,
    direction: "inbound",
    bcc: [],
    status: "received",
    labels: [],
    unread: true,
    createdAt: mail.receivedAt
  } as const
  if (Option.isNone(parsed)) {
    const message: Message = {
      ...BLANK_CONTENT,
      ...place,
      snippet: "",
      from: mail.envelope.mailFrom,
      sender: { address: mail.envelope.mailFrom, name: null },
      to: [mailbox.address],
      recipients: receivedBy([{ address: mailbox.address, name: null }], [], () => true),
      automatic: mail.envelope.mailFrom === "" ? "null_sender" : null,
      authentication: null,
      malformed: true
    }
    return { message, duplicateKey: null, inboundMailId: mail.inboundMailId, sizeBytes: mail.sizeBytes }
  }
  const returnPaths = new Set(
    mail.envelope.rcptTo.filter((address) => hasForm(splitAddress(address).localPart)).map(foldAddress)
  )
  const { bodyHash: _1, cc, from, headerHash: _2, links = [], report: _3, to, ...content } = parsed.value
  const message: Message = {
    ...content,
    ...place,
    links,
    from: from.address,
    sender: from,
    to: to.map(({ address }) => address),
    cc: cc.map(({ address }) => address),
    automatic: content.automatic ?? (mail.envelope.mailFrom === "" ? "null_sender" : null),
    recipients: receivedBy(to, cc, (address) => isAddressOf(mailbox, address) || returnPaths.has(foldAddress(address))),
    snippet: snippetOf(content.text),
    malformed: false
  }
  return {
    message,
    duplicateKey: duplicateKey(mail.envelope, parsed.value),
    inboundMailId: mail.inboundMailId,
    sizeBytes: mail.sizeBytes + bodySizeBytes(message)
  }
}
