import { Effect, Schema } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import { Conflict, invalid, InvalidRequest, type Issue } from "../kernel/ResourceError.ts"
import { countRefusal, QuotaExceeded } from "../limits/Refusals.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { OperationContext, PaidService } from "../payment/PaidService.ts"
import type { Tenant, TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { AttachmentStore } from "./AttachmentStore.ts"
import { statusOf } from "./DeliveryReport.ts"
import { baseLocalPart, foldAddress, isAt, splitAddress } from "./EmailAddress.ts"
import { RECIPIENT_LIMIT, SendMessageInput } from "./EmailInput.ts"
import { EmailProvider, type SendReceipt } from "./EmailProvider.ts"
import { type MailboxSender, MailboxStore } from "./MailboxStore.ts"
import { MailPolicy, reachedLimit } from "./MailPolicy.ts"
import { bodySizeBytes, type Message, type Recipient, snippetOf, toMessageRecord } from "./Message.ts"
import { retryDelay, SEND_WINDOW } from "./MessageRetries.ts"
import { MessageRetryStore, MessageStore } from "./MessageStore.ts"
import { accepted, afterAttempt, bouncedOf, isQueued, makeComposer } from "./OutboundMail.ts"
import { owned, remainingMailbox } from "./Mailboxes.ts"
import * as SendingQuota from "./SendingQuota.ts"
import { suppress } from "./Suppression.ts"

/** The parts of the mail that are fixed before the first attempt, above all the Message-ID. */
const Plan = Schema.Struct({
  messageId: Uuid.Uuid,
  messageIdHeader: Schema.String,
  from: Schema.Struct({ address: Schema.String, name: Schema.NullOr(Schema.String) }),
  signature: Schema.NullOr(Schema.String),
  /** Present in a reply. */
  thread: Schema.optionalKey(
    Schema.Struct({
      threadId: Uuid.Uuid,
      inReplyTo: Schema.NullOr(Schema.String),
      references: Schema.Array(Schema.String)
    })
  ),
  /** Absent without attachments. Their bytes are in `AttachmentStore`. */
  attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        filename: Schema.String,
        contentType: Schema.String,
        sizeBytes: Schema.Int,
        sha256: Schema.String
      })
    )
  )
})
type Plan = typeof Plan.Type

const FULL = {
  mailbox: "The mailbox is full, and a copy of each sent message is stored in it. Send from another mailbox.",
  tenant: "Your mailboxes have reached their total storage quota. Delete a mailbox that you no longer need."
} as const

const quotaMessage = (refusal: SendingQuota.SendingRefusal, recipients: number): string => {
  const until = Timestamp.toIso(refusal.until)
  return refusal._tag === "Paused"
    ? `Sending is paused until ${until}: too many recipients ${refusal.reason === "bounced" ? "do not exist" : "complained"}. Remove them from your list, then send again.`
    : `The message has ${recipients} recipients, but ${refusal.left} of your ${refusal.limit} a day are left. Send to fewer, or after ${until}. The limit grows with use.`
}

/** Sends one email. Retries use the same Message-ID, so that receivers drop duplicates. */
export const messageSending = Effect.gen(function* () {
  const mailboxes = yield* MailboxStore
  const messages = yield* MessageStore
  const attachments = yield* AttachmentStore
  const provider = yield* EmailProvider
  const retries = yield* MessageRetryStore
  const compose = yield* makeComposer
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  const policy = yield* MailPolicy
  const suppression = { messages, policy, ownDomain: provider.domain }

  const requireRoom = Effect.fnUntraced(function* ({ standing }: MailboxSender) {
    const reached = reachedLimit(policy, standing)
    if (reached === undefined) return
    yield* countRefusal("mail_storage")
    return yield* new Conflict({ message: FULL[reached], read: { kind: "mailbox", id: null } })
  })

  /** Returns the addresses of the service's own domain that are no active mailbox: the relay would refuse them. */
  const findUnknown = Effect.fnUntraced(function* (listed: ReadonlyArray<ListedRecipient>) {
    const own = listed
      .filter(({ address }) => isAt(address, provider.domain))
      .map(({ address }) => ({ address, localPart: baseLocalPart(splitAddress(address).localPart) }))
    if (own.length === 0) return new Set<string>()
    const found = yield* mailboxes.findActive([...new Set(own.map(({ localPart }) => localPart))])
    const active = new Set(found.map(({ localPart }) => localPart))
    return new Set(own.filter(({ localPart }) => !active.has(localPart)).map(({ address }) => address))
  })

  const checkRecipients = Effect.fnUntraced(function* (
    listed: ReadonlyArray<ListedRecipient>,
    { suppressed: addresses }: MailboxSender
  ) {
    if (listed.length > RECIPIENT_LIMIT) {
      return yield* invalid(
        "to",
        `has too many recipients: at most ${RECIPIENT_LIMIT} are allowed in to, cc and bcc together`
      )
    }
    const suppressed = new Set(addresses)
    const unknown = yield* findUnknown(listed)
    const issues: ReadonlyArray<Issue> = listed.flatMap(({ address, path }) =>
      suppressed.has(foldAddress(address))
        ? [{ path, message: `is suppressed because ${address} bounced or complained` }]
        : unknown.has(address)
          ? [{ path, message: `is no active mailbox of this service: ${address}` }]
          : []
    )
    if (issues.length > 0) {
      return yield* new InvalidRequest({
        message:
          "Some recipients can't be written to: they bounced or complained, or are no mailbox of this service. Remove the recipients in error.issues, or lift their suppression by POST /api/v1/email/suppressions/lift",
        issues
      })
    }
  })

  /** Returns the thread that a reply joins, or fails if the message that it answers is not the tenant's. */
  const threadOf = Effect.fnUntraced(function* (tenantId: TenantId, { inReplyTo }: SendMessageInput) {
    if (inReplyTo === undefined) return undefined
    return replyTo(yield* orFail(yield* messages.find(tenantId, inReplyTo), "message", inReplyTo))
  })

  /**
   * Returns the tenant's sending record of today, or fails if the tenant can't write to this many more recipients.
   */
  const requireQuota = Effect.fnUntraced(function* ({ sending }: MailboxSender, recipients: number) {
    const now = yield* Timestamp.now
    const record = SendingQuota.today(policy.sending, sending, now)
    const refusal = SendingQuota.refusalOf(policy.sending, record, recipients)
    if (refusal === undefined) return record
    if (refusal._tag === "DayLimit" && recipients > refusal.limit) {
      yield* countRefusal("mail_recipients_per_day")
      const message = `The message has ${recipients} recipients, but your limit is ${refusal.limit} a day. Send to fewer at once. The limit grows with use.`
      return yield* new Conflict({ message })
    }
    const quota = refusal._tag === "Paused" ? "mail_sending_paused" : "mail_recipients_per_day"
    yield* countRefusal(quota)
    const retryAfterSeconds = Timestamp.secondsUntil(refusal.until, now)
    return yield* new QuotaExceeded({ quota, message: quotaMessage(refusal, recipients), retryAfterSeconds })
  })

  /** Checks that the tenant may send the message from its mailbox now. Returns what sending it needs. */
  const requireSender = Effect.fnUntraced(function* (tenant: Tenant | null, input: SendMessageInput) {
    const listed = listRecipients(input)
    const addresses = listed.slice(0, RECIPIENT_LIMIT).map(({ address }) => foldAddress(address))
    const sender = yield* owned(tenant, input.mailboxId, ({ tenantId }) =>
      mailboxes.findSender(tenantId, input.mailboxId, addresses)
    )
    const thread = yield* threadOf(sender.mailbox.tenantId, input)
    yield* checkRecipients(listed, sender)
    const record = yield* requireQuota(sender, listed.length)
    yield* requireRoom(sender)
    return { mailbox: sender.mailbox, thread, sending: SendingQuota.sent(record, listed.length) }
  })

  const suppressBounced = (message: Message, refused: SendReceipt["rejected"]) =>
    suppress(suppression, {
      message,
      addresses: bouncedOf(refused),
      reason: "bounced",
      isReporter: false
    })

  /** Leaves an empty list in the place of the attachments that it stores. */
  const stage = Effect.fnUntraced(function* (operationId: string, input: SendMessageInput) {
    const { attachments: given = [], ...kept } = input
    if (given.length === 0) return kept
    yield* attachments.stage(operationId, given)
    return { ...kept, attachments: [] }
  })

  const service: PaidService<SendMessageInput, Plan, SendReceipt> = {
    serviceId: "email.message.send",
    input: SendMessageInput,
    plan: Plan,
    retryFor: SEND_WINDOW,
    check: (tenant, input) => Effect.asVoid(requireSender(tenant, input)),
    staging: { store: stage, discard: attachments.discard },
    prepare: Effect.fnUntraced(function* ({ operationId, tenant }, input) {
      const { mailbox, sending, thread } = yield* requireSender(tenant, input)
      yield* messages.putSending(tenant.tenantId, sending)
      const messageId = yield* Uuid.next
      const assigned =
        input.attachments === undefined ? [] : yield* attachments.assign(operationId, tenant.tenantId, messageId)
      return {
        messageId,
        messageIdHeader: `<${messageId}@${provider.domain}>`,
        from: { address: mailbox.address, name: mailbox.displayName },
        signature: mailbox.outboundSignature,
        ...(thread === undefined ? {} : { thread }),
        ...(assigned.length === 0 ? {} : { attachments: assigned })
      }
    }),
    abandon: (_context, { messageId }) => attachments.remove(messageId),
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(mailboxes, tenant, input.mailboxId)),
    perform: (context, plan, input) => {
      const message = queuedMessage(context, plan, input)
      return Effect.tapError(provider.send(compose(message)), ({ refused = [] }) =>
        transactor.transact(Effect.andThen(tenants.lock([message.tenantId]), suppressBounced(message, refused)))
      )
    },
    record: Effect.fnUntraced(function* (context, plan, input, receipt) {
      const queued = queuedMessage(context, plan, input)
      const recipients = afterAttempt(queued.recipients, receipt.rejected, accepted)
      const message = { ...queued, recipients, status: statusOf(recipients) }
      // If the mailbox was deleted during the send, no copy is stored; the mail was sent nevertheless.
      const sizeBytes = message.attachments.reduce((sum, file) => sum + file.sizeBytes, bodySizeBytes(message))
      const stored = yield* messages.insert([{ message, duplicateKey: null, inboundMailId: null, sizeBytes }])
      if (stored.size === 0) yield* attachments.remove(plan.messageId)
      else if (recipients.some(isQueued)) {
        const delay = retryDelay(0, message, yield* Timestamp.now)
        yield* retries.schedule(plan.messageId, context.tenant.tenantId, delay)
      }
      yield* suppressBounced(message, receipt.rejected)
      return { created: true, data: { message: toMessageRecord(message) } }
    })
  }
  return service
})

/** The maximum number of Message-IDs in References: the first one, which began the conversation, and the latest. */
const REFERENCE_LIMIT = 50

/** Returns the headers and the thread of a reply to a message (RFC 5322, section 3.6.4). */
const replyTo = ({ inReplyTo, messageIdHeader, references, threadId }: Message): Plan["thread"] & {} => {
  // A message without a Message-ID can only be answered in the thread of its mailbox.
  if (messageIdHeader === null) return { threadId, inReplyTo: null, references: [] }
  const before = references.length === 0 && inReplyTo !== null ? [inReplyTo] : references
  const all = [...before.filter((id) => id !== messageIdHeader), messageIdHeader]
  const kept = all.length <= REFERENCE_LIMIT ? all : [all[0]!, ...all.slice(1 - REFERENCE_LIMIT)]
  return { threadId, inReplyTo: messageIdHeader, references: kept }
}

interface ListedRecipient {
  readonly address: string
  readonly kind: Recipient["kind"]
  readonly path: string
}

/** Returns every recipient once, under the first of to, cc and bcc that contains it. */
const listRecipients = (input: SendMessageInput): ReadonlyArray<ListedRecipient> => {
  const seen = new Set<string>()
  const list = (kind: Recipient["kind"], addresses: ReadonlyArray<string>) =>
    addresses.flatMap((address, index) => {
      const folded = foldAddress(address)
      if (seen.has(folded)) return []
      seen.add(folded)
      return [{ address, kind, path: `${kind}.${index}` }]
    })
  return [...list("to", input.to), ...list("cc", input.cc ?? []), ...list("bcc", input.bcc ?? [])]
}

const addressesOf = (input: SendMessageInput, kind: Recipient["kind"]): ReadonlyArray<string> =>
  listRecipients(input)
    .filter((recipient) => recipient.kind === kind)
    .map(({ address }) => address)

/** A loop, because `/\n+$/` takes quadratic time in the number of line breaks: minutes for a text of a million. */
const withoutLastBreaks = (text: string): string => {
  let end = text.length
  while (text[end - 1] === "\n") end--
  return text.slice(0, end)
}

/** Separates the signature as RFC 3676, section 4.3, specifies. */
const signed = (text: string, signature: string | null): string =>
  signature === null ? text : `${withoutLastBreaks(text)}\n\n-- \n${signature}\n`

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>\n")

const signedHtml = (html: string, signature: string | null): string => {
  if (signature === null) return html
  const block = `<br>\n<div>-- <br>\n${escapeHtml(signature)}</div>\n`
  // Do not search in the lowercased text: a letter such as İ becomes longer in lower case and shifts all that follows.
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length
  return html.slice(0, end) + block + html.slice(end)
}

/** Returns the message before its first attempt, with every recipient queued. */
const queuedMessage = ({ createdAt, tenant }: OperationContext, plan: Plan, input: SendMessageInput): Message => {
  const text = signed(input.text, plan.signature)
  return {
    messageId: plan.messageId,
    threadId: plan.thread?.threadId ?? plan.messageId,
    mailboxId: input.mailboxId,
    tenantId: tenant.tenantId,
    direction: "outbound",
    from: plan.from.address,
    sender: plan.from,
    to: addressesOf(input, "to"),
    cc: addressesOf(input, "cc"),
    bcc: addressesOf(input, "bcc"),
    replyTo: [],
    automatic: null,
    mailingList: null,
    subject: input.subject,
    snippet: snippetOf(text),
    messageIdHeader: plan.messageIdHeader,
    inReplyTo: plan.thread?.inReplyTo ?? null,
    ...(input.inReplyTo === undefined ? {} : { answers: input.inReplyTo }),
    references: plan.thread?.references ?? [],
    attachments: plan.attachments ?? [],
    authentication: null,
    malformed: false,
    truncated: false,
    status: "queued",
    recipients: listRecipients(input).map(({ address, kind }) => ({
      address,
      name: null,
      kind,
      status: "queued",
      reason: null
    })),
    createdAt,
    text,
    html: input.html === undefined ? null : signedHtml(input.html, plan.signature),
    extractedText: null
  }
}
