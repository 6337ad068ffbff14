import {
  audited,
  BLANK_CONTENT,
  cancelOutbound,
  InboundMails,
  listAudit,
  MailAdministration,
  MailboxStore,
  Mailboxes,
  MailParser,
  MessageRetries,
  messageSending,
  MessageStore,
  noMailParser,
  type Tenant,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  balances,
  deliverMail,
  failureOf,
  type Host,
  order,
  pay,
  returnDebts,
  scenario
} from "../support/Purchase.ts"

const SECRET = "the only copy of the letter"
const SENDER = "bob@letters.example"
const envelope = {
  mailFrom: SENDER,
  rcptTo: ["ada@agents.test"],
  remoteAddress: "192.0.2.1",
  helo: "letters.example",
  secure: true
}

/** A server whose parser breaks until it is repaired. */
const brokenServer = Effect.gen(function* () {
  const fault = { isRepaired: false, parsed: 0 }
  const parser = MailParser.of({
    ...noMailParser,
    parse: () =>
      Effect.suspend(() => {
        fault.parsed++
        if (!fault.isRepaired) throw new TypeError(`${SECRET} is not iterable`)
        return Effect.succeed({
          ...BLANK_CONTENT,
          messageIdHeader: "<1@letters.example>",
          from: { address: SENDER, name: null },
          subject: "A letter",
          text: SECRET,
          authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
          bodyHash: "",
          to: [],
          cc: []
        } as never)
      })
  })
  const layer = Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(MailParser, parser)))
  return { fault, inbound: yield* Effect.provide(InboundMails, layer) }
})

/** A mail to Ada whose processing has failed this many times. */
const failedMail = Effect.fnUntraced(function* (attempts: number) {
  const { mailboxId, tenant } = yield* adasMailbox
  const { fault, inbound } = yield* brokenServer
  yield* inbound.accept(envelope, new TextEncoder().encode(`Subject: A letter\r\n\r\n${SECRET}\r\n`), SENDER)
  for (let attempt = 0; attempt < attempts; attempt++) {
    yield* deliverMail(inbound)
    if (attempt + 1 < attempts) yield* TestClock.adjust("1 minute")
  }
  const [mail] = (yield* (yield* MailAdministration).listInbound({})).items
  return { fault, inbound, mail: mail!, mailboxId, tenant }
})

const messagesOf = (tenant: Tenant) =>
  Effect.flatMap(Mailboxes, ({ listMessages }) => Effect.map(listMessages(tenant, {}, {}), ({ items }) => items))

const mutation = (action: string, target: string) => ({ actor: "ada", action, target, reason: null })

describe("a mail that was accepted and can't be delivered", () => {
  scenario("is listed with its envelope and failure, without its content, and delivered parsed by a replay", () =>
    Effect.gen(function* () {
      const { findInbound, listInbound, readInbound, replayInbound } = yield* MailAdministration
      const { fault, inbound, mail, mailboxId, tenant } = yield* failedMail(3)
      const { inboundMailId } = mail
      assert.deepInclude(mail, {
        state: "failed",
        attempts: 3,
        failure: "TypeError",
        mailboxIds: [mailboxId],
        envelope
      })
      assert.strictEqual(mail.nextAttempt.kind, "scheduled")
      assert.deepStrictEqual(yield* findInbound(inboundMailId), mail)
      assert.notInclude(JSON.stringify(mail), SECRET)
      assert.deepInclude(yield* readInbound(inboundMailId), { isWhole: true })
      assert.include((yield* readInbound(inboundMailId)).content, SECRET)
      for (const [query, count] of [
        [{ state: "failed" }, 1],
        [{ state: "waiting" }, 0],
        [{ tenant: ADA }, 1],
        [{ tenant: tenant.tenantId, mailbox: "Ada@agents.test" }, 1],
        [{ mailbox: mailboxId }, 1],
        [{ mailbox: "eve@agents.test" }, 0],
        [{ tenant: `0x${"9".repeat(40)}` }, 0],
        [{ olderThanMinutes: 2 }, 1],
        [{ olderThanMinutes: 60 }, 0],
        [{ cursor: inboundMailId }, 0]
      ] as const) {
        assert.lengthOf((yield* listInbound(query)).items, count, JSON.stringify(query))
      }
      fault.isRepaired = true
      yield* deliverMail(inbound)
      assert.lengthOf(yield* messagesOf(tenant), 0, "the next attempt is later")
      const replayed = yield* audited(mutation("inbound-mail.replay", inboundMailId), replayInbound(inboundMailId))
      assert.strictEqual(replayed.nextAttempt.kind, "due")
      yield* deliverMail(inbound)
      const [message] = yield* messagesOf(tenant)
      assert.deepInclude(message, { subject: "A letter", malformed: false })
      assert.strictEqual((yield* failureOf(replayInbound(inboundMailId)))._tag, "ResourceNotFound")
      assert.lengthOf((yield* listAudit({ target: inboundMailId })).items, 1)
    })
  )

  scenario("is not replayed or dropped while a worker holds it", () =>
    Effect.gen(function* () {
      const { dropInbound, replayInbound } = yield* MailAdministration
      const { mail, tenant } = yield* failedMail(1)
      yield* TestClock.adjust("1 minute")
      const running = yield* Effect.forkChild(
        Effect.provide(
          Effect.flatMap(InboundMails, ({ run }) => run),
          Layer.fresh(InboundMails.layer).pipe(
            Layer.provide(Layer.succeed(MailParser, { ...noMailParser, parse: () => Effect.never }))
          )
        )
      )
      yield* TestClock.adjust("3 seconds")
      const { inboundMailId } = mail
      const drop = audited(mutation("inbound-mail.drop", inboundMailId), dropInbound(inboundMailId, "It crashes"))
      assert.strictEqual((yield* failureOf(drop))._tag, "Conflict")
      assert.strictEqual((yield* failureOf(replayInbound(inboundMailId)))._tag, "Conflict")
      assert.deepInclude((yield* listAudit({ target: inboundMailId })).items[0], { outcome: "failed", before: null })
      yield* Fiber.interrupt(running)
      assert.lengthOf(yield* messagesOf(tenant), 0)
    })
  )

  scenario("is dropped for a reason that the audit keeps, without an address, and no money moves", () =>
    Effect.gen(function* () {
      const { dropInbound } = yield* MailAdministration
      const { fault, inbound, mail, mailboxId, tenant } = yield* failedMail(1)
      const mailboxes = yield* MailboxStore
      const usage = Effect.map(mailboxes.findStandings([mailboxId]), (all) => all.get(mailboxId)?.usage)
      assert.deepInclude(yield* usage, { messages: 1 })
      const [before, { inboundMailId }] = [yield* balances, mail]
      const drop = audited(mutation("inbound-mail.drop", inboundMailId), dropInbound(inboundMailId, "It crashes"))
      assert.deepStrictEqual(yield* drop, mail)
      assert.strictEqual((yield* failureOf(drop))._tag, "ResourceNotFound")
      const [failed, dropped] = (yield* listAudit({ target: inboundMailId })).items
      assert.deepInclude(failed, { outcome: "failed" })
      assert.deepInclude(dropped, { outcome: "succeeded", reason: "It crashes", after: null })
      const { attempts, failure, mailboxIds, receivedAt, sizeBytes } = mail
      const kept = {
        attempts,
        failure,
        mailboxIds,
        receivedAt,
        sizeBytes,
        recipients: 1,
        senderDomain: "letters.example"
      }
      assert.deepStrictEqual(dropped?.before, kept)
      assert.notInclude(JSON.stringify(dropped), "@")
      fault.isRepaired = true
      yield* TestClock.adjust("1 hour")
      yield* deliverMail(inbound)
      assert.lengthOf(yield* messagesOf(tenant), 0)
      assert.deepInclude(yield* usage, { messages: 0, bytes: 0 })
      assert.deepStrictEqual(yield* balances, before)
    })
  )
})

/** A paid message of Ada that is due in an hour. */
const scheduled = Effect.gen(function* () {
  const { mailboxId, tenant } = yield* adasMailbox
  const sendAt = Timestamp.add(yield* Timestamp.now, Timestamp.HOUR)
  const input = { mailboxId, to: ["friend@example.com"], subject: "Hello", text: "Hi", sendAt }
  const buy = (signature: string | null) => order(messageSending, { tenant, key: "02", signature }, input)
  const error = yield* failureOf(buy(null))
  yield* buy(pay(error._tag === "PaymentRequired" ? error.challenge : "", ADA, "02"))
  const [waiting] = (yield* (yield* MailAdministration).listOutbound({})).items
  return { messageId: waiting!.messageId, tenant }
})

/** Runs the worker of sends for so long. */
const work = Effect.fnUntraced(function* (seconds: number) {
  const running = yield* Effect.forkChild((yield* MessageRetries).run)
  yield* TestClock.adjust(`${seconds} seconds`)
  yield* Fiber.interrupt(running)
})

/** The same after attempts with these outcomes, in backoff. */
const attempted = Effect.fnUntraced(function* ({ sendScript }: Host, outcomes: ReadonlyArray<"Temporary" | "Unknown">) {
  const { messageId } = yield* scheduled
  sendScript.push(...outcomes)
  yield* TestClock.adjust("1 hour")
  const running = yield* Effect.forkChild((yield* MessageRetries).run)
  while (sendScript.length > 0) yield* TestClock.adjust("1 second")
  yield* Fiber.interrupt(running)
  return messageId
})

/** A relay that is down for ten minutes. */
const OUTAGE = Array.from({ length: 7 }, () => "Temporary" as const)

const REFUNDED = { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n }

describe("a message that waits", () => {
  scenario("for the relay is sent at once by a retry, and not again", (host) =>
    Effect.gen(function* () {
      const { listOutbound, retryOutbound } = yield* MailAdministration
      const messageId = yield* attempted(host, OUTAGE)
      const [waiting] = (yield* listOutbound({ state: "deferred", tenant: ADA, olderThanMinutes: 60 })).items
      assert.deepInclude(waiting, { messageId, state: "deferred", attempts: OUTAGE.length })
      assert.deepStrictEqual((yield* listOutbound({ tenant: `0x${"9".repeat(40)}` })).items, [])
      yield* work(60)
      assert.lengthOf(host.sent, 0, "the next attempt is in ten minutes")
      yield* audited(mutation("outbound-message.retry", messageId), retryOutbound(messageId))
      yield* work(3)
      assert.lengthOf(host.sent, 1)
      assert.strictEqual((yield* failureOf(retryOutbound(messageId)))._tag, "ResourceNotFound")
      yield* work(3_600)
      assert.lengthOf(host.sent, 1)
      assert.deepInclude((yield* listAudit({ target: messageId })).items[0], { outcome: "succeeded" })
    })
  )

  scenario("and that the relay may have taken is neither sent early nor canceled", (host) =>
    Effect.gen(function* () {
      const { listOutbound, retryOutbound } = yield* MailAdministration
      const messageId = yield* attempted(host, ["Unknown"])
      assert.lengthOf(host.sent, 1)
      const before = (yield* listOutbound({ state: "unknown" })).items
      assert.deepInclude(before[0], { messageId, attempts: 1 })
      assert.include(String(yield* failureOf(retryOutbound(messageId))), "The relay may have taken the message")
      assert.include(String(yield* failureOf(cancelOutbound(messageId))), "Nothing was changed or refunded")
      assert.deepStrictEqual((yield* listOutbound({})).items, before)
      yield* work(1)
      assert.lengthOf(host.sent, 1)
      // Its own next attempt is as it was planned.
      host.sendScript.push("Temporary")
      yield* work(15)
      assert.deepInclude((yield* listOutbound({})).items[0], { state: "deferred", attempts: 2 })
      yield* retryOutbound(messageId)
      yield* work(3)
      assert.lengthOf(host.sent, 2)
      assert.strictEqual((yield* balances)["refunded"], undefined)
    })
  )

  scenario("for its time is not sent early, and is refunded once when it is canceled", () =>
    Effect.gen(function* () {
      const { listOutbound, retryOutbound } = yield* MailAdministration
      const { messageId, tenant } = yield* scheduled
      assert.include(String(yield* failureOf(retryOutbound(messageId))), "the time that its tenant chose")
      const canceled = yield* audited(mutation("outbound-message.cancel", messageId), cancelOutbound(messageId))
      assert.deepInclude(canceled, { status: "canceled", isRefunded: true })
      assert.strictEqual((yield* failureOf(cancelOutbound(messageId)))._tag, "ResourceNotFound")
      assert.deepStrictEqual((yield* listOutbound({})).items, [])
      yield* returnDebts
      assert.deepStrictEqual(yield* balances, REFUNDED)
      const stored = Option.getOrThrow(yield* (yield* MessageStore).findSent(messageId))
      assert.deepStrictEqual([stored.status, stored.tenantId], ["canceled", tenant.tenantId])
      const [record] = (yield* listAudit({ target: messageId })).items
      assert.deepInclude(record, { outcome: "succeeded", before: { status: "scheduled" } })
    })
  )

  scenario("for the relay is refunded once when it is canceled", (host) =>
    Effect.gen(function* () {
      const messageId = yield* attempted(host, OUTAGE)
      assert.deepInclude(yield* cancelOutbound(messageId), { status: "failed", isRefunded: true })
      yield* work(7_200)
      assert.lengthOf(host.sent, 0)
      yield* returnDebts
      assert.deepStrictEqual(yield* balances, REFUNDED)
      assert.strictEqual((yield* failureOf(cancelOutbound(messageId)))._tag, "ResourceNotFound")
    })
  )
})
