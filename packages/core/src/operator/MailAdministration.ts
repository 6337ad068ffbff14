import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { foldAddress, splitAddress } from "../email/EmailAddress.ts"
import { type InboundEnvelope, InboundMailStore, type QueuedMail } from "../email/InboundMail.ts"
import { MailboxStore } from "../email/MailboxStore.ts"
import type { Recipient } from "../email/Message.ts"
import { MessageRetryStore, MessageStore, type WaitingMessage, WaitingState } from "../email/MessageStore.ts"
import { ScheduledMessages, whyWaiting } from "../email/ScheduledMessages.ts"
import * as Bytes from "../kernel/Bytes.ts"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { plainText } from "../kernel/PlainText.ts"
import { Conflict, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { AuditReason, recordChange } from "./Audit.ts"
import { type ReportedAttempt, reportedAttempt } from "./OperationAdministration.ts"
import { tenantIdOf } from "./TenantDirectory.ts"

const LIMIT = 100
const DEFAULT_LIMIT = 20
const NAME_LIMIT = 320
const AGE_LIMIT_MINUTES = 10 * 365 * 24 * 60
/** Bytes of a waiting mail that are shown. */
const CONTENT_LIMIT = 256 * 1024

const page = {
  /** An id or a wallet. */
  tenant: Schema.optionalKey(plainText(NAME_LIMIT)),
  olderThanMinutes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: AGE_LIMIT_MINUTES }))),
  limit: PageInput.limit({ maximum: LIMIT, default: DEFAULT_LIMIT }),
  cursor: Schema.optionalKey(Uuid.GivenUuid)
}

/** Selects a page of accepted mails that wait for their delivery. The cursor of a page is the id of its last mail. */
export const QueryInboundMailsInput = Schema.Struct({
  /** `failed`: an attempt failed; `waiting`: none did. */
  state: Schema.optionalKey(Schema.Literals(["waiting", "failed"])),
  /** An id or an address. */
  mailbox: Schema.optionalKey(plainText(NAME_LIMIT)),
  ...page
})
export type QueryInboundMailsInput = typeof QueryInboundMailsInput.Type

/** Selects a page of outbound messages that wait for an attempt. The cursor of a page is the id of its last message. */
export const QueryOutboundMessagesInput = Schema.Struct({ state: Schema.optionalKey(WaitingState), ...page })
export type QueryOutboundMessagesInput = typeof QueryOutboundMessagesInput.Type

export const DropInboundMailInput = Schema.Struct({ reason: AuditReason.check(Schema.isMinLength(1)) })

/** A waiting mail in its wire format, without its content. */
export interface InboundMailReport extends Pick<QueuedMail, "attempts" | "failure" | "mailboxIds" | "sizeBytes"> {
  readonly inboundMailId: string
  readonly state: "waiting" | "failed"
  /** In ISO 8601. */
  readonly receivedAt: string
  readonly nextAttempt: ReportedAttempt
  readonly envelope: Pick<InboundEnvelope, "helo" | "mailFrom" | "rcptTo" | "remoteAddress" | "secure">
}

/** The beginning of a waiting mail. */
export interface InboundMailContent {
  readonly inboundMailId: string
  /** At most 256 KiB, read as UTF-8. */
  readonly content: string
  readonly isWhole: boolean
}

/** A waiting message in its wire format, without its content. */
export interface OutboundMessageReport extends Pick<WaitingMessage, "attempts" | "messageId" | "state" | "tenantId"> {
  /** Null if the mailbox was deleted, which ends the attempts. */
  readonly mailboxId: string | null
  /** In ISO 8601, as are `sendAt` and `createdAt`. */
  readonly dueAt: string
  /** The time that the tenant chose; null for a message that was to be sent at once. */
  readonly sendAt: string | null
  readonly createdAt: string | null
  /** The payment that is refunded if the message reaches no recipient; null for a message that was to be sent at once. */
  readonly operationId: string | null
  readonly recipients: ReadonlyArray<Pick<Recipient, "address" | "reason" | "status">>
}

/** The operator's view of mail that waits, in and out, over all tenants. */
export class MailAdministration extends Context.Service<
  MailAdministration,
  {
    /** Returns mails that were accepted and are not delivered, oldest first. */
    readonly listInbound: (query: QueryInboundMailsInput) => Effect.Effect<Page<InboundMailReport>>
    readonly findInbound: (inboundMailId: string) => Effect.Effect<InboundMailReport, ResourceNotFound>
    /** Reads the beginning of a waiting mail. */
    readonly readInbound: (inboundMailId: string) => Effect.Effect<InboundMailContent, ResourceNotFound>
    /**
     * Makes a waiting mail due at once, as if it were new: a mail that failed several times would be delivered unparsed. Fails with
     * `Conflict` while a worker holds it.
     */
    readonly replayInbound: (inboundMailId: string) => Effect.Effect<InboundMailReport, ResourceNotFound | Conflict>
    /** Deletes a waiting mail for good, and returns it. Fails with `Conflict` while a worker holds it. */
    readonly dropInbound: (
      inboundMailId: string,
      reason: string
    ) => Effect.Effect<InboundMailReport, ResourceNotFound | Conflict>
    /** Returns outbound messages that wait for an attempt, or have one, oldest first. */
    readonly listOutbound: (query: QueryOutboundMessagesInput) => Effect.Effect<Page<OutboundMessageReport>>
    /**
     * Makes a deferred message due at once. Fails with `Conflict` for a message that is scheduled or being sent, and for one
     * that the relay may have taken.
     */
    readonly retryOutbound: (messageId: string) => Effect.Effect<OutboundMessageReport, ResourceNotFound | Conflict>
  }
>()("@agentos/core/operator/MailAdministration") {
  static readonly layer = Layer.effect(
    MailAdministration,
    Effect.gen(function* () {
      const mails = yield* InboundMailStore
      const retries = yield* MessageRetryStore
      const messages = yield* MessageStore
      const mailboxes = yield* MailboxStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const mailboxIdOf = Effect.fnUntraced(function* (mailbox: string) {
        if (!mailbox.includes("@")) return mailbox
        const [found] = yield* mailboxes.findActive([splitAddress(foldAddress(mailbox)).localPart])
        return found?.mailboxId ?? Uuid.NIL
      })

      const findInbound = Effect.fnUntraced(function* (inboundMailId: string) {
        const found = yield* mails.findQueued(inboundMailId)
        if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "waiting mail", id: inboundMailId })
        return toInboundReport(found.value, yield* Timestamp.now)
      })

      const findOutbound = Effect.fnUntraced(function* (messageId: string) {
        const found = yield* retries.findWaiting(messageId)
        if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "waiting message", id: messageId })
        return yield* toOutboundReport(found.value)
      })

      const toOutboundReport = Effect.fnUntraced(function* (waiting: WaitingMessage) {
        const { attempts, dueAt, messageId, sendAt, state, tenantId } = waiting
        const message = Option.getOrUndefined(yield* messages.findSent(messageId))
        const report: OutboundMessageReport = {
          messageId,
          tenantId,
          mailboxId: message?.mailboxId ?? null,
          state,
          attempts,
          dueAt: Timestamp.toIso(dueAt),
          sendAt: Timestamp.toIsoOrNull(sendAt),
          createdAt: Timestamp.toIsoOrNull(message?.createdAt ?? null),
          operationId: message?.operationId ?? null,
          recipients: message?.recipients.map(({ address, reason, status }) => ({ address, status, reason })) ?? []
        }
        return report
      })

      return MailAdministration.of({
        listInbound: Effect.fnUntraced(function* ({
          cursor,
          limit = DEFAULT_LIMIT,
          mailbox,
          olderThanMinutes,
          state,
          tenant
        }) {
          const found = yield* mails.listQueued({
            hasFailed: state === undefined ? undefined : state === "failed",
            tenantId: tenant === undefined ? undefined : yield* tenantIdOf(tenants, tenant),
            mailboxId: mailbox === undefined ? undefined : yield* mailboxIdOf(mailbox),
            age: olderThanMinutes === undefined ? undefined : olderThanMinutes * Timestamp.MINUTE,
            after: cursor,
            limit: limit + 1
          })
          const now = yield* Timestamp.now
          const items = found.slice(0, limit).map((mail) => toInboundReport(mail, now))
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.inboundMailId ?? null) : null }
        }),
        findInbound,
        readInbound: Effect.fnUntraced(function* (inboundMailId) {
          const { sizeBytes } = yield* findInbound(inboundMailId)
          const pieces = yield* Stream.runCollect(mails.readPieces(inboundMailId, { offset: 0, bytes: CONTENT_LIMIT }))
          const content = new TextDecoder().decode(Bytes.concat(...pieces))
          return { inboundMailId, content, isWhole: sizeBytes <= CONTENT_LIMIT }
        }),
        replayInbound: Effect.fnUntraced(function* (inboundMailId) {
          const replayed = yield* transact(
            Effect.gen(function* () {
              const before = yield* findInbound(inboundMailId)
              if (!(yield* mails.replay(inboundMailId))) return yield* held(inboundMailId)
              const after = yield* findInbound(inboundMailId)
              yield* recordChange({ nextAttempt: before.nextAttempt }, { nextAttempt: after.nextAttempt })
              return after
            })
          )
          yield* Effect.logWarning(`inbound mail ${inboundMailId} made due by the operator`)
          return replayed
        }),
        dropInbound: Effect.fnUntraced(function* (inboundMailId, reason) {
          const dropped = yield* transact(
            Effect.gen(function* () {
              const mail = yield* findInbound(inboundMailId)
              if (!(yield* mails.drop(inboundMailId))) return yield* held(inboundMailId)
              yield* recordChange(toAudited(mail), null, { reason })
              return mail
            })
          )
          yield* Effect.logWarning(`inbound mail ${inboundMailId} dropped by the operator: ${reason}`)
          return dropped
        }),
        listOutbound: Effect.fnUntraced(function* ({ cursor, limit = DEFAULT_LIMIT, olderThanMinutes, state, tenant }) {
          const now = yield* Timestamp.now
          const found = yield* retries.listWaiting({
            state,
            tenantId: tenant === undefined ? undefined : yield* tenantIdOf(tenants, tenant),
            // An id begins with the time of its creation.
            before:
              olderThanMinutes === undefined
                ? undefined
                : Uuid.fromParts(Math.max(0, now - olderThanMinutes * Timestamp.MINUTE), 0n),
            after: cursor,
            limit: limit + 1
          })
          const items = yield* Effect.forEach(found.slice(0, limit), toOutboundReport)
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.messageId ?? null) : null }
        }),
        retryOutbound: Effect.fnUntraced(function* (messageId) {
          const retried = yield* transact(
            Effect.gen(function* () {
              const before = yield* findOutbound(messageId)
              const isDue = yield* retries.makeDue(messageId)
              const after = yield* findOutbound(messageId)
              if (!isDue) return yield* new Conflict({ message: `${whyWaiting(after)} Nothing was changed.` })
              yield* recordChange({ dueAt: before.dueAt }, { dueAt: after.dueAt })
              return after
            })
          )
          yield* Effect.logWarning(`message ${messageId} made due by the operator`)
          return retried
        })
      })
    })
  )
}

/**
 * Ends the attempts at a waiting message for the recipients that it has not reached, and returns it with their end. Needs the keys
 * of the server for the refund, and so more than the database.
 */
export const cancelOutbound = Effect.fnUntraced(function* (messageId: string) {
  const { transact } = yield* Transactor
  const { giveUp } = yield* ScheduledMessages
  const canceled = yield* transact(
    Effect.tap(giveUp(messageId), ({ before, isRefunded, message, operationId }) =>
      recordChange({ status: before }, { status: message.status, operationId, isRefunded })
    )
  )
  yield* Effect.logWarning(`message ${messageId} canceled by the operator`)
  const { isRefunded, message, operationId } = canceled
  return { messageId, tenantId: message.tenantId, status: message.status, operationId, isRefunded }
})

const toInboundReport = (mail: QueuedMail, now: Timestamp.Timestamp): InboundMailReport => {
  const { attempts, failure, inboundMailId, mailboxIds, receivedAt, sizeBytes } = mail
  const { helo, mailFrom, rcptTo, remoteAddress, secure } = mail.envelope
  return {
    inboundMailId,
    state: failure === null ? "waiting" : "failed",
    attempts,
    failure,
    nextAttempt: reportedAttempt(mail, now),
    sizeBytes,
    receivedAt: Timestamp.toIso(receivedAt),
    mailboxIds,
    envelope: { mailFrom, rcptTo, remoteAddress, helo, secure }
  }
}

/** Returns the audit's record of a dropped mail: no address, since records outlive the erasure of a tenant. */
const toAudited = ({ envelope, ...mail }: InboundMailReport) => {
  const { attempts, failure, mailboxIds, receivedAt, sizeBytes } = mail
  const { mailFrom, rcptTo } = envelope
  const senderDomain = mailFrom === "" ? null : splitAddress(mailFrom).domain
  return { receivedAt, sizeBytes, attempts, failure, mailboxIds, recipients: rcptTo.length, senderDomain }
}

const held = (inboundMailId: string) =>
  new Conflict({
    message: `A worker holds the mail ${inboundMailId} and is delivering it. Read it again in a few seconds. Nothing was changed.`
  })
