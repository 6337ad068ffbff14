import { Context, Data, Effect, Layer, Option, Queue } from "effect"
import { EventStore } from "../events/EventStore.ts"
import type { EventDraft } from "../events/DurableEvent.ts"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { type DeliveryReport, effectOf } from "./DeliveryReport.ts"
import { EmailProvider } from "./EmailProvider.ts"
import {
  type InboundEnvelope,
  InboundMailStore,
  InboundRefused,
  MailParser,
  type ParsedMail,
  type WaitingMail
} from "./InboundMail.ts"
import { type InboundSender, makeInboundAdmission } from "./InboundAdmission.ts"
import type { Mailbox } from "./Mailbox.ts"
import { MailPolicy } from "./MailPolicy.ts"
import { bodySizeBytes, type Message, receivedBy, snippetOf } from "./Message.ts"
import { MessageStore, type NewMessage } from "./MessageStore.ts"
import { suppress } from "./Suppression.ts"

/** Maximum number of mails parsed concurrently. */
const CONCURRENCY = 2
/** Maximum delay before mail that another server accepted, or whose delivery was interrupted, is found. */
const POLL_INTERVAL = "2 seconds"
/** Lease of a mail in milliseconds. Mail of a server that died waits for it and the poll interval. */
const LEASE = 15 * Timestamp.SECOND
/** Milliseconds before a mail whose delivery failed is retried. */
const RETRY_DELAY = Timestamp.MINUTE
/** Milliseconds before a report about a message that is not stored yet is retried, by attempt. */
const REPORT_DELAYS = [5 * Timestamp.SECOND, Timestamp.MINUTE, 10 * Timestamp.MINUTE]
/** The number of attempts after which a mail is delivered unparsed: it may be the cause of the failures. */
const ATTEMPT_LIMIT = 3

/**
 * Inbound mail, from SMTP to the mailboxes.
 *
 * The raw mail is stored before its sender receives the acceptance. Parsing comes later, can fail and is retried.
 * Delivery is one transaction, in which each matching mailbox gets one message and one `email.received` event. A report
 * to the return path of an outbound message updates that message instead, without a message or event of its own.
 */
export class InboundMails extends Context.Service<
  InboundMails,
  {
    /** Fails unless mail from this sender to this address would be accepted now. Called at RCPT. */
    readonly admit: (address: string, from: InboundSender) => Effect.Effect<void, InboundRefused>
    /**
     * Stores a mail durably for the recipients whose sender policies admit it; the sender may receive the acceptance
     * only afterwards. `author` is the address in From, or empty if there is not exactly one. If one of the mailboxes is
     * full, it fails and stores nothing; the sender then offers the mail again to the others.
     */
    readonly accept: (envelope: InboundEnvelope, raw: Uint8Array, author: string) => Effect.Effect<void, InboundRefused>
    /**
     * Parses and delivers accepted mail for as long as it runs: mail that this server accepted at once, other mail by
     * polling. Any number of servers can run it.
     */
    readonly run: Effect.Effect<never>
  }
>()("@agentos/core/email/InboundMails") {
  static readonly layer = Layer.effect(
    InboundMails,
    Effect.gen(function* () {
      const provider = yield* EmailProvider
      const parser = yield* MailParser
      const store = yield* InboundMailStore
      const messages = yield* MessageStore
      const events = yield* EventStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const policy = yield* MailPolicy
      const admission = yield* makeInboundAdmission
      const { findMailboxes, findReported } = admission
      const arrived = yield* Queue.dropping<void>(1)

      const read = Effect.fnUntraced(function* (mail: WaitingMail) {
        if (mail.attempts > ATTEMPT_LIMIT) return Option.none<ParsedMail>()
        const parsed = yield* Effect.result(parser.parse(store.readPieces(mail.inboundMailId), mail.envelope))
        if (parsed._tag === "Success") return Option.some(parsed.success)
        yield* Effect.logWarning(`inbound mail ${mail.inboundMailId} can't be read: ${parsed.failure.message}`)
        return Option.none<ParsedMail>()
      })

      /** Stores a report for audit, and applies it to its message if the message's tenant is locked. */
      const applyReport = Effect.fnUntraced(function* (
        mail: WaitingMail,
        messageId: string,
        report: DeliveryReport,
        isLocked: boolean
      ) {
        const { envelope, inboundMailId, receivedAt } = mail
        const { remoteAddress } = envelope
        const isNew = yield* messages.addReport({
          reportId: inboundMailId,
          messageId,
          receivedAt,
          remoteAddress,
          report
        })
        // Read again, under the lock.
        const message = isLocked ? yield* messages.findSent(messageId) : Option.none()
        if (!isNew || Option.isNone(message)) return
        const { tenantId } = message.value
        const effect = effectOf(report, message.value)
        if (effect === undefined) return
        yield* messages.setOutcome(messageId, effect)
        yield* suppress(messages, policy, tenantId, effect.bounced, "bounced")
        yield* suppress(messages, policy, tenantId, effect.complained, "complained")
      })

      const deliver = Effect.fnUntraced(function* (mail: WaitingMail) {
        const parsed = yield* read(mail)
        const report = Option.getOrUndefined(parsed)?.report
        const reported = report === undefined ? [] : findReported(mail.envelope.rcptTo)
        // A report may arrive before its message is stored: the relay answers first. The message never changes tenant.
        const sent = yield* Effect.forEach(reported, messages.findSent)
        const delay = REPORT_DELAYS[mail.attempts - 1]
        if (sent.some(Option.isNone) && delay !== undefined) return yield* Effect.asVoid(store.renew(mail, delay))
        const owners = sent.flatMap(Option.toArray)
        yield* transactor.transact(
          Effect.gen(function* () {
            const recipients = yield* findMailboxes(mail.envelope.rcptTo)
            yield* tenants.lock([...recipients, ...owners].map(({ tenantId }) => tenantId))
            if (report !== undefined) {
              const locked = new Set(owners.map(({ messageId }) => messageId))
              yield* Effect.forEach(
                reported,
                (messageId) => applyReport(mail, messageId, report, locked.has(messageId)),
                { discard: true }
              )
            }
            const answered = Option.match(parsed, {
              onNone: () => [],
              onSome: ({ inReplyTo, references }) => (inReplyTo === null ? references : [inReplyTo, ...references])
            })
            const threads =
              answered.length === 0 || recipients.length === 0
                ? new Map<string, string>()
                : yield* messages.findThreads(
                    recipients.map(({ mailboxId }) => mailboxId),
                    answered
                  )
            const received = yield* Effect.forEach(recipients, (mailbox) =>
              Effect.map(Uuid.next, (messageId) =>
                receivedMessage(mail, parsed, mailbox, messageId, threads.get(mailbox.mailboxId) ?? messageId)
              )
            )
            const stored = yield* messages.insert(received)
            const fresh = received.map(({ message }) => message).filter(({ messageId }) => stored.has(messageId))
            yield* events.append(fresh.map((message) => receivedEvent(message, provider.name)))
            // Rolls back if another worker has leased the mail after this worker's lease expired.
            if (!(yield* store.complete(mail))) return yield* new LeaseLost()
          })
        )
      })

      /** A mail that can't be delivered now is retried after a delay, and does not delay other mails. */
      const deliverOrPostpone = (mail: WaitingMail) =>
        deliver(mail).pipe(
          PollingWorker.whileLeased({ millis: LEASE, renew: store.renew(mail, LEASE) }),
          Effect.tapDefect(() => store.renew(mail, RETRY_DELAY))
        )

      return InboundMails.of({
        admit: Effect.fnUntraced(function* (address, from) {
          const found = yield* findMailboxes([address])
          if (found.length === 0 && findReported([address]).length === 0) {
            return yield* new InboundRefused({ refusal: "mailbox unknown" })
          }
          yield* admission.requireSourceRate(from, "check")
          yield* admission.requireMailboxRate(found, "check")
          yield* admission.requireRoom(found)
        }),
        accept: Effect.fnUntraced(function* (offered, raw, author) {
          yield* admission.requireSourceRate(offered, "take")
          const { envelope, recipients: admitting } = yield* admission.applySenderPolicies(offered, raw, author)
          yield* admission.requireMailboxRate(admitting, "take")
          const inboundMailId = yield* Uuid.next
          const mail = { inboundMailId, envelope, raw, receivedAt: yield* Timestamp.now, attempts: 0 }
          yield* store.stage(mail)
          const add = transactor.transact(
            Effect.gen(function* () {
              const recipients = yield* findMailboxes(envelope.rcptTo)
              // Under the lock, so that concurrent mails do not all use the same remaining room.
              yield* tenants.lock(recipients.map(({ tenantId }) => tenantId))
              yield* admission.requireRoom(recipients)
              yield* store.add(
                mail,
                recipients.map(({ mailboxId }) => mailboxId)
              )
            })
          )
          yield* Effect.tapError(add, () => store.discard(inboundMailId))
          yield* Queue.offer(arrived, undefined)
        }),
        run: PollingWorker.run({
          name: "inbound mail",
          concurrency: CONCURRENCY,
          interval: POLL_INTERVAL,
          wake: Queue.take(arrived),
          take: (limit) => store.lease(limit, LEASE),
          handle: deliverOrPostpone,
          failed: ({ inboundMailId }) =>
            Effect.logWarning(`another worker leased inbound mail ${inboundMailId}; it delivers the mail`)
        })
      })
    })
  )
}

/** Another worker has leased the mail. */
class LeaseLost extends Data.TaggedError("LeaseLost") {}

/**
 * The envelope sender, Message-ID and body identify duplicates of a mail. A mail without a Message-ID has no
 * duplicates.
 */
const duplicateKey = (envelope: InboundEnvelope, mail: ParsedMail): string | null =>
  mail.messageIdHeader === null ? null : [envelope.mailFrom, mail.messageIdHeader, mail.bodyHash].join("\n")

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
    createdAt: mail.receivedAt
  } as const
  if (Option.isNone(parsed)) {
    const unread = { subject: "", snippet: "", messageIdHeader: null, inReplyTo: null, references: [], cc: [] }
    const message: Message = {
      ...place,
      ...unread,
      from: mail.envelope.mailFrom,
      sender: { address: mail.envelope.mailFrom, name: null },
      to: [mailbox.address],
      recipients: receivedBy([{ address: mailbox.address, name: null }], []),
      attachments: [],
      authentication: null,
      malformed: true,
      truncated: false,
      text: null,
      html: null,
      extractedText: null
    }
    return { message, duplicateKey: null, inboundMailId: mail.inboundMailId, sizeBytes: mail.sizeBytes }
  }
  const { bodyHash: _1, cc, from, report: _2, to, ...content } = parsed.value
  const message: Message = {
    ...content,
    ...place,
    from: from.address,
    sender: from,
    to: to.map(({ address }) => address),
    cc: cc.map(({ address }) => address),
    recipients: receivedBy(to, cc),
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

const receivedEvent = (message: Message, source: string): EventDraft => ({
  tenantId: message.tenantId,
  type: "email.received",
  source,
  service: "email",
  resourceId: message.messageId,
  agentId: message.mailboxId,
  dedupeKey: `email.received:${message.messageId}`,
  payload: {
    mailboxId: message.mailboxId,
    emailId: message.messageId,
    from: message.from,
    subject: message.subject,
    authentication: message.authentication,
    receivedAt: Timestamp.toIso(message.createdAt)
  }
})
