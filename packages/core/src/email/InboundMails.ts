import { Context, Effect, Exit, Layer, Option, Queue, Stream } from "effect"
import * as Bytes from "../kernel/Bytes.ts"
import * as CallGroup from "../kernel/CallGroup.ts"
import * as ClientAddress from "../limits/ClientAddress.ts"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Trace from "../kernel/Trace.ts"
import { StoreUnavailable, Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { ByteBudget, TransitMemory } from "../limits/ByteBudget.ts"
import { HeldMails } from "./HeldMails.ts"
import {
  type CountedMail,
  type InboundEnvelope,
  type InboundMail,
  InboundMailStore,
  InboundRefused,
  MailParser,
  NO_MESSAGE_YET,
  type ParsedMail,
  type WaitingMail
} from "./InboundMail.ts"
import { type InboundSender, makeInboundAdmission, type RoomRefusal } from "./InboundAdmission.ts"
import { makeInboundDelivery } from "./InboundDelivery.ts"
import { makeRefusalCounts } from "./RefusalCounts.ts"
import type { ListenerRefusal } from "./RefusedMail.ts"
import { NetworkShares } from "./NetworkShares.ts"
import { MessageStore } from "./MessageStore.ts"

/**
 * Maximum number of mails that are parsed, or wait for a parser, for the check of their sender or for the transaction that
 * delivers them. Few of them need the processor at the same time: most that take long wait for the DNS.
 */
const CONCURRENCY = 64
/** Number of mails from one network that are in progress before its other mail waits, however many networks there are. */
const NETWORK_SHARE_MIN = 4
/** Size of the mails that one transaction accepts, in bytes. A mail counts at least as much as a small one. */
const GROUP_BYTES = 4 * 1024 * 1024
const SMALL_MAIL_BYTES = 64 * 1024
/** Size of the accepted mails that are kept in memory until they are parsed. Others are read from the store. */
const HELD_BYTES = 8 * 1024 * 1024
/** Maximum delay before mail that another server accepted, or whose delivery was interrupted, is found. */
const POLL_INTERVAL = "2 seconds"
/** Lease of a mail in milliseconds. Mail of a server that died waits for it and the poll interval. */
const LEASE = 15 * Timestamp.SECOND
/** Milliseconds before a mail whose delivery failed is retried. */
const RETRY_DELAY = Timestamp.MINUTE
/**
 * Milliseconds before mail to the return path of a message that is not stored yet is retried, by attempt. The attempt
 * after them must still read the mail.
 */
const RETURN_DELAYS = [5 * Timestamp.SECOND, 10 * Timestamp.MINUTE]
/**
 * The number of attempts after which a mail is delivered unparsed, as it may be the cause of their failures: at once if the last
 * ones ended without a failure, which a mail that ends the server does; otherwise if this attempt fails too, since the database,
 * for example, may have been repaired.
 */
const ATTEMPT_LIMIT = 3

const FAILURE_LIMIT = 300

/** Describes a defect. Errors of this service contain nothing of a mail; of others, only the name is known to. */
const describe = (defect: unknown): string => {
  if (!(defect instanceof Error)) return "an unknown failure"
  return "_tag" in defect ? defect.message.slice(0, FAILURE_LIMIT) : defect.name
}

/** Whether so many attempts failed that the mail may be the cause. */
const isSuspect = ({ attempts, replayedAfter }: WaitingMail): boolean => attempts - (replayedAfter ?? 0) > ATTEMPT_LIMIT

/** A mail to store, with a lease if this server has a slot for it, and the addresses of the mailboxes that it may reach. */
interface AcceptedMail {
  readonly mail: InboundMail
  readonly leaseMillis: number | undefined
  readonly addresses: ReadonlyArray<string>
}

/**
 * Inbound mail, from SMTP to the mailboxes.
 *
 * The raw mail is stored before its sender receives the acceptance. Parsing comes later, can fail and is retried.
 * Delivery is one transaction, in which each matching mailbox gets one message and one `email.received` event. A report
 * to the return path of an outbound message updates that message instead, without a message or event of its own. Other
 * mail to it, for example a vacation reply, is a message of the mailbox that sent the outbound message, in its thread.
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
    /** Counts a mail, to recipients that were admitted, which is refused before `accept`. */
    readonly refused: (addresses: ReadonlyArray<string>, refusal: ListenerRefusal) => Effect.Effect<void>
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
      const parser = yield* MailParser
      const store = yield* InboundMailStore
      const messages = yield* MessageStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const admission = yield* makeInboundAdmission
      const { findMailboxes, findReported, mailboxesOf, peekMailboxes } = admission
      const openDelivery = yield* makeInboundDelivery(admission)
      const countRefused = yield* makeRefusalCounts
      const memory = yield* TransitMemory
      const inProgress = new NetworkShares(CONCURRENCY, NETWORK_SHARE_MIN)
      /** Whether the last poll left out mail that may be due. */
      let hasHeldBack = false
      const held = new HeldMails(new ByteBudget(HELD_BYTES, memory))
      const arrived = yield* Queue.dropping<void>(1)
      const handOver = new PollingWorker.HandOver<WaitingMail>()

      /** Adds mails for the recipients that they have now, or returns why one has no room. */
      const addAll = Effect.fnUntraced(function* (mails: ReadonlyArray<AcceptedMail>) {
        const found = yield* findMailboxes(mails.flatMap(({ addresses }) => addresses))
        // Under the lock, so that concurrent mails do not all use the same remaining room.
        yield* tenants.lock([...new Set(found.map(({ tenantId }) => tenantId))])
        const decideRoom = yield* admission.readRoom(found)
        const results: Array<Exit.Exit<RoomRefusal | undefined>> = []
        const admitted: Array<CountedMail> = []
        for (const { addresses, leaseMillis, mail } of mails) {
          const recipients = mailboxesOf(found, addresses)
          const refusal = decideRoom(recipients, mail.raw.length)
          results.push(Exit.succeed(refusal))
          const mailboxIds = recipients.map(({ mailboxId }) => mailboxId)
          if (refusal === undefined) admitted.push({ mail, mailboxIds, leaseMillis })
        }
        if (admitted.length > 0) yield* store.add(admitted)
        return results
      })
      const add = yield* CallGroup.make<AcceptedMail, RoomRefusal | undefined, never>({
        limit: GROUP_BYTES,
        sizeOf: ({ mail: { raw } }) => Math.max(raw.length, SMALL_MAIL_BYTES),
        work: (mails) => transactor.transact(addAll(mails))
      })

      /** Returns a mail whole that is in memory or small, and another in pieces. */
      const rawOf = Effect.fnUntraced(function* ({ inboundMailId, sizeBytes }: WaitingMail) {
        const raw = held.take(inboundMailId)
        if (raw !== undefined) return raw
        const pieces = store.readPieces(inboundMailId)
        return sizeBytes <= SMALL_MAIL_BYTES ? Bytes.concat(...(yield* Stream.runCollect(pieces))) : pieces
      })

      const read = Effect.fnUntraced(function* (mail: WaitingMail) {
        if (mail.attempts - Math.max(mail.failedAttempt ?? 0, mail.replayedAfter ?? 0) > ATTEMPT_LIMIT)
          return Option.none<ParsedMail>()
        const parsed = yield* Effect.result(parser.parse(yield* rawOf(mail), mail.envelope))
        if (parsed._tag === "Success") return Option.some(parsed.success)
        yield* Effect.logWarning(`inbound mail ${mail.inboundMailId} can't be read: ${parsed.failure.message}`)
        return Option.none<ParsedMail>()
      })

      type Deliver = Effect.Success<typeof openDelivery>

      const deliverParsed = Effect.fnUntraced(function* (
        mail: WaitingMail,
        deliver: Deliver,
        parsed: Option.Option<ParsedMail>
      ) {
        const reported = findReported(mail.envelope.rcptTo)
        // A mail may arrive before its message is stored: the relay answers first. The message never changes tenant.
        const sent = yield* Effect.forEach(reported.keys(), messages.findSent)
        const delay = RETURN_DELAYS[mail.attempts - 1]
        if (sent.some(Option.isNone) && delay !== undefined) {
          return yield* Effect.asVoid(store.postpone(mail, delay, NO_MESSAGE_YET))
        }
        yield* deliver({ mail, parsed, reported, sent: sent.flatMap(Option.toArray) })
      })

      const readAndDeliver = (mail: WaitingMail, deliver: Deliver) => {
        const delivering = Effect.flatMap(read(mail), (parsed) => deliverParsed(mail, deliver, parsed))
        if (!isSuspect(mail)) return delivering
        return Effect.catchDefect(delivering, (defect) =>
          defect instanceof StoreUnavailable ? Effect.die(defect) : deliverParsed(mail, deliver, Option.none())
        )
      }

      /** A mail that can't be delivered now is retried after a delay, and does not delay other mails. */
      const deliverOrPostpone = (mail: WaitingMail, deliver: Deliver) =>
        readAndDeliver(mail, deliver).pipe(
          Trace.trace("deliver mail"),
          PollingWorker.whileLeased({ millis: LEASE, renew: store.renew(mail, LEASE) }),
          Effect.tapDefect((defect) => store.postpone(mail, RETRY_DELAY, describe(defect)))
        )

      /** Reserves a slot for a mail, unless older mail waits for one, or its network uses its share. */
      const reserve = ({ envelope }: InboundMail) => {
        if (hasHeldBack || !inProgress.admits(envelope)) return undefined
        const slot = handOver.reserve()
        if (slot !== undefined) inProgress.add(envelope)
        return slot
      }

      /**
       * Adds a mail, and begins to deliver it. Without a free slot, the mail has no lease, and the next poll finds it.
       * Returns why a recipient has no room.
       */
      const addAndDeliver = (mail: InboundMail, addresses: ReadonlyArray<string>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.suspend(() => {
            const slot = reserve(mail)
            const { raw, ...rest } = mail
            const leased = { ...rest, attempts: 1, sizeBytes: raw.length }
            const adding =
              slot === undefined
                ? add({ mail, addresses, leaseMillis: undefined })
                : add({ mail: { ...mail, attempts: 1 }, addresses, leaseMillis: LEASE })
            return Effect.onExit(restore(adding), (exit) => {
              const isAdded = Exit.isSuccess(exit) && exit.value === undefined
              if (isAdded) held.put(mail.inboundMailId, raw)
              if (slot === undefined) return isAdded ? Queue.offer(arrived, undefined) : Effect.void
              if (isAdded && slot.start(leased)) return Effect.void
              slot.cancel()
              inProgress.remove(mail.envelope)
              // Another server delivers it.
              return isAdded ? store.renew(leased, 0) : Effect.void
            })
          })
        )

      /** Counts a refusal in the mailboxes that it concerns. */
      const counting = (taken: Effect.Effect<void, InboundRefused>, addresses: ReadonlyArray<string>) =>
        Effect.tapError(taken, ({ localParts, refusal }) =>
          countRefused(localParts ?? admission.namedLocalParts(addresses), refusal)
        )

      return InboundMails.of({
        admit: Effect.fnUntraced(
          function* (address, from) {
            const found = yield* peekMailboxes([address])
            if (found.length === 0 && findReported([address]).size === 0 && !admission.isRole(address)) {
              return yield* new InboundRefused({ refusal: "mailbox unknown" })
            }
            yield* admission.requireSourceRate(from, "check")
            yield* admission.requireMailboxRate(found, "check")
            yield* admission.requireRoom(found)
          },
          (admitted, address) => counting(admitted, [address])
        ),
        accept: Effect.fnUntraced(
          function* (offered, raw, author) {
            yield* admission.requireSourceRate(offered, "take")
            const applied = yield* admission.applySenderPolicies(offered, raw, author)
            const { envelope, recipients: admitting, withheld } = applied
            yield* admission.requireMailboxRate(admitting, "take")
            const senders = yield* admission.requireReturnPaths(envelope, raw, author)
            const inboundMailId = yield* Uuid.next
            const network = ClientAddress.networkOf(envelope.remoteAddress)
            const mail = {
              inboundMailId,
              envelope: { ...envelope, network },
              raw,
              receivedAt: yield* Timestamp.now,
              attempts: 0
            }
            yield* store.stage(mail)
            const addresses = [...envelope.rcptTo, ...senders.map(({ address }) => address)]
            const refusal = yield* addAndDeliver(mail, addresses)
            if (refusal !== undefined) {
              yield* store.discard(inboundMailId)
              return yield* admission.refuse(...refusal)
            }
            yield* countRefused(withheld, "sender refused")
          },
          (accepted, { rcptTo }) => counting(accepted, rcptTo)
        ),
        refused: (addresses, refusal) =>
          Effect.suspend(() => countRefused(admission.namedLocalParts(addresses), refusal)),
        run: Effect.scoped(
          Effect.gen(function* () {
            const deliver = yield* openDelivery
            yield* Effect.acquireRelease(
              Effect.sync(() => held.open()),
              () => Effect.sync(() => held.close())
            )
            return yield* PollingWorker.run({
              name: "inbound mail",
              concurrency: CONCURRENCY,
              interval: POLL_INTERVAL,
              wake: Queue.take(arrived),
              handOver,
              take: (limit) =>
                Effect.suspend(() => {
                  const exhausted = inProgress.exhausted
                  const share = inProgress.limit(limit)
                  return Effect.map(store.lease(share, LEASE, exhausted), (mails) => {
                    hasHeldBack = (share < limit && mails.length === share) || exhausted.length > 0
                    for (const { envelope } of mails) inProgress.add(envelope)
                    return mails
                  })
                }),
              handle: (mail: WaitingMail) =>
                Effect.ensuring(
                  deliverOrPostpone(mail, deliver),
                  Effect.suspend(() => {
                    inProgress.remove(mail.envelope)
                    return hasHeldBack ? Queue.offer(arrived, undefined) : Effect.void
                  })
                ),
              failed: ({ inboundMailId }) =>
                Effect.logWarning(`another worker leased inbound mail ${inboundMailId}; it delivers the mail`)
            })
          })
        )
      })
    })
  )
}
