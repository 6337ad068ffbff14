import {
  EmailProvider,
  type Message,
  MessageRetries,
  messageSending,
  MessageStore,
  MailboxStore,
  type OutgoingMail,
  ProviderError,
  type SendReceipt,
  statusOf,
  type Tenant,
  TenantAdministration,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, scenario } from "../support/Purchase.ts"

const [OPEN, BUSY, GONE] = ["open@a.test", "busy@b.test", "gone@c.test"] as const
const LATER = "450 4.7.1 try again later"
const UNKNOWN = "550 5.1.1 no such user"

/** The answer of the relay to one mail; by default it accepts every recipient. */
type Answer = Readonly<Record<string, string>> | ProviderError

/**
 * A message of Ada to `to`, which the relay answers with the first of `answers`; the others answer the retries. The
 * relay waits for `proceed` before each answer.
 */
const sending = Effect.fnUntraced(function* (to: ReadonlyArray<string>, answers: ReadonlyArray<Answer>) {
  const { mailboxId, tenant } = yield* adasMailbox
  const script = [...answers]
  const sent: Array<OutgoingMail> = []
  const proceed = Latch.makeUnsafe(true)
  const provider = EmailProvider.of({
    name: "scripted",
    domain: "agents.test",
    send: (mail) =>
      Effect.gen(function* () {
        sent.push(mail)
        yield* proceed.await
        const answer = script.shift() ?? {}
        if (answer instanceof ProviderError) return yield* answer
        const rejected = mail.recipients.flatMap((address) =>
          answer[address] === undefined ? [] : [{ address, reason: answer[address] }]
        )
        const accepted = mail.recipients.filter((address) => answer[address] === undefined)
        return { accepted, rejected, response: "250 ok" } satisfies SendReceipt
      })
  })
  const { retries, service } = yield* Effect.provide(
    Effect.all({ retries: MessageRetries, service: messageSending }),
    Layer.fresh(MessageRetries.layer).pipe(Layer.provideMerge(Layer.succeed(EmailProvider, provider)))
  )
  const context = {
    operationId: "01900000-0000-7000-8000-0000000000aa",
    tenant,
    createdAt: yield* Timestamp.now,
    attended: true,
    isAuthenticated: true
  }
  const input = { mailboxId, to, subject: "Hello", text: "Hi" }
  const plan = yield* service.prepare(context, input)
  yield* service.record(context, plan, input, yield* service.perform!(context, plan, input))
  const current = currentOf(tenant, plan.messageId)
  return { current, mailboxId, messageId: plan.messageId, proceed, retries, sent, tenant }
})

const currentOf = (tenant: Tenant, messageId: string): Effect.Effect<Message, never, MessageStore> =>
  Effect.gen(function* () {
    const found = yield* (yield* MessageStore).find(tenant.tenantId, messageId)
    assert.strictEqual(found._tag, "Owned")
    return found._tag === "Owned" ? found.value : assert.fail()
  })

const statuses = ({ recipients }: Message) => recipients.map(({ reason, status }) => `${status} ${reason ?? ""}`.trim())
const envelopes = (sent: ReadonlyArray<OutgoingMail>) => sent.map(({ recipients }) => [...recipients])

describe("a recipient that is refused temporarily", () => {
  scenario("is retried alone, with the same mail, until the relay accepts it", () =>
    Effect.gen(function* () {
      const { current, retries, sent } = yield* sending([OPEN, BUSY], [{ [BUSY]: LATER }, { [BUSY]: LATER }])
      assert.deepStrictEqual(statuses(yield* current), ["sent", `queued ${LATER}`])
      assert.strictEqual((yield* current).status, "sent")
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("4 seconds")
      assert.lengthOf(sent, 1)
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(statuses(yield* current), ["sent", `queued ${LATER}`])
      yield* TestClock.adjust("12 seconds")
      assert.deepStrictEqual(statuses(yield* current), ["sent", "sent"])
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(envelopes(sent), [[OPEN, BUSY], [BUSY], [BUSY]])
      const [first, ...others] = sent.map(
        ({ attachments: _, recipients: __, returnPath: ___, returnPaths: ____, ...mail }) => mail
      )
      for (const other of others) assert.deepStrictEqual(other, first)
    })
  )

  scenario("fails for the last reason when the window of a day ends, after few attempts", () =>
    Effect.gen(function* () {
      const answers = Array.from({ length: 100 }, () => ({ [BUSY]: LATER }))
      const { current, retries, sent } = yield* sending([OPEN, BUSY], answers)
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("1439 minutes")
      assert.deepStrictEqual(statuses(yield* current), ["sent", `queued ${LATER}`])
      assert.isBelow(sent.length, 40)
      const attempts = sent.length
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(statuses(yield* current), ["sent", `failed ${LATER}`])
      yield* TestClock.adjust("2 days")
      assert.lengthOf(sent, attempts)
    })
  )

  scenario("stays queued while the relay is unavailable, or its answer is lost", () =>
    Effect.gen(function* () {
      const unavailable = (["Temporary", "Unknown", "Misconfigured"] as const).map(
        (reason) => new ProviderError({ provider: "scripted", reason, message: "no answer" })
      )
      const { current, retries, sent } = yield* sending([OPEN, BUSY], [{ [BUSY]: LATER }, ...unavailable])
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("40 seconds")
      assert.deepStrictEqual(statuses(yield* current), ["sent", `queued ${LATER}`])
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(statuses(yield* current), ["sent", "sent"])
      assert.deepStrictEqual(envelopes(sent), [[OPEN, BUSY], [BUSY], [BUSY], [BUSY], [BUSY]])
    })
  )

  scenario("fails, and is suppressed if it does not exist, when the relay refuses it permanently", () =>
    Effect.gen(function* () {
      const refused = [
        { address: BUSY, reason: "554 5.7.1 blocked" },
        { address: GONE, reason: UNKNOWN }
      ]
      const rejected = new ProviderError({ provider: "scripted", reason: "Rejected", message: "no", refused })
      const { current, retries, sent, tenant } = yield* sending(
        [OPEN, BUSY, GONE],
        [{ [BUSY]: LATER, [GONE]: LATER }, rejected]
      )
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(statuses(yield* current), ["sent", "failed 554 5.7.1 blocked", `failed ${UNKNOWN}`])
      assert.lengthOf(sent, 2)
      const store = yield* MessageStore
      assert.deepStrictEqual(yield* store.findSuppressed(tenant.tenantId, [OPEN, BUSY, GONE]), [GONE])
    })
  )

  scenario("keeps the status that a report gave it meanwhile", () =>
    Effect.gen(function* () {
      const { current, messageId, proceed, retries } = yield* sending(
        [OPEN, BUSY, GONE],
        [
          { [BUSY]: LATER, [GONE]: LATER },
          { [BUSY]: LATER, [GONE]: LATER }
        ]
      )
      proceed.closeUnsafe()
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("6 seconds")
      const reported = (yield* current).recipients.map((recipient) =>
        recipient.address === BUSY ? { ...recipient, status: "delivered" as const, reason: null } : recipient
      )
      yield* (yield* MessageStore).setOutcome(messageId, { recipients: reported, status: statusOf(reported) })
      proceed.openUnsafe()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(statuses(yield* current), ["sent", "delivered", `queued ${LATER}`])
    })
  )

  scenario("is given up when its address was suppressed, or its tenant suspended", () =>
    Effect.gen(function* () {
      const { current, retries, sent, tenant } = yield* sending(
        [OPEN, BUSY, GONE],
        [{ [BUSY]: LATER, [GONE]: LATER }, { [GONE]: LATER }]
      )
      yield* (yield* MessageStore).suppress(tenant.tenantId, [BUSY], "complained")
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("6 seconds")
      assert.match(statuses(yield* current)[1]!, /^failed suppressed/)
      assert.deepStrictEqual(envelopes(sent), [[OPEN, BUSY, GONE], [GONE]])
      yield* (yield* TenantAdministration).suspend(tenant.wallet, "spam")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(statuses(yield* current)[2], "failed the tenant was suspended")
      assert.lengthOf(sent, 2)
    })
  )

  scenario("is not sent to after its mailbox was deleted", () =>
    Effect.gen(function* () {
      const { mailboxId, retries, sent, tenant } = yield* sending([OPEN, BUSY], [{ [BUSY]: LATER }])
      yield* (yield* MailboxStore).remove(tenant.tenantId, mailboxId)
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(sent, 1)
    })
  )
})

describe("a server that dies between the relay's answer and the record of it", () => {
  scenario("leaves the mail to another, which sends it under the same Message-ID to that recipient alone", () =>
    Effect.gen(function* () {
      const { current, proceed, retries, sent } = yield* sending([OPEN, BUSY], [{ [BUSY]: LATER }])
      proceed.closeUnsafe()
      const dying = yield* Effect.forkChild(retries.run)
      yield* TestClock.adjust("6 seconds")
      yield* Fiber.interrupt(dying)
      assert.deepStrictEqual(envelopes(sent), [[OPEN, BUSY], [BUSY]])
      assert.deepStrictEqual(statuses(yield* current), ["sent", `queued ${LATER}`])
      proceed.openUnsafe()
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(envelopes(sent), [[OPEN, BUSY], [BUSY], [BUSY]])
      assert.lengthOf([...new Set(sent.map(({ messageIdHeader }) => messageIdHeader))], 1)
      assert.deepStrictEqual(statuses(yield* current), ["sent", "sent"])
    })
  )
})

describe("two servers", () => {
  scenario("send each retry once, also if the relay takes longer than a lease", () =>
    Effect.gen(function* () {
      const { current, proceed, retries, sent } = yield* sending([OPEN, BUSY], [{ [BUSY]: LATER }])
      proceed.closeUnsafe()
      yield* Effect.forkScoped(retries.run)
      yield* Effect.forkScoped(retries.run)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(sent, 2)
      proceed.openUnsafe()
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(sent, 2)
      assert.deepStrictEqual(statuses(yield* current), ["sent", "sent"])
    })
  )
})
