import { Effect } from "effect"
import { AttachmentStore } from "../email/AttachmentStore.ts"
import { InboundMailStore } from "../email/InboundMail.ts"
import { MailPolicy } from "../email/MailPolicy.ts"
import { MessageStore } from "../email/MessageStore.ts"
import { EventPolicy } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { CallPolicy } from "../phone/CallPolicy.ts"
import { CallStore } from "../phone/CallStore.ts"
import { type OldRows, type RetainedData, RetentionPolicy, RetentionStore } from "../tenancy/Retention.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { BATCH, inBatches, type Job } from "./Job.ts"

/** Deletes old rows of each kind of data that a tenant can have a period for. Each call returns how many it deleted. */
export const makeRemovals = Effect.gen(function* () {
  const calls = yield* CallStore
  const events = yield* EventStore
  const messages = yield* MessageStore
  const operations = yield* OperationStore
  const tenants = yield* TenantStore
  const { transact } = yield* Transactor

  /** Deletes the messages of a tenant in one transaction under its lock. */
  const removeMessages = Effect.fnUntraced(function* (old: OldRows) {
    const found = yield* messages.findOld(old)
    const removed = yield* Effect.forEach(
      Map.groupBy(found, ({ tenantId }) => tenantId),
      ([tenantId, ofTenant]) => {
        const messageIds = ofTenant.map(({ messageId }) => messageId)
        return transact(Effect.andThen(tenants.lock([tenantId]), messages.remove(tenantId, messageIds)))
      }
    )
    return removed.reduce((sum, count) => sum + count, 0)
  })

  const removals: Readonly<Record<RetainedData, (old: OldRows) => Effect.Effect<number>>> = {
    messages: removeMessages,
    calls: calls.remove,
    transcripts: calls.removeTurns,
    events: ({ age, limit, ...scope }) => events.remove(age, limit, scope),
    answers: operations.removeAnswers
  }
  return removals
})

/** How long undeliverable mail is retried: longer than SMTP servers do (RFC 5321, section 4.5.4.1). */
const MAIL_GIVE_UP_AFTER = 7 * Timestamp.DAY
/** Attempts before mail is abandoned. Mail gets about one a minute, but none while no server runs. */
const MAIL_ATTEMPTS_MIN = 100
/** Far longer than a claim takes after its attachments were staged. */
const STAGED_ATTACHMENT_AGE = Timestamp.HOUR
/**
 * How long the record of a used sign-in message is kept after the message expired: far longer than the clocks of the
 * servers and of the database differ.
 */
const SIGN_IN_KEPT = Timestamp.HOUR

/** Rows per statement. Small, because each may be large or is read whole. */
const LARGE_ROWS = 50

/** The jobs that expire, delete or complete stored rows, each by a bounded statement that is repeated until none is due. */
export const make = Effect.gen(function* () {
  const attachments = yield* AttachmentStore
  const events = yield* EventStore
  const mails = yield* InboundMailStore
  const messages = yield* MessageStore
  const tenants = yield* TenantStore
  const { auditRetention, retention } = yield* EventPolicy
  const mailPolicy = yield* MailPolicy
  const callPolicy = yield* CallPolicy
  const removals = yield* makeRemovals
  const retentions = yield* RetentionStore
  const policy = yield* RetentionPolicy
  if (auditRetention !== null && auditRetention < retention) {
    return yield* Effect.die(new Error("events can't be deleted before they have expired: see EventPolicy"))
  }

  const giveUpMail = Effect.fnUntraced(function* (limit: number) {
    const given = yield* mails.giveUp({ age: MAIL_GIVE_UP_AFTER, attempts: MAIL_ATTEMPTS_MIN, limit })
    if (given.length > 0) yield* Effect.logError(`undeliverable mails deleted: ${given.join(", ")}`)
    return given.length
  })

  /** Deletes rows of at least this age, null for none as of the run, and those of each tenant with a period of its own. */
  const removeOlder = Effect.fnUntraced(function* (data: RetainedData, ageOf: () => number | null, size = LARGE_ROWS) {
    const remove = removals[data]
    const own = yield* retentions.listOfData(data)
    const scopes = [
      { age: ageOf(), except: own.map(({ tenantId }) => tenantId) },
      ...own.map((each) => ({ age: each.age, tenantId: each.tenantId }))
    ]
    const removed = yield* Effect.forEach(scopes, ({ age: least, ...scope }) =>
      least === null ? Effect.succeed(0) : inBatches((limit) => remove({ age: least, limit, ...scope }), size)
    )
    return removed.reduce((sum, count) => sum + count, 0)
  })

  const jobs: ReadonlyArray<Job> = [
    {
      // Reads treat an expired event as expired without it. This removes such events from the ones that sessions scan,
      // and ends their remaining leases.
      name: "event-expiry",
      every: Timestamp.MINUTE,
      run: inBatches(events.expire)
    },
    {
      // Deletes acknowledged, expired and failed events once the policy no longer keeps them for audit, and their
      // dedupeKeys. None of these can occur again by then: a payment event is written with a state transition that its
      // operation makes once, a mail event with a message whose id is new, and external sources stop repeating a report
      // within days, which is less than the retention of any event.
      name: "event-retention",
      every: Timestamp.MINUTE,
      run: removeOlder("events", () => auditRetention, BATCH)
    },
    {
      // Abandons undeliverable raw mail, and removes mail of the same age that a server staged but did not add before it
      // stopped. Other raw mail goes with a delivery that no mailbox accepts, or with the last message that refers to it.
      name: "inbound-mail-retention",
      every: Timestamp.HOUR,
      run: Effect.zipWith(
        inBatches(giveUpMail, LARGE_ROWS),
        inBatches((limit) => mails.removeStaged({ age: MAIL_GIVE_UP_AFTER, limit }), LARGE_ROWS),
        (given, removed) => given + removed
      )
    },
    {
      // Deletes raw mail before its message, if the policy limits how long raw mail is kept.
      name: "raw-mail-retention",
      every: 10 * Timestamp.MINUTE,
      run: Effect.suspend(() => {
        const age = mailPolicy.rawRetention
        return age === null ? Effect.succeed(0) : inBatches((limit) => mails.removeRaw({ age, limit }), LARGE_ROWS)
      })
    },
    {
      // Deletes messages with everything that belongs to them, if the policy limits how long messages are kept.
      name: "message-retention",
      every: 10 * Timestamp.MINUTE,
      run: removeOlder("messages", () => mailPolicy.messageRetention)
    },
    {
      // Deletes ended calls with their turns, if the policy limits how long calls are kept.
      name: "call-retention",
      every: 10 * Timestamp.MINUTE,
      run: removeOlder("calls", () => callPolicy.retention)
    },
    {
      // Deletes the turns of ended calls before the calls, if the policy limits how long transcripts are kept.
      name: "transcript-retention",
      every: 10 * Timestamp.MINUTE,
      run: removeOlder("transcripts", () => callPolicy.transcriptRetention)
    },
    {
      // Deletes from final operations what only answers retries, if the policy limits how long it is kept. A retry then fails
      // with `AnswerExpired`.
      name: "answer-retention",
      every: 10 * Timestamp.MINUTE,
      run: removeOlder("answers", () => policy.answers)
    },
    {
      // Deletes the records of used sign-in messages which no server accepts anymore.
      name: "sign-in-retention",
      every: Timestamp.HOUR,
      run: inBatches((limit) => tenants.deleteSignIns(SIGN_IN_KEPT, limit))
    },
    {
      // Deletes attachments whose server stopped after staging them and before the claim.
      name: "staged-attachment-removal",
      every: 10 * Timestamp.MINUTE,
      run: inBatches((limit) => attachments.removeStaged({ age: STAGED_ATTACHMENT_AGE, limit }), LARGE_ROWS)
    },
    {
      // Makes messages searchable that an older server stored.
      name: "message-search",
      every: Timestamp.MINUTE,
      run: inBatches(messages.makeSearchable, LARGE_ROWS)
    },
    {
      // Adds messages to their threads that an older server stored.
      name: "message-threads",
      every: Timestamp.MINUTE,
      run: inBatches(messages.addToThreads, LARGE_ROWS)
    }
  ]
  return jobs
})
