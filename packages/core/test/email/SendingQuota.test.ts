import {
  DEFAULT_MAIL_POLICY,
  MailPolicy,
  messageSending,
  MessageStore,
  ProviderError,
  type SendingPolicy,
  SendingQuota,
  type SendMessageInput,
  type SendingRecord,
  type Tenant,
  Timestamp
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { ADA, adasMailbox, failureOf, pay, order, scenario } from "../support/Purchase.ts"

const policy: SendingPolicy = {
  recipientsPerDayAtFirst: 4,
  recipientsPerDay: 10,
  bounces: { count: 2, rate: 0.5 },
  complaints: { count: 1, rate: 0.1 },
  pause: Timestamp.DAY
}

const limited = Layer.succeed(MailPolicy, { ...DEFAULT_MAIL_POLICY, sending: policy })

let nonces = 0

/**
 * Requests a send to these recipients, and returns the paid attempt. Fails if the request is refused before payment.
 */
const write = Effect.fnUntraced(function* (
  { mailboxId, tenant }: { readonly mailboxId: string; readonly tenant: Tenant },
  to: ReadonlyArray<string>,
  more: Partial<SendMessageInput> = {}
) {
  const nonce = (++nonces).toString(16).padStart(4, "0")
  const attempt = (signature: string | null) =>
    order(
      messageSending,
      { tenant, signature, key: `k${nonce}`, body: nonce },
      { mailboxId, to, subject: "Hello", text: "Hi", ...more }
    )
  const unpaid = yield* Effect.catch(failureOf(attempt(null)), Effect.die)
  if (unpaid._tag !== "PaymentRequired") return yield* unpaid
  return attempt(pay(unpaid.challenge, ADA, nonce))
})

/** The error that refuses a send to these recipients before payment. */
const refusalOf = (...given: Parameters<typeof write>) =>
  Effect.flatMap(Effect.result(write(...given)), (result) =>
    result._tag === "Failure" ? Effect.succeed(result.failure) : Effect.die(new Error("a challenge was made"))
  )

const friends = (count: number, first = 0) => Array.from({ length: count }, (_, n) => `f${first + n}@example.com`)

describe("the daily limit of recipients", () => {
  scenario(
    "refuses before payment at the limit of a new tenant, and doubles the next day",
    () =>
      Effect.gen(function* () {
        const mailbox = yield* adasMailbox
        yield* yield* write(mailbox, friends(3))
        const refused = yield* refusalOf(mailbox, friends(2))
        assert.deepInclude(refused, {
          _tag: "QuotaExceeded",
          quota: "mail_recipients_per_day",
          retryAfterSeconds: 86_400
        })
        assert.strictEqual(
          refused.message,
          "The message has 2 recipients, but 1 of your 4 a day are left. Send to fewer, or after 1970-01-02T00:00:00.000Z. The limit grows with use."
        )
        yield* yield* write(mailbox, friends(1))
        assert.strictEqual((yield* refusalOf(mailbox, friends(1)))._tag, "QuotaExceeded")
        yield* TestClock.adjust("1 day")
        yield* yield* write(mailbox, friends(8))
        yield* TestClock.adjust("1 day")
        // No wait makes room for more than the limit of a day.
        assert.strictEqual((yield* refusalOf(mailbox, friends(11)))._tag, "Conflict")
        yield* yield* write(mailbox, friends(10))
      }),
    limited
  )

  scenario(
    "counts an address in to, cc and bcc once, and every other address",
    () =>
      Effect.gen(function* () {
        const mailbox = yield* adasMailbox
        const copies = { cc: ["F0@EXAMPLE.com", "f1@example.com"], bcc: ["f1@Example.com", "f2@example.com"] }
        yield* yield* write(mailbox, ["f0@example.com", "f0@example.com"], copies)
        const refused = yield* refusalOf(mailbox, ["f0+a@example.com"], { bcc: ["f0+b@example.com"] })
        assert.include(refused.message, "The message has 2 recipients, but 1 of your")
      }),
    limited
  )

  scenario(
    "is not exceeded by sends that are paid concurrently",
    (host) =>
      Effect.gen(function* () {
        const mailbox = yield* adasMailbox
        const attempts = yield* Effect.forEach(friends(9), (friend) => write(mailbox, [friend]))
        const outcomes = yield* Effect.forEach(attempts, (attempt) => Effect.result(attempt), {
          concurrency: "unbounded"
        })
        assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 4)
        assert.lengthOf(host.sent, 4)
        // The mailbox and four sends; the other sends were not charged.
        assert.strictEqual(host.payments.transfers.get(ADA), 5)
      }),
    limited
  )
})

describe("sending", () => {
  const unknown = (address: string) => ({ address, reason: "550 5.1.1 no such user" })
  const rejecting = (...addresses: ReadonlyArray<string>) =>
    new ProviderError({ provider: "scripted", reason: "Rejected", message: "no", refused: addresses.map(unknown) })

  scenario(
    "pauses after bounces, reports the reason and the end, and then starts again as for a new tenant",
    (host) =>
      Effect.gen(function* () {
        const mailbox = yield* adasMailbox
        yield* yield* write(mailbox, friends(2))
        yield* TestClock.adjust("1 day")
        host.sendScript.push(rejecting("a@x.test"), rejecting("b@y.test"))
        yield* failureOf(yield* write(mailbox, ["a@x.test"]))
        const lines: Array<unknown> = []
        const logger = Logger.make(({ message }) => lines.push(message))
        yield* Effect.provide(failureOf(yield* write(mailbox, ["b@y.test"])), Logger.layer([logger]))
        assert.deepStrictEqual(lines, [["Sending is paused until 1970-01-03T00:00:00.000Z: too many bounced"]])
        const paused = yield* refusalOf(mailbox, friends(1))
        assert.deepInclude(paused, { _tag: "QuotaExceeded", quota: "mail_sending_paused", retryAfterSeconds: 86_400 })
        assert.strictEqual(
          paused.message,
          "Sending is paused until 1970-01-03T00:00:00.000Z: too many recipients do not exist. Remove them from your list, then send again."
        )
        yield* TestClock.adjust("23 hours")
        yield* refusalOf(mailbox, friends(1))
        yield* TestClock.adjust("1 hour")
        assert.include((yield* refusalOf(mailbox, friends(5))).message, "your limit is 4 a day")
        yield* yield* write(mailbox, friends(4))
      }),
    limited
  )

  scenario(
    "counts a bounce once, however often the relay repeats it",
    (host) =>
      Effect.gen(function* () {
        const mailbox = yield* adasMailbox
        const attempt = yield* write(mailbox, ["a@x.test", "b@x.test"])
        const { refused = [] } = rejecting("a@x.test")
        const temporary = new ProviderError({ provider: "scripted", reason: "Temporary", message: "later", refused })
        host.sendScript.push(temporary, temporary, temporary)
        for (const _ of [1, 2]) yield* failureOf(attempt)
        const messages = yield* MessageStore
        const { tenantId } = mailbox.tenant
        assert.deepInclude(yield* messages.findSending(tenantId), { recipients: 2, pause: null })
        const feedback = { tenantId, reason: "bounced", reporters: [], messageId: mailbox.mailboxId } as const
        const counted = yield* messages.addFeedback({ ...feedback, at: yield* Timestamp.now }, Timestamp.DAY)
        assert.deepStrictEqual(counted, { reporters: 1, messages: 1 })
      }),
    limited
  )
})

describe("SendingQuota", () => {
  const at = (day: number) => Timestamp.Timestamp.make(day * Timestamp.DAY)
  const record = (parts: Partial<SendingRecord>): SendingRecord => ({
    day: 100,
    recipients: 0,
    recipientsBefore: 0,
    level: 0,
    pause: null,
    ...parts
  })

  it("doubles the limit only after a day of use, by one step however long the tenant was inactive", () => {
    for (const [recipients, level, next] of [
      [0, 0, 0],
      [1, 0, 0],
      [2, 0, 1],
      [3, 1, 1],
      [4, 1, 2],
      [10, 2, 2]
    ] as const) {
      assert.strictEqual(SendingQuota.today(policy, record({ recipients, level }), at(101)).level, next)
      assert.strictEqual(SendingQuota.today(policy, record({ recipients, level }), at(500)).level, next)
    }
  })

  it("does not start a new day when the clock is set back", () => {
    const used = record({ recipients: 4 })
    assert.deepStrictEqual(SendingQuota.today(policy, used, at(99)), used)
  })

  it("keeps the recipients of the day before, and of no earlier day", () => {
    const used = record({ recipients: 7 })
    assert.strictEqual(SendingQuota.today(policy, used, at(101)).recipientsBefore, 7)
    assert.strictEqual(SendingQuota.today(policy, used, at(102)).recipientsBefore, 0)
  })

  it("pauses if both count and share of two days are reached, for bounces and for complaints", () => {
    const paused = (parts: Partial<SendingRecord>, reason: SendingQuota.PauseReason, reporters: number, messages = 9) =>
      SendingQuota.withFeedback(policy, record({ level: 2, ...parts }), reason, { reporters, messages }, at(100)).pause
        ?.reason
    assert.isUndefined(paused({ recipients: 2 }, "bounced", 1))
    assert.isUndefined(paused({ recipients: 5 }, "bounced", 2))
    assert.isUndefined(paused({ recipients: 1, recipientsBefore: 4 }, "bounced", 2))
    assert.strictEqual(paused({ recipients: 4 }, "bounced", 2, 1), "bounced")
    assert.strictEqual(paused({ recipients: 10 }, "complained", 1), "complained")
    assert.isUndefined(paused({ recipients: 11 }, "complained", 1))
    assert.isUndefined(paused({ recipients: 11 }, "complained", 2, 1), "one message")
  })
})
