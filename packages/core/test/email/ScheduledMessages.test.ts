import {
  mailboxDeletion,
  type Message,
  type MessageRecord,
  type OperationFailureKind,
  MessageRetries,
  MessageRetryStore,
  messageSending,
  MessageStore,
  OperationCompletion,
  OperationStore,
  ProviderError,
  ScheduledMessages,
  type SendMessageInput,
  type Tenant,
  TenantAdministration,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  balances,
  eventsOf,
  failureOf,
  type Host,
  type Offer,
  order,
  pay,
  returnDebts,
  scenario,
  underClock
} from "../support/Purchase.ts"

const [FRIEND, OTHER] = ["friend@example.com", "other@example.com"] as const
const PAID = { mailbox: 250_000n, message: 20_000n }
const KEPT = { received: -270_000n, fulfilled: 270_000n }
const REFUNDED = { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n }

/** Signs the payment of an order. Returns what buys it. */
const signed = <A, E extends { readonly _tag: string }, R>(
  buy: (offer: Offer) => Effect.Effect<A, E, R>,
  nonce: string
) =>
  Effect.map(Effect.flip(buy({ key: nonce })), (error) => {
    const challenge = "challenge" in error && typeof error.challenge === "string" ? error.challenge : ""
    return buy({ key: nonce, signature: pay(challenge, ADA, nonce) })
  })

/** Buys what an order offers. */
const bought = <A, E extends { readonly _tag: string }, R>(
  buy: (offer: Offer) => Effect.Effect<A, E, R>,
  nonce: string
) => Effect.flatten(signed(buy, nonce))

const messageIn = (answer: { readonly body: Redacted.Redacted<string> }) =>
  (JSON.parse(Redacted.value(answer.body)) as { data: { message: MessageRecord; operationId: string } }).data

/** A message of Ada that she has paid for, due in an hour. */
const scheduled = Effect.fnUntraced(function* (given: Partial<SendMessageInput> = {}) {
  const { mailboxId, tenant } = yield* adasMailbox
  const sendAt = Timestamp.add(yield* Timestamp.now, Timestamp.HOUR)
  const input = { mailboxId, to: [FRIEND], subject: "Hello", text: "Hi", sendAt, ...given }
  const buy = (offer: Offer) => order(messageSending, { ...offer, tenant }, input)
  const answer = yield* bought(buy, "02")
  const { message, operationId } = messageIn(answer)
  const found = Effect.map(
    Effect.flatMap(MessageStore, (store) => store.find(tenant.tenantId, message.messageId)),
    (stored) => (stored._tag === "Owned" ? stored.value : undefined)
  )
  const operation = Effect.map(
    Effect.flatMap(OperationStore, (store) => store.find(operationId)),
    Option.getOrThrow
  )
  return { answer, buy, found, mailboxId, message, operation, sendAt, tenant }
})

const cancel = (tenant: Tenant, messageId: string) =>
  Effect.flatMap(ScheduledMessages, (service) => service.cancel(tenant, messageId))

/** Runs the worker for `minutes`. */
const work = Effect.fnUntraced(function* (minutes: number) {
  const running = yield* Effect.forkChild((yield* MessageRetries).run)
  yield* TestClock.adjust(`${minutes} minutes`)
  yield* Fiber.interrupt(running)
})

/** Runs the completion job for `seconds`. */
const complete = Effect.fnUntraced(function* (seconds: number) {
  const running = yield* Effect.forkChild(OperationCompletion.run)
  yield* TestClock.adjust(`${seconds} seconds`)
  yield* Fiber.interrupt(running)
})

const statusesOf = (message: Pick<Message, "recipients"> | undefined) => message?.recipients.map(({ status }) => status)

describe("a scheduled message", () => {
  scenario("is paid for and stored, and sent once when it is due", (host) =>
    Effect.gen(function* () {
      const { answer, found, message, operation, sendAt } = yield* scheduled()
      assert.include(message, { status: "scheduled", sendAt: Timestamp.toIso(sendAt) })
      assert.deepStrictEqual(statusesOf(message), ["scheduled"])
      assert.notProperty(messageIn(answer).message, "operationId")
      yield* TestClock.adjust("58 minutes")
      yield* work(1)
      assert.lengthOf(host.sent, 0)
      yield* work(2)
      assert.deepStrictEqual(
        host.sent.map(({ date, messageIdHeader, recipients }) => ({ date, messageIdHeader, recipients })),
        [{ date: sendAt, messageIdHeader: message.messageIdHeader ?? "", recipients: [FRIEND] }]
      )
      assert.strictEqual((yield* found)?.status, "sent")
      yield* TestClock.adjust("2 days")
      yield* work(1)
      assert.lengthOf(host.sent, 1)
      assert.deepStrictEqual(yield* balances, KEPT)
      assert.strictEqual((yield* operation).state, "fulfilled")
    })
  )

  scenario("is retried for a day from when it is due", (host) =>
    Effect.gen(function* () {
      const { found } = yield* scheduled({ sendAt: Timestamp.add(yield* Timestamp.now, 29 * Timestamp.DAY) })
      host.sendScript.push("Temporary", "Unknown")
      yield* TestClock.adjust("695 hours")
      yield* work(61)
      assert.strictEqual((yield* found)?.status, "sent")
    })
  )

  scenario("can be due at most 30 days ahead, in the future", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const refusal = (millis: number) =>
        Effect.gen(function* () {
          const sendAt = Timestamp.add(yield* Timestamp.now, millis)
          const input = { mailboxId, to: [FRIEND], subject: "Hello", text: "Hi", sendAt }
          return (yield* failureOf(order(messageSending, { tenant }, input)))._tag
        })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* refusal(0), "InvalidRequest")
      assert.strictEqual(yield* refusal(-Timestamp.HOUR), "InvalidRequest")
      assert.strictEqual(yield* refusal(1), "PaymentRequired")
      assert.strictEqual(yield* refusal(30 * Timestamp.DAY), "PaymentRequired")
      assert.strictEqual(yield* refusal(30 * Timestamp.DAY + 1), "InvalidRequest")
    })
  )

  scenario("is refused, and not charged, beside 100 others", () =>
    Effect.gen(function* () {
      const { buy, tenant, sendAt } = yield* scheduled()
      const store = yield* MessageRetryStore
      for (let at = 1; at < 100; at++) {
        const id = `01900000-0000-7000-8000-${at.toString().padStart(12, "0")}`
        yield* store.schedule(id, tenant.tenantId, Timestamp.DAY, { sendAt })
      }
      assert.include(yield* failureOf(buy({ key: "03" })), { _tag: "Conflict" })
      assert.isTrue(yield* store.withdraw("01900000-0000-7000-8000-000000000007"))
      assert.include(yield* failureOf(buy({ key: "03" })), { _tag: "PaymentRequired" })
    })
  )
})

describe("scheduled messages that are paid for at the same time", () => {
  scenario("are at most 100, and the others are refunded", (host) =>
    Effect.gen(function* () {
      const { buy, tenant, sendAt } = yield* scheduled()
      const store = yield* MessageRetryStore
      for (let at = 2; at < 100; at++) {
        const id = `01900000-0000-7000-8000-${at.toString().padStart(12, "0")}`
        yield* store.schedule(id, tenant.tenantId, Timestamp.DAY, { sendAt })
      }
      // All are claimed before one is settled.
      host.payments.script.push("fail before", "fail before", "fail before")
      for (const key of ["03", "04", "05"])
        assert.include(yield* failureOf(underClock(bought(buy, key))), { _tag: "PaymentPending" })
      yield* complete(60)
      assert.lengthOf(yield* store.listScheduled(tenant.tenantId, 1_000), 100)
      assert.deepInclude(yield* balances, {
        fulfilled: PAID.mailbox + 2n * PAID.message,
        refunded: 2n * PAID.message
      })
    })
  )
})

describe("a canceled message", () => {
  scenario("is never sent, and refunded once, however often it is canceled", (host) =>
    Effect.gen(function* () {
      const { answer, found, message, operation, tenant } = yield* scheduled()
      const canceled = yield* Effect.all([cancel(tenant, message.messageId), cancel(tenant, message.messageId)], {
        concurrency: 2
      })
      assert.deepStrictEqual(
        canceled.map(({ status }) => status),
        ["canceled", "canceled"]
      )
      assert.deepStrictEqual(statusesOf(yield* found), ["canceled"])
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: PAID.mailbox, refundDue: PAID.message })
      yield* returnDebts
      assert.strictEqual((yield* cancel(tenant, message.messageId)).status, "canceled")
      yield* returnDebts
      assert.deepStrictEqual(yield* balances, REFUNDED)
      assert.strictEqual(host.payments.log.filter(({ direction }) => direction === "refunded").length, 1)
      assert.include(yield* operation, { state: "refunded", receipt: answer.receipt })
      assert.include((yield* operation).failure, { kind: "canceled" })
      yield* TestClock.adjust("2 hours")
      yield* work(1)
      assert.lengthOf(host.sent, 0)
      assert.strictEqual((yield* found)?.status, "canceled")
      const types = (yield* eventsOf(tenant)).map(({ type }) => type)
      assert.deepStrictEqual(types, ["payment.completed", "payment.completed", "payment.refunded"])
    })
  )

  scenario("answers a retry of its purchase with the same bytes", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const sendAt = Timestamp.add(yield* Timestamp.now, Timestamp.HOUR)
      const input = { mailboxId, to: [FRIEND], subject: "Hello", text: "Hi", sendAt }
      const buy = (offer: Offer) => order(messageSending, { ...offer, tenant }, input)
      const error = yield* Effect.flip(buy({}))
      const signature = pay(error._tag === "PaymentRequired" ? error.challenge : "", ADA, "02")
      const first = yield* buy({ key: "02", signature })
      yield* cancel(tenant, messageIn(first).message.messageId)
      for (const _ of [1, 2]) {
        const again = yield* buy({ key: "02", signature })
        assert.strictEqual(Redacted.value(again.body), Redacted.value(first.body))
        assert.strictEqual(again.receipt, first.receipt)
        yield* returnDebts
      }
      assert.deepStrictEqual(yield* balances, REFUNDED)
    })
  )

  scenario("must not be in the hands of a worker, sent before, or sent at once", (host) =>
    Effect.gen(function* () {
      const { found, message, tenant } = yield* scheduled()
      host.relay.closeUnsafe()
      yield* TestClock.adjust("59 minutes")
      const running = yield* Effect.forkChild((yield* MessageRetries).run)
      yield* TestClock.adjust("2 minutes")
      const refusal = yield* failureOf(cancel(tenant, message.messageId))
      assert.include(refusal, { _tag: "Conflict" })
      assert.include((refusal as { message: string }).message, "it is being sent")
      assert.deepStrictEqual(yield* balances, KEPT)
      host.relay.openUnsafe()
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(running)
      assert.strictEqual((yield* found)?.status, "sent")
      assert.include(yield* failureOf(cancel(tenant, message.messageId)), { _tag: "Conflict" })
      assert.deepStrictEqual(yield* balances, KEPT)
      assert.lengthOf(host.sent, 1)
    })
  )

  scenario("belongs to the tenant that cancels it", () =>
    Effect.gen(function* () {
      const { message, tenant } = yield* scheduled()
      const stranger = { ...tenant, tenantId: "01900000-0000-7000-8000-0000000000ee" as typeof tenant.tenantId }
      assert.include(yield* failureOf(cancel(stranger, message.messageId)), { _tag: "ResourceNotOwned" })
      assert.include(yield* failureOf(cancel(tenant, stranger.tenantId)), { _tag: "ResourceNotFound" })
      assert.deepStrictEqual(yield* balances, KEPT)
    })
  )
})

/** Prevents the sending of a message. */
type Obstacle = (
  host: Host,
  message: { readonly tenant: Tenant; readonly mailboxId: string }
) => Effect.Effect<unknown, unknown, MessageStore | TenantAdministration>

const refusedBy = (refused: ReadonlyArray<{ readonly address: string; readonly reason: string }>) =>
  new ProviderError({ provider: "scripted", reason: "Rejected", message: "554 no", refused })

const OBSTACLES: Readonly<Record<string, readonly [kind: OperationFailureKind, Obstacle]>> = {
  "its tenant is suspended": [
    "gone",
    (_, { tenant }) =>
      Effect.flatMap(TenantAdministration, (administration) => administration.suspend(tenant.wallet, "spam"))
  ],
  "sending is paused": [
    "canceled",
    Effect.fnUntraced(function* (_, { tenant }) {
      const store = yield* MessageStore
      const record = (yield* store.findSending(tenant.tenantId))!
      const until = Timestamp.add(yield* Timestamp.now, Timestamp.DAY)
      yield* store.putSending(tenant.tenantId, { ...record, pause: { until, reason: "bounced" } })
    })
  ],
  "all its recipients are suppressed": [
    "canceled",
    (_, { tenant }) =>
      Effect.flatMap(MessageStore, (store) => store.suppress(tenant.tenantId, [FRIEND, OTHER], "complained"))
  ],
  "the relay refuses it": ["rejected", ({ sendScript }) => Effect.sync(() => sendScript.push(refusedBy([])))],
  "the relay is down for a day": [
    "late",
    ({ sendScript }) => Effect.sync(() => sendScript.push(...Array.from({ length: 100 }, () => "Temporary" as const)))
  ]
}

describe("a scheduled message that is not sent", () => {
  for (const [name, [kind, prevent]] of Object.entries(OBSTACLES)) {
    scenario(`is refunded if ${name}`, (host) =>
      Effect.gen(function* () {
        const { found, mailboxId, operation, tenant } = yield* scheduled({ to: [FRIEND, OTHER] })
        yield* prevent(host, { tenant, mailboxId })
        yield* TestClock.adjust("1 hour")
        for (let hour = 0; hour < 25; hour++) {
          yield* TestClock.adjust("55 minutes")
          yield* work(5)
        }
        assert.lengthOf(host.sent, 0)
        assert.deepStrictEqual(statusesOf(yield* found), ["failed", "failed"])
        yield* returnDebts
        assert.deepStrictEqual(yield* balances, REFUNDED)
        assert.include((yield* operation).failure, { kind })
      })
    )
  }

  scenario("is refunded if its mailbox is deleted", (host) =>
    Effect.gen(function* () {
      const { found, mailboxId, operation, tenant } = yield* scheduled()
      yield* bought((offer) => order(mailboxDeletion, { ...offer, tenant }, { mailboxId }), "03")
      assert.isUndefined(yield* found)
      yield* TestClock.adjust("1 hour")
      yield* work(1)
      yield* returnDebts
      assert.lengthOf(host.sent, 0)
      assert.include(yield* operation, { state: "refunded" })
      assert.deepStrictEqual(yield* balances, { received: -280_000n, fulfilled: 260_000n, refunded: 20_000n })
    })
  )

  scenario("is kept and paid for if the relay accepted it for one of its recipients", (host) =>
    Effect.gen(function* () {
      const { found, operation, tenant } = yield* scheduled({ to: [FRIEND, OTHER] })
      yield* (yield* MessageStore).suppress(tenant.tenantId, [FRIEND], "bounced")
      yield* TestClock.adjust("1 hour")
      yield* work(1)
      assert.lengthOf(host.sent, 1)
      assert.deepStrictEqual(statusesOf(yield* found), ["failed", "sent"])
      assert.include(yield* operation, { state: "fulfilled" })
    })
  )
})

describe("a server that dies while it sends a scheduled message", () => {
  scenario("leaves it to another, which sends it under the same Message-ID and records it once", (host) =>
    Effect.gen(function* () {
      const { found, message } = yield* scheduled()
      host.relay.closeUnsafe()
      yield* TestClock.adjust("1 hour")
      yield* work(1)
      assert.strictEqual((yield* found)?.status, "scheduled")
      host.relay.openUnsafe()
      yield* work(2)
      assert.strictEqual((yield* found)?.status, "sent")
      assert.isAtLeast(host.sent.length, 1)
      assert.deepStrictEqual([...new Set(host.sent.map((mail) => mail.messageIdHeader))], [message.messageIdHeader])
      assert.deepStrictEqual(yield* balances, KEPT)
    })
  )
})
