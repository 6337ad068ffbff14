import { Context, Effect, Layer, Option } from "effect"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { isSuspended, type TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { OperationFailureKind } from "../payment/Operation.ts"
import * as Revoking from "../payment/Revoking.ts"
import { statusOf } from "./DeliveryReport.ts"
import { foldAddress } from "./EmailAddress.ts"
import { EmailProvider } from "./EmailProvider.ts"
import { MailPolicy } from "./MailPolicy.ts"
import type { Message, Recipient } from "./Message.ts"
import { MessageRetryStore, MessageStore, type RetryLease } from "./MessageStore.ts"
import {
  accepted,
  afterAttempt,
  bouncedOf,
  deferred,
  failed,
  hasReachedNobody,
  isQueued,
  isUnknown,
  makeComposer
} from "./OutboundMail.ts"
import { suppress } from "./Suppression.ts"

/** How long a recipient that is refused temporarily is retried, in milliseconds since its message was paid for, or was due. */
export const SEND_WINDOW = Timestamp.DAY

const CONCURRENCY = 2
const POLL_INTERVAL = "2 seconds"
/** Lease of a retry in milliseconds, renewed during the attempt. */
const LEASE = 15 * Timestamp.SECOND
const FIRST_DELAY = 5 * Timestamp.SECOND
const LONGEST_DELAY = Timestamp.HOUR

/** Returns the milliseconds before the next attempt, after this many. Never exceeds the rest of `SEND_WINDOW`. */
export const retryDelay = (
  attempts: number,
  { createdAt, sendAt = createdAt }: Pick<Message, "createdAt" | "sendAt">,
  now: Timestamp.Timestamp
) => {
  const delay = Math.min(FIRST_DELAY * 2 ** Math.min(attempts, 20), LONGEST_DELAY)
  return Math.max(0, Math.min(delay, sendAt + SEND_WINDOW - now))
}

const TOO_LATE = "the server was down for a day after the message was due"

/** Computes the recipients after an attempt from the recipients at the time of its recording. */
type Outcome = (recipients: ReadonlyArray<Recipient>) => ReadonlyArray<Recipient>

/** The outcome of an attempt, and the folded addresses that do not exist according to the relay. */
interface Attempted {
  readonly outcome: Outcome
  readonly bounced: ReadonlyArray<string>
  readonly relayIds?: ReadonlyArray<string> | undefined
  /** Whether the relay may have the mail, although it did not say so. */
  readonly isLost?: boolean
  /** Why a message that reached no recipient is refunded. */
  readonly failure: OperationFailureKind
}

const giveUp = (failure: OperationFailureKind, reason?: string): Attempted => ({
  outcome: (recipients) => afterAttempt(recipients, [], failed(reason)),
  bounced: [],
  failure
})

const SUPPRESSED = "suppressed: the address bounced or complained"

/**
 * Sends scheduled messages when they are due, and messages again to the recipients that the relay refused temporarily,
 * until it accepts or permanently refuses them, or `SEND_WINDOW` ends. A scheduled message that the relay accepted for no
 * recipient is refunded.
 *
 * A recipient whose acceptance is recorded is never sent to again. If the server dies between the relay's answer and
 * the record of it, the mail is sent again under the same Message-ID, as after any unknown outcome.
 */
export class MessageRetries extends Context.Service<
  MessageRetries,
  {
    /** Retries for as long as it runs. Any number of servers can run it. */
    readonly run: Effect.Effect<never>
  }
>()("@agentos/core/email/MessageRetries") {
  static readonly layer = Layer.effect(
    MessageRetries,
    Effect.gen(function* () {
      const retries = yield* MessageRetryStore
      const messages = yield* MessageStore
      const provider = yield* EmailProvider
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const suppression = { messages, policy: yield* MailPolicy, ownDomain: provider.domain }
      const compose = yield* makeComposer
      const { revoke } = yield* Revoking.make

      const isPaused = (tenantId: TenantId, now: Timestamp.Timestamp) =>
        Effect.map(messages.findSending(tenantId), (record) => (record?.pause?.until ?? 0) > now)

      /** Gives up the recipients that were suppressed since the message was sent. */
      const withoutSuppressed = Effect.fnUntraced(function* (message: Message) {
        const queued = message.recipients.filter(isQueued).map(({ address }) => foldAddress(address))
        const suppressed = yield* messages.findSuppressed(message.tenantId, queued)
        const refused = suppressed.map((address) => ({
          address,
          reason: SUPPRESSED
        }))
        return { ...message, recipients: afterAttempt(message.recipients, refused, (recipient) => recipient), refused }
      })

      const send = Effect.fnUntraced(function* (stored: Message) {
        const now = yield* Timestamp.now
        const { createdAt, sendAt = createdAt, tenantId } = stored
        if (now >= sendAt + SEND_WINDOW) return giveUp("late", stored.status === "scheduled" ? TOO_LATE : undefined)
        if (yield* isSuspended(Option.getOrUndefined(yield* tenants.find(tenantId))))
          return giveUp("gone", "the tenant was suspended")
        if (stored.status === "scheduled" && (yield* isPaused(tenantId, now)))
          return giveUp("canceled", "sending was paused when the message was due")
        const { refused: suppressed, ...message } = yield* withoutSuppressed(stored)
        if (!message.recipients.some(isQueued)) return giveUp("canceled", SUPPRESSED)
        return yield* Effect.match(provider.send(compose(message)), {
          onSuccess: ({ rejected, relayIds }): Attempted => ({
            relayIds,
            outcome: (recipients) => afterAttempt(recipients, [...suppressed, ...rejected], accepted),
            bounced: bouncedOf(rejected),
            failure: "rejected"
          }),
          onFailure: ({ message: text, reason, refused = [] }): Attempted => ({
            outcome: (recipients) =>
              afterAttempt(recipients, [...suppressed, ...refused], reason === "Rejected" ? failed(text) : deferred),
            bounced: bouncedOf(refused),
            isLost: reason === "Unknown",
            failure: "rejected"
          })
        })
      })

      /** Records an attempt, also if the lease was lost meanwhile: the relay's answer remains true. */
      const record = (lease: RetryLease, { bounced, failure, isLost, outcome, relayIds }: Attempted) =>
        transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([lease.tenantId])
            const current = Option.getOrUndefined(yield* messages.findSent(lease.messageId))
            if (current === undefined) return
            const recipients = outcome(current.recipients)
            yield* messages.setOutcome(lease.messageId, { recipients, status: statusOf(recipients), relayIds })
            yield* suppress(suppression, {
              message: current,
              addresses: bounced,
              reason: "bounced",
              isReporter: false
            })
            const { operationId } = current
            if (operationId !== undefined && hasReachedNobody(recipients)) {
              const reason = recipients[0]?.reason ?? ""
              yield* revoke(operationId, { kind: failure, message: `The scheduled message was not sent: ${reason}` })
            }
            if (!recipients.some(isQueued)) return yield* retries.end(lease)
            const delay = retryDelay(lease.attempts, current, yield* Timestamp.now)
            const isOpen = isLost === true || recipients.some(isUnknown)
            return yield* retries.reschedule(lease, delay, isOpen ? "unknown" : "deferred")
          })
        )

      const retry = Effect.fnUntraced(function* (lease: RetryLease) {
        const found = yield* messages.find(lease.tenantId, lease.messageId)
        if (found._tag !== "Owned" || !found.value.recipients.some(isQueued)) {
          return yield* Effect.asVoid(retries.end(lease))
        }
        yield* record(lease, yield* send(found.value))
      })

      return MessageRetries.of({
        run: PollingWorker.run({
          name: "retry of a message",
          concurrency: CONCURRENCY,
          interval: POLL_INTERVAL,
          take: (limit) => retries.lease(limit, LEASE),
          handle: (lease) =>
            PollingWorker.whileLeased({ millis: LEASE, renew: retries.renew(lease, LEASE) })(retry(lease)),
          failed: () => Effect.void
        })
      })
    })
  )
}
