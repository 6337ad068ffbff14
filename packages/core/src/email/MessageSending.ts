import { Effect, Schema, Semaphore, Stream } from "effect"
import { Base64 } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import { orFail } from "../kernel/Lookup.ts"
import { Conflict, invalid, InvalidRequest, type Issue } from "../kernel/ResourceError.ts"
import { countRefusal, QuotaExceeded } from "../limits/Refusals.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type CheckError, type OperationContext, type PaidService, ResourceGone } from "../payment/PaidService.ts"
import type { Tenant, TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { AttachmentStore, type StoredAttachment } from "./AttachmentStore.ts"
import { statusOf } from "./DeliveryReport.ts"
import { baseLocalPart, foldAddress, isAt, isRoleLocalPart, splitAddress } from "./EmailAddress.ts"
import {
  ATTACHMENT_LIMIT,
  ATTACHMENTS_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  RECIPIENT_LIMIT,
  SCHEDULE_DAYS,
  SCHEDULED_LIMIT,
  sendable,
  SendMessageInput
} from "./EmailInput.ts"
import { EmailProvider, type SendReceipt } from "./EmailProvider.ts"
import { type MailboxSender, MailboxStore } from "./MailboxStore.ts"
import { MailPolicy, reachedLimit } from "./MailPolicy.ts"
import { attachmentIdOf, bodySizeBytes, type Message, type Recipient, snippetOf, toMessageRecord } from "./Message.ts"
import { forwardedBody } from "./Forward.ts"
import { MessageContents } from "./MessageContents.ts"
import { retryDelay, SEND_WINDOW } from "./MessageRetries.ts"
import { MessageRetryStore, MessageStore } from "./MessageStore.ts"
import { accepted, afterAttempt, bouncedOf, isQueued, isUnknown, makeComposer } from "./OutboundMail.ts"
import type { Mailbox } from "./Mailbox.ts"
import { owned, remainingMailbox } from "./Mailboxes.ts"
import { copiedTo, isLooping, repliedTo } from "./Reply.ts"
import * as SendingQuota from "./SendingQuota.ts"
import { forwardSubject, replySubject } from "./Subject.ts"
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
  /** Present where the service chooses recipients or subject. */
  chosen: Schema.optionalKey(
    Schema.Struct({ to: Schema.Array(Schema.String), cc: Schema.Array(Schema.String), subject: Schema.String })
  ),
  /** Absent without attachments. Their bytes are in `AttachmentStore`. */
  attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        filename: Schema.String,
        contentType: Schema.String,
        sizeBytes: Schema.Int,
        sha256: Schema.String,
        contentId: Schema.optionalKey(Schema.String)
      })
    )
  )
})
type Plan = typeof Plan.Type

/** Messages whose files are read to be forwarded at the same time. */
const FORWARDS_MAX = 2

const MOST_SCHEDULED = `You have ${SCHEDULED_LIMIT} scheduled messages, which is the maximum.`

/** No provider has seen a scheduled message. */
const SCHEDULED: SendReceipt = { accepted: [], rejected: [], response: "" }

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

  const contents = yield* Effect.provide(MessageContents, MessageContents.layer)
  /** The files of a forwarded message are in memory as base64, like those of a request. */
  const forwarding = yield* Semaphore.make(FORWARDS_MAX)

  /** Opens the files of a message, or fails if one is no longer stored. */
  const filesOf = (tenant: Tenant, { attachments: files, messageId }: Message) =>
    Effect.forEach(files, (file, index) =>
      Effect.map(contents.openAttachment(tenant, messageId, attachmentIdOf(messageId, index)), ({ bytes }) => ({
        ...sendable({ ...file, contentId: file.contentId ?? null }),
        bytes
      }))
    )

  const storedFilesOf = (tenant: Tenant, original: Message) =>
    Effect.catchTag(filesOf(tenant, original), "ContentNotStored", () =>
      Effect.fail(invalid("forwards", "names a message whose attachments are no longer stored"))
    )

  /** Returns the message that is forwarded, without its attachments if they are left out, or fails. */
  const findForwarded = Effect.fnUntraced(function* (tenant: Tenant, forwards: string, hasFiles = true) {
    const original = yield* orFail(yield* messages.find(tenant.tenantId, forwards), "message", forwards)
    return hasFiles ? original : { ...original, attachments: [] }
  })

  /** Fails unless the message can be forwarded with the parts that are given. */
  const checkForwarded = Effect.fnUntraced(function* (tenant: Tenant, original: Message, input: SendMessageInput) {
    const { attachments: given = [] } = input
    const sizeBytes = [
      ...original.attachments.map((file) => file.sizeBytes),
      ...given.map(({ contentBase64 }) => (contentBase64.length / 4) * 3)
    ].reduce((sum, size) => sum + size, 0)
    const { html, text } = forwardedBody(original, input)
    const isLong = [text, html ?? ""].some((body) => new TextEncoder().encode(body).length > BODY_LIMIT_BYTES)
    if (isLong || sizeBytes > ATTACHMENTS_LIMIT_BYTES || original.attachments.length + given.length > ATTACHMENT_LIMIT)
      return yield* invalid(
        "forwards",
        "names a message that is too large to be sent together with text, html and attachments"
      )
    yield* storedFilesOf(tenant, original)
  })

  /** Returns the message with the header, the body and the files of the one that it forwards. */
  const withForwarded = Effect.fnUntraced(function* (
    tenant: Tenant | null,
    { forwardAttachments, forwards, ...input }: SendMessageInput
  ): Effect.fn.Return<SendMessageInput, CheckError> {
    if (forwards === undefined || tenant === null) return input
    const original = yield* findForwarded(tenant, forwards, forwardAttachments)
    const body = forwardedBody(original, input)
    const files = yield* storedFilesOf(tenant, original)
    const added = yield* Effect.forEach(files, ({ bytes, contentId, ...file }) =>
      Effect.map(Stream.runCollect(bytes), (pieces) => ({
        ...file,
        ...(contentId === undefined || body.html === undefined ? {} : { contentId }),
        contentBase64: Base64.encode(Bytes.concat(...pieces))
      }))
    )
    const all = [...(input.attachments ?? []), ...added]
    return {
      ...input,
      ...body,
      subject: input.subject ?? forwardSubject(original.subject),
      ...(all.length === 0 ? {} : { attachments: all })
    }
  })

  const requireRoom = Effect.fnUntraced(function* ({ standing }: MailboxSender) {
    const reached = reachedLimit(policy, standing)
    if (reached === undefined) return
    yield* countRefusal("mail_storage")
    return yield* new Conflict({ message: FULL[reached], read: { kind: "mailbox", id: null } })
  })

  const hasMostScheduled = (tenantId: TenantId) =>
    Effect.map(retries.listScheduled(tenantId, SCHEDULED_LIMIT), ({ length }) => length === SCHEDULED_LIMIT)

  /** Fails unless the message can be scheduled for its time. */
  const checkSchedule = Effect.fnUntraced(function* (tenantId: TenantId, { sendAt }: SendMessageInput) {
    if (sendAt === undefined) return
    const now = yield* Timestamp.now
    if (sendAt <= now) return yield* invalid("sendAt", `must be in the future; it is ${Timestamp.toIso(now)} now`)
    if (sendAt > now + SCHEDULE_DAYS * Timestamp.DAY)
      return yield* invalid("sendAt", `must be at most ${SCHEDULE_DAYS} days ahead`)
    if (yield* hasMostScheduled(tenantId))
      return yield* new Conflict({
        message: `${MOST_SCHEDULED} Cancel one, or wait until one is sent.`,
        read: { kind: "message", id: null }
      })
  })

  /** Returns the addresses of the service's own domain that are no active mailbox: the relay would refuse them. */
  const findUnknown = Effect.fnUntraced(function* (listed: ReadonlyArray<ListedRecipient>) {
    const own = listed
      .filter(({ address }) => isAt(address, provider.domain) && !isRoleLocalPart(splitAddress(address).localPart))
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

  /** Returns the tenant's sending record of today, or fails if the tenant can't write to this many more recipients. */
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

  /** Returns the mailboxes whose own addresses a reply leaves out: the one that sends, and that of the message. */
  const ownOf = Effect.fnUntraced(function* (tenantId: TenantId, mailboxIds: ReadonlyArray<string>) {
    const found = yield* Effect.forEach([...new Set(mailboxIds)], (mailboxId) => mailboxes.find(tenantId, mailboxId))
    return found.flatMap((each) => (each._tag === "Owned" ? [each.value] : []))
  })

  /**
   * Checks that the tenant may send the message from its mailbox now. Returns what sending it needs. A mailbox that is not
   * the tenant's is reported before a message that is not.
   */
  const requireSender = Effect.fnUntraced(function* (tenant: Tenant | null, input: SendMessageInput) {
    yield* checkParts(input)
    const { forwards, inReplyTo, mailboxId } = input
    const found =
      tenant === null || inReplyTo === undefined ? undefined : yield* messages.find(tenant.tenantId, inReplyTo)
    const answered = found?._tag === "Owned" ? found.value : undefined
    const own =
      answered === undefined ? [] : yield* ownOf(answered.tenantId as TenantId, [mailboxId, answered.mailboxId])
    const chosen = choose(input, answered, own)
    const listed = listRecipients({ ...input, ...chosen })
    const addresses = listed.slice(0, RECIPIENT_LIMIT).map(({ address }) => foldAddress(address))
    const sender = yield* owned(tenant, mailboxId, ({ tenantId }) =>
      mailboxes.findSender(tenantId, mailboxId, addresses)
    )
    if (inReplyTo !== undefined && found !== undefined) yield* orFail(found, "message", inReplyTo)
    if (forwards !== undefined && tenant !== null) {
      const original = yield* findForwarded(tenant, forwards, input.forwardAttachments)
      yield* checkForwarded(tenant, original, input)
    }
    if (answered !== undefined && isLooping(answered) && input.automatic !== false)
      return yield* new Conflict({ message: LOOP, read: { kind: "message", id: answered.messageId } })
    if (listed.length === 0)
      return yield* invalid("to", "is missing: the message names nobody to answer. Pass the recipients")
    yield* checkRecipients(listed, sender)
    const record = yield* requireQuota(sender, listed.length)
    yield* requireRoom(sender)
    yield* checkSchedule(sender.mailbox.tenantId, input)
    return {
      mailbox: sender.mailbox,
      thread: answered === undefined ? undefined : threadOf(answered),
      chosen: answered === undefined ? undefined : chosen,
      sending: SendingQuota.sent(record, listed.length)
    }
  })

  const suppressBounced = (message: Message, refused: SendReceipt["rejected"]) =>
    suppress(suppression, {
      message,
      addresses: bouncedOf(refused),
      reason: "bounced",
      isReporter: false
    })

  /** Leaves the Content-IDs in the place of the attachments that it stores, or an empty list without any. */
  const stageFiles = Effect.fnUntraced(function* (operationId: string, input: SendMessageInput) {
    const { attachments: given = [], ...kept } = input
    if (given.length === 0) return kept
    yield* attachments.stage(operationId, given)
    const isInline = given.some(({ contentId }) => contentId !== undefined)
    return { ...kept, attachments: isInline ? given.map((file) => ({ ...file, contentBase64: "" })) : [] }
  })

  const stage = (operationId: string, input: SendMessageInput, tenant: Tenant | null) =>
    input.forwards === undefined
      ? stageFiles(operationId, input)
      : Semaphore.withPermits(
          forwarding,
          1,
          Effect.flatMap(withForwarded(tenant, input), (whole) => stageFiles(operationId, whole))
        )

  const service: PaidService<SendMessageInput, Plan, SendReceipt> = {
    serviceId: "email.message.send",
    input: SendMessageInput,
    plan: Plan,
    retryFor: SEND_WINDOW,
    check: (tenant, input) => Effect.asVoid(requireSender(tenant, input)),
    staging: { store: stage, discard: attachments.discard },
    prepare: Effect.fnUntraced(function* ({ operationId, tenant }, input) {
      const { chosen, mailbox, sending, thread } = yield* requireSender(tenant, input)
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
        ...(chosen === undefined ? {} : { chosen }),
        ...(assigned.length === 0 ? {} : { attachments: withContentIds(assigned, input) })
      }
    }),
    abandon: (_context, { messageId }) => attachments.remove(messageId),
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(mailboxes, tenant, input.mailboxId)),
    perform: (context, plan, input) => {
      if (input.sendAt !== undefined) return Effect.succeed(SCHEDULED)
      const message = queuedMessage(context, plan, input)
      return Effect.tapError(provider.send(compose(message)), ({ refused = [] }) =>
        transactor.transact(Effect.andThen(tenants.lock([message.tenantId]), suppressBounced(message, refused)))
      )
    },
    record: Effect.fnUntraced(function* (context, plan, input, receipt) {
      // Others may have been paid for at the same time. The deletion of a mailbox relies on the limit.
      if (input.sendAt !== undefined && (yield* hasMostScheduled(context.tenant.tenantId)))
        return yield* new ResourceGone({ message: MOST_SCHEDULED })
      const queued = queuedMessage(context, plan, input)
      const { sendAt } = queued
      const recipients =
        sendAt === undefined ? afterAttempt(queued.recipients, receipt.rejected, accepted) : queued.recipients
      const { relayIds = [] } = receipt
      const message = {
        ...queued,
        recipients,
        status: statusOf(recipients),
        ...(relayIds.length === 0 ? {} : { relayIds })
      }
      // If the mailbox was deleted during the send, no copy is stored; the mail was sent nevertheless.
      const sizeBytes = message.attachments.reduce((sum, file) => sum + file.sizeBytes, bodySizeBytes(message))
      const stored = yield* messages.insert([{ message, duplicateKey: null, inboundMailId: null, sizeBytes }])
      if (sendAt !== undefined) {
        if (stored.size === 0) return yield* new ResourceGone({ message: "The mailbox was deleted." })
        const delay = Math.max(0, sendAt - (yield* Timestamp.now))
        yield* retries.schedule(plan.messageId, context.tenant.tenantId, delay, { sendAt })
      } else if (stored.size === 0) yield* attachments.remove(plan.messageId)
      else if (recipients.some(isQueued)) {
        const delay = retryDelay(0, message, yield* Timestamp.now)
        const outcome = recipients.some(isUnknown) ? "unknown" : "deferred"
        yield* retries.schedule(plan.messageId, context.tenant.tenantId, delay, outcome)
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
const threadOf = ({ inReplyTo, messageIdHeader, references, threadId }: Message): Plan["thread"] & {} => {
  // A message without a Message-ID can only be answered in the thread of its mailbox.
  if (messageIdHeader === null) return { threadId, inReplyTo: null, references: [] }
  const before = references.length === 0 && inReplyTo !== null ? [inReplyTo] : references
  const all = [...before.filter((id) => id !== messageIdHeader), messageIdHeader]
  const kept = all.length <= REFERENCE_LIMIT ? all : [all[0]!, ...all.slice(1 - REFERENCE_LIMIT)]
  return { threadId, inReplyTo: messageIdHeader, references: kept }
}

const withContentIds = (
  assigned: ReadonlyArray<StoredAttachment>,
  { attachments: given = [] }: SendMessageInput
): Plan["attachments"] & {} =>
  assigned.map(({ contentType, filename, sha256, sizeBytes }, index) => {
    const contentId = given[index]?.contentId
    return { filename, contentType, sizeBytes, sha256, ...(contentId === undefined ? {} : { contentId }) }
  })

const LOOP =
  "The message that inReplyTo names is an automatic reply or a bounce, and a program that answers it begins a loop. Do not answer it. If a person or a decision of its own stands behind the answer, pass automatic: false."

/** Fails if a part is missing that has no default, or that another part needs. */
const checkParts = (input: SendMessageInput): Effect.Effect<void, InvalidRequest> => {
  const { attachments = [], forwardAttachments, forwards, html, inReplyTo, replyAll, subject, to } = input
  if (inReplyTo !== undefined && forwards !== undefined)
    return Effect.fail(invalid("forwards", "can't be combined with inReplyTo"))
  if (forwardAttachments === false && forwards === undefined)
    return Effect.fail(invalid("forwardAttachments", "requires forwards"))
  if (inReplyTo === undefined) {
    if (to === undefined) return Effect.fail(invalid("to", "is missing. Pass the recipients, or inReplyTo for a reply"))
    if (subject === undefined && forwards === undefined)
      return Effect.fail(invalid("subject", "is missing. It may be empty"))
    if (replyAll === true) return Effect.fail(invalid("replyAll", "requires inReplyTo"))
  }
  const inline = attachments.findIndex(({ contentId }) => contentId !== undefined)
  if (inline >= 0 && html === undefined)
    return Effect.fail(invalid(`attachments.${inline}.contentId`, "requires html, which shows the file"))
  return Effect.void
}

/** The recipients that are shown, and the subject. */
type Chosen = Plan["chosen"] & {}

/** Returns the given recipients and subject, and in a reply those that are not given. */
const choose = (input: SendMessageInput, answered: Message | undefined, own: ReadonlyArray<Mailbox>): Chosen => {
  const { cc = [], replyAll = false, subject, to } = input
  if (answered === undefined) return { to: to ?? [], cc, subject: subject ?? "" }
  return {
    to: to ?? repliedTo(answered, own),
    cc: replyAll ? copiedTo(answered, own, cc) : cc,
    subject: subject ?? replySubject(answered.subject)
  }
}

interface ListedRecipient {
  readonly address: string
  readonly kind: Recipient["kind"]
  readonly path: string
}

/** Returns every recipient once, under the first of to, cc and bcc that contains it. */
const listRecipients = (
  input: Pick<Chosen, "to" | "cc"> & { readonly bcc?: ReadonlyArray<string> | undefined }
): ReadonlyArray<ListedRecipient> => {
  const seen = new Set<string>()
  const list = (kind: Recipient["kind"], addresses: ReadonlyArray<string>) =>
    addresses.flatMap((address, index) => {
      const folded = foldAddress(address)
      if (seen.has(folded)) return []
      seen.add(folded)
      return [{ address, kind, path: `${kind}.${index}` }]
    })
  return [...list("to", input.to), ...list("cc", input.cc), ...list("bcc", input.bcc ?? [])]
}

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

/** An answer counts as written by a program, unless the caller says otherwise. */
const automaticOf = ({ automatic, inReplyTo }: SendMessageInput): Message["automatic"] => {
  if (!(automatic ?? inReplyTo !== undefined)) return null
  return inReplyTo === undefined ? "auto_generated" : "auto_replied"
}

/** Returns the message before its first attempt, with every recipient queued, or scheduled. */
const queuedMessage = (
  { createdAt, operationId, tenant }: OperationContext,
  plan: Plan,
  input: SendMessageInput
): Message => {
  const status = input.sendAt === undefined ? "queued" : "scheduled"
  const text = signed(input.text, plan.signature)
  const { cc, subject, to } = plan.chosen ?? choose(input, undefined, [])
  const listed = listRecipients({ to, cc, bcc: input.bcc })
  const addressesOf = (kind: Recipient["kind"]) =>
    listed.filter((recipient) => recipient.kind === kind).map(({ address }) => address)
  return {
    messageId: plan.messageId,
    threadId: plan.thread?.threadId ?? plan.messageId,
    mailboxId: input.mailboxId,
    tenantId: tenant.tenantId,
    direction: "outbound",
    from: plan.from.address,
    sender: plan.from,
    to: addressesOf("to"),
    cc: addressesOf("cc"),
    bcc: addressesOf("bcc"),
    replyTo: input.replyTo ?? [],
    automatic: automaticOf(input),
    mailingList: null,
    subject,
    snippet: snippetOf(text),
    messageIdHeader: plan.messageIdHeader,
    inReplyTo: plan.thread?.inReplyTo ?? null,
    ...(input.inReplyTo === undefined ? {} : { answers: input.inReplyTo }),
    references: plan.thread?.references ?? [],
    attachments: plan.attachments ?? [],
    authentication: null,
    malformed: false,
    truncated: false,
    status,
    ...(input.sendAt === undefined ? {} : { sendAt: input.sendAt, operationId }),
    recipients: listed.map(({ address, kind }) => ({
      address,
      name: null,
      kind,
      status,
      reason: null
    })),
    labels: [],
    unread: false,
    createdAt,
    text,
    html: input.html === undefined ? null : signedHtml(input.html, plan.signature),
    extractedText: null
  }
}
