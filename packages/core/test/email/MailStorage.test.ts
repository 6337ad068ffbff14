import {
  DEFAULT_MAIL_POLICY,
  InboundMails,
  InboundMailStore,
  JobRunner,
  Mailboxes,
  mailboxDeletion,
  MailboxStore,
  MailPolicy,
  type Tenant,
  TenantAdministration,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ADA, adasMailbox, create, deliverMail, failureOf, pay, order, scenario, send } from "../support/Purchase.ts"

const FRIEND = { mailFrom: "friend@else.test", remoteAddress: "192.0.2.1" }
const AUTHOR = FRIEND.mailFrom
const raw = (sizeBytes: number) => new Uint8Array(sizeBytes).fill(120)
const to = (...rcptTo: ReadonlyArray<string>) => ({
  ...FRIEND,
  rcptTo,
  helo: "else.test",
  secure: false
})

/** The services with the given policy. */
const limited = (policy: Partial<typeof DEFAULT_MAIL_POLICY>) =>
  Layer.fresh(InboundMails.layer).pipe(
    Layer.provideMerge(Layer.succeed(MailPolicy, { ...DEFAULT_MAIL_POLICY, ...policy }))
  )

const few = limited({ mailboxLimit: { messages: 3, bytes: 1_000 } })

const refusal = <A, R>(effect: Effect.Effect<A, { readonly _tag: string; readonly refusal?: string }, R>) =>
  Effect.map(failureOf(effect), (error) => error.refusal)

const countOf = Effect.fnUntraced(function* (tenant: Tenant) {
  return (yield* (yield* Mailboxes).listMessages(tenant, {}, { limit: 100 })).items.length
})

describe("a full mailbox", () => {
  scenario("refuses mail at RCPT and DATA, also with a plus-tag, until it is deleted and created again", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      for (const address of ["ada@agents.test", "ADA+a@agents.test", "ada+b@agents.test"]) {
        yield* inbound.admit(address, FRIEND)
        yield* inbound.accept(to(address), raw(10), AUTHOR)
      }
      for (const address of ["ada@agents.test", "ada+c@agents.test", "Ada@Agents.test"]) {
        assert.strictEqual(yield* refusal(inbound.admit(address, FRIEND)), "mailbox full")
        assert.strictEqual(yield* refusal(inbound.accept(to(address), raw(10), AUTHOR)), "mailbox full")
      }
      yield* deliverMail(inbound)
      assert.strictEqual(yield* countOf(tenant), 3)
      assert.strictEqual(yield* refusal(inbound.admit("ada@agents.test", FRIEND)), "mailbox full")
      const remove = (signature: string | null) =>
        order(mailboxDeletion, { tenant, signature, key: "d" }, { mailboxId })
      const unpaid = yield* failureOf(remove(null))
      yield* remove(pay(unpaid._tag === "PaymentRequired" ? unpaid.challenge : "", ADA, "0d"))
      assert.strictEqual(yield* refusal(inbound.admit("ada@agents.test", FRIEND)), "mailbox unknown")
      const again = yield* failureOf(create({ localPart: "ada" }, { tenant, key: "e" }))
      const signature = pay(again._tag === "PaymentRequired" ? again.challenge : "", ADA, "0e")
      yield* create({ localPart: "ada" }, { tenant, signature, key: "e" })
      yield* inbound.admit("ada@agents.test", FRIEND)
    }).pipe(Effect.provide(few))
  )

  scenario("accepts only as many concurrent mails as it has room for", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => Effect.result(inbound.accept(to(`ada+${n}@agents.test`), raw(n + 1), AUTHOR)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 3)
      yield* deliverMail(inbound)
      assert.strictEqual(yield* countOf(tenant), 3)
    }).pipe(Effect.provide(few))
  )

  scenario("exceeds its bytes by its last message at most, and counts one mail to several of its addresses once", () =>
    Effect.gen(function* () {
      yield* adasMailbox
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test", "ada+x@agents.test", "ada+y@agents.test"), raw(999), AUTHOR)
      yield* inbound.accept(to("ada@agents.test"), raw(5_000), AUTHOR)
      assert.strictEqual(yield* refusal(inbound.accept(to("ada@agents.test"), raw(1), AUTHOR)), "mailbox full")
    }).pipe(Effect.provide(few))
  )

  scenario("refuses to send before payment", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      assert.strictEqual((yield* failureOf(send(tenant, mailboxId, {})))._tag, "PaymentRequired")
      yield* inbound.accept(to("ada@agents.test"), raw(1_000), AUTHOR)
      const error = yield* failureOf(send(tenant, mailboxId, {}))
      assert.strictEqual(error._tag, "Conflict")
      assert.include(error.message, "The mailbox is full")
    }).pipe(Effect.provide(few))
  )
})

describe("a tenant whose mailboxes are full in total", () => {
  scenario("can't receive mail in any of them, or send", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const unpaid = yield* failureOf(create({ localPart: "eve" }, { tenant, key: "k" }))
      const signature = pay(unpaid._tag === "PaymentRequired" ? unpaid.challenge : "", ADA, "0f")
      yield* create({ localPart: "eve" }, { tenant, signature, key: "k" })
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test", "eve@agents.test"), raw(1), AUTHOR)
      for (const name of ["ada", "eve"]) {
        assert.strictEqual(yield* refusal(inbound.admit(`${name}@agents.test`, FRIEND)), "mailbox full")
      }
      const error = yield* failureOf(send(tenant, mailboxId, {}))
      assert.include(error.message, "Your mailboxes have reached their total storage quota")
    }).pipe(Effect.provide(limited({ tenantLimit: { messages: 2, bytes: 1_000 } })))
  )
})

describe("a mailbox of a suspended tenant", () => {
  scenario("refuses mail, but delivers the mail that was accepted before", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test"), raw(1), AUTHOR)
      const { resume, suspend } = yield* TenantAdministration
      yield* suspend(tenant.tenantId, "spam")
      assert.strictEqual(yield* refusal(inbound.admit("ada@agents.test", FRIEND)), "tenant suspended")
      assert.strictEqual(yield* refusal(inbound.accept(to("ada@agents.test"), raw(1), AUTHOR)), "tenant suspended")
      yield* deliverMail(inbound)
      assert.strictEqual(yield* countOf(tenant), 1)
      yield* resume(tenant.tenantId)
      yield* inbound.admit("ada@agents.test", FRIEND)
    })
  )
})

describe("raw mail", () => {
  const runJob = Effect.flatMap(JobRunner, ({ runNow }) => runNow("raw-mail-retention"))

  scenario(
    "is deleted before its message if the operator limits how long it is kept",
    () =>
      Effect.gen(function* () {
        const { tenant } = yield* adasMailbox
        const inbound = yield* InboundMails
        const mails = yield* InboundMailStore
        yield* inbound.accept(to("ada@agents.test"), raw(100), AUTHOR)
        yield* deliverMail(inbound)
        const { items } = yield* (yield* Mailboxes).listMessages(tenant, {}, {})
        const messageId = items[0]?.messageId ?? ""
        yield* TestClock.adjust("23 hours")
        assert.strictEqual(yield* runJob, 0)
        assert.strictEqual((yield* mails.findRaw(tenant.tenantId, messageId))?.sizeBytes, 100)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* runJob, 1)
        assert.isUndefined(yield* mails.findRaw(tenant.tenantId, messageId))
        assert.deepStrictEqual((yield* (yield* Mailboxes).listMessages(tenant, {}, {})).items, items)
      }),
    Layer.succeed(MailPolicy, { ...DEFAULT_MAIL_POLICY, rawRetention: Timestamp.DAY })
  )

  scenario("is kept as long as its message by default", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test"), raw(100), AUTHOR)
      yield* deliverMail(inbound)
      yield* TestClock.adjust("3650 days")
      assert.strictEqual(yield* runJob, 0)
      const { items } = yield* (yield* Mailboxes).listMessages(tenant, {}, {})
      const { findRaw } = yield* InboundMailStore
      assert.strictEqual((yield* findRaw(tenant.tenantId, items[0]?.messageId ?? ""))?.sizeBytes, 100)
    })
  )
})

describe("a message", () => {
  const runJob = Effect.flatMap(JobRunner, ({ runNow }) => runNow("message-retention"))

  scenario(
    "is deleted with its raw mail after the time that the operator sets, and no longer counts",
    () =>
      Effect.gen(function* () {
        const { mailboxId, tenant } = yield* adasMailbox
        const inbound = yield* InboundMails
        const { findStandings } = yield* MailboxStore
        yield* inbound.accept(to("ada@agents.test"), raw(100), AUTHOR)
        yield* deliverMail(inbound)
        yield* TestClock.adjust("23 hours")
        yield* inbound.accept(to("ada@agents.test"), raw(200), AUTHOR)
        yield* deliverMail(inbound)
        assert.strictEqual(yield* runJob, 0)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* runJob, 1)
        assert.strictEqual(yield* countOf(tenant), 1)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* runJob, 1)
        assert.deepStrictEqual((yield* findStandings([mailboxId])).get(mailboxId)?.usage, { messages: 0, bytes: 0 })
      }),
    Layer.succeed(MailPolicy, { ...DEFAULT_MAIL_POLICY, messageRetention: Timestamp.DAY })
  )

  scenario("is kept as long as its mailbox by default", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test"), raw(100), AUTHOR)
      yield* deliverMail(inbound)
      yield* TestClock.adjust("3650 days")
      assert.strictEqual(yield* runJob, 0)
      assert.strictEqual(yield* countOf(tenant), 1)
    })
  )
})
