import {
  BLANK_CONTENT,
  changeMailbox,
  DEFAULT_MAIL_POLICY,
  InboundMails,
  InboundMailStore,
  Keyring,
  Mailboxes,
  type MailboxSettings,
  MailboxStore,
  MailPolicy,
  MailParser,
  MailUnreadable,
  type MessageRecord,
  MessageStore,
  noMailParser,
  ReturnPath,
  type ParsedMail,
  type SenderAuthentication,
  type Tenant,
  Timestamp,
  Uuid
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ADA, adasMailbox, deliverMail, eventsOf, pay, scenario, sendPaid } from "../support/Purchase.ts"

const envelope = {
  mailFrom: "friend@else.test",
  rcptTo: ["ada@agents.test"],
  remoteAddress: "192.0.2.1",
  helo: "else.test",
  secure: false
}
const AUTHOR = envelope.mailFrom
const raw = (text: string) => new TextEncoder().encode(`Subject: ${text}\r\n\r\n${text}\r\n`)

const messagesOf = Effect.fnUntraced(function* (tenant: Tenant) {
  return (yield* (yield* Mailboxes).listMessages(tenant, {}, {})).items
})

/** Another server, with its own store or parser. */
const serverWith = Effect.fnUntraced(function* (own: {
  readonly store?: InboundMailStore["Service"]
  readonly parser?: MailParser["Service"]
}) {
  const store = own.store ?? (yield* InboundMailStore)
  const parser = own.parser ?? (yield* MailParser)
  const ports = Layer.merge(Layer.succeed(InboundMailStore, store), Layer.succeed(MailParser, parser))
  return yield* Effect.provide(InboundMails, Layer.fresh(InboundMails.layer).pipe(Layer.provide(ports)))
})

/** A parser that waits until it may continue, and then can't read the mail. */
const slowParser = Effect.gen(function* () {
  const started = yield* Latch.make(false)
  const proceed = yield* Latch.make(false)
  const parse = () =>
    started.open.pipe(Effect.andThen(proceed.await), Effect.andThen(new MailUnreadable({ message: "not a mail" })))
  return { started: started.await, proceed: proceed.open, parser: MailParser.of({ ...noMailParser, parse }) }
})

/** Expects exactly one message and one event, and no waiting mail. */
const assertDeliveredOnce = Effect.fnUntraced(function* (tenant: Tenant) {
  assert.lengthOf(yield* messagesOf(tenant), 1)
  const received = (yield* eventsOf(tenant)).filter(({ type }) => type === "email.received")
  assert.lengthOf(received, 1)
  assert.lengthOf(yield* (yield* InboundMailStore).lease(10, 0), 0)
})

/** A parser that finds a bounce of friend@example.com in every mail. */
const bounceParser = MailParser.of({
  ...noMailParser,
  parse: () =>
    Effect.succeed({
      ...BLANK_CONTENT,
      messageIdHeader: "<bounce@else.test>",
      from: { address: "MAILER-DAEMON@else.test", name: null },
      subject: "Undelivered",
      text: "no such user",
      authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
      bodyHash: "00",
      report: {
        _tag: "DeliveryStatus",
        recipients: [
          { original: null, final: "Friend@example.com", action: "failed", status: "5.1.1", diagnostic: "550 unknown" }
        ]
      }
    })
})

/** A parser of mails to Ada with a tag, to a stranger, and to others with a part of her address. */
const crowdParser = MailParser.of({
  ...noMailParser,
  parse: (raw, given) =>
    Effect.map(bounceParser.parse(raw, given), ({ report: _, ...mail }) => ({
      ...mail,
      to: [
        { address: "Ada+news@Agents.test", name: "Ada" },
        { address: "bob@else.test", name: null }
      ],
      cc: [
        { address: "ada@else.test", name: null },
        { address: "eve@agents.test", name: null }
      ]
    }))
})

/** Ada's sent message, and the envelope of a report about it. */
const sentByAda = Effect.gen(function* () {
  const { attempt, challenge, tenant } = yield* sendPaid
  const { body } = yield* attempt(pay(challenge, ADA, "02"))
  const { message } = (JSON.parse(Redacted.value(body)) as { data: { message: MessageRecord } }).data
  const returnPath = `${ReturnPath.make(yield* Keyring, message.messageId, 0)}@agents.test`
  return { tenant, message, report: { ...envelope, mailFrom: "", rcptTo: [returnPath] } }
})

/** The number of bounces of the tenant that count towards a pause. */
const bouncesOf = Effect.fnUntraced(function* ({ tenantId }: Tenant) {
  const feedback = {
    tenantId,
    reason: "bounced",
    reporters: [],
    messageId: tenantId,
    at: yield* Timestamp.now
  } as const
  return (yield* (yield* MessageStore).addFeedback(feedback, Timestamp.DAY)).reporters
})

describe("the recipients of a received mail", () => {
  scenario("have the status received for the address of its mailbox alone", () =>
    Effect.gen(function* () {
      const { tenant } = yield* sentByAda
      const inbound = yield* serverWith({ parser: crowdParser })
      yield* inbound.accept(envelope, raw("crowd"), AUTHOR)
      yield* deliverMail(inbound)
      const received = (yield* messagesOf(tenant)).find(({ direction }) => direction === "inbound")
      assert.deepStrictEqual(
        received?.recipients.map(({ address, kind, status }) => [kind, address, status]),
        [
          ["to", "Ada+news@Agents.test", "received"],
          ["to", "bob@else.test", "unknown"],
          ["cc", "ada@else.test", "unknown"],
          ["cc", "eve@agents.test", "unknown"]
        ]
      )
    })
  )
})

describe("a report to a return path", () => {
  scenario("updates the recipient, suppresses it, is kept for audit, and creates no message and no event", () =>
    Effect.gen(function* () {
      const { message, report, tenant } = yield* sentByAda
      const inbound = yield* serverWith({ parser: bounceParser })
      const events = yield* eventsOf(tenant)
      yield* inbound.admit(report.rcptTo[0]!, report)
      yield* inbound.accept(report, raw("bounce"), AUTHOR)
      yield* deliverMail(inbound)
      const messages = yield* messagesOf(tenant)
      assert.lengthOf(messages, 1)
      assert.strictEqual(messages[0]?.status, "bounced")
      assert.deepInclude(messages[0]?.recipients[0], { status: "bounced", reason: "550 unknown" })
      const store = yield* MessageStore
      assert.lengthOf(yield* store.findSuppressed(tenant.tenantId, ["friend@example.com"]), 1)
      assert.strictEqual(yield* bouncesOf(tenant), 1)
      assert.deepStrictEqual(yield* eventsOf(tenant), events)
      const [kept, ...more] = yield* store.listReports(message.messageId)
      assert.deepInclude(kept, { remoteAddress: "192.0.2.1" })
      assert.isEmpty(more)
      assert.lengthOf(yield* (yield* InboundMailStore).lease(10, 0), 0)
    })
  )

  scenario("counts once if it arrives twice, or is processed again after a crash before its commit", () =>
    Effect.gen(function* () {
      const { message, report, tenant } = yield* sentByAda
      const store = yield* InboundMailStore
      let crashes = 1
      const complete: typeof store.complete = (leases) =>
        Effect.suspend(() => (crashes-- > 0 ? Effect.die(new Error("killed")) : store.complete(leases)))
      const inbound = yield* serverWith({ store: { ...store, complete }, parser: bounceParser })
      yield* inbound.accept(report, raw("one"), AUTHOR)
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("2 minutes")
      yield* inbound.accept(report, raw("two"), AUTHOR)
      yield* TestClock.adjust("2 seconds")
      const messages = yield* MessageStore
      assert.strictEqual(yield* bouncesOf(tenant), 1)
      assert.lengthOf(yield* messages.listReports(message.messageId), 2)
    })
  )

  scenario("waits for its message if it arrives before the message is stored", () =>
    Effect.gen(function* () {
      const { message, report, tenant } = yield* sentByAda
      const messages = yield* MessageStore
      const early = { ...messages, findSent: () => Effect.succeedNone }
      const ports = Layer.merge(Layer.succeed(MessageStore, early), Layer.succeed(MailParser, bounceParser))
      const before = yield* Effect.provide(InboundMails, Layer.fresh(InboundMails.layer).pipe(Layer.provide(ports)))
      yield* before.accept(report, raw("early"), AUTHOR)
      yield* deliverMail(before)
      assert.isEmpty(yield* messages.listReports(message.messageId))
      const after = yield* serverWith({ parser: bounceParser })
      yield* Effect.forkScoped(after.run)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* messagesOf(tenant))[0]?.status, "bounced")
    })
  )

  scenario("is refused at RCPT if the return path is not one of this service", () =>
    Effect.gen(function* () {
      const { report } = yield* sentByAda
      const inbound = yield* InboundMails
      const [path = ""] = report.rcptTo
      for (const address of [
        path.replace(/.@/, "x@"),
        path.replace("agents.test", "else.test"),
        "bounces@agents.test"
      ]) {
        const error = yield* Effect.flip(inbound.admit(address, report))
        assert.strictEqual(error.refusal, "mailbox unknown")
      }
    })
  )
})

/** A parser of a person's answer, which is no report. */
const answerParser = MailParser.of({
  ...noMailParser,
  parse: (raw, given) =>
    Effect.map(bounceParser.parse(raw, given), ({ report: _, ...mail }) => ({
      ...mail,
      messageIdHeader: "<away@else.test>",
      from: { address: "friend@example.com", name: null },
      subject: "I am away"
    }))
})

/** Changes Ada's mailbox. */
const change = Effect.fnUntraced(function* (settings: MailboxSettings) {
  const store = yield* MailboxStore
  const [mailbox] = yield* store.findActive(["ada"])
  assert.isTrue(yield* store.update(changeMailbox(mailbox!, settings, yield* Timestamp.now)))
})

describe("other mail to a return path", () => {
  scenario("is a message in the thread of the sent message, with an event", () =>
    Effect.gen(function* () {
      const { message, report, tenant } = yield* sentByAda
      const inbound = yield* serverWith({ parser: answerParser })
      yield* inbound.admit(report.rcptTo[0]!, report)
      yield* inbound.accept(report, raw("away"), "friend@example.com")
      yield* deliverMail(inbound)
      const received = (yield* messagesOf(tenant)).find(({ direction }) => direction === "inbound")
      assert.deepInclude(received, {
        subject: "I am away",
        from: "friend@example.com",
        mailboxId: message.mailboxId,
        threadId: message.threadId
      })
      assert.strictEqual((yield* messagesOf(tenant)).find(({ direction }) => direction === "outbound")?.status, "sent")
      const events = (yield* eventsOf(tenant)).filter(({ type }) => type === "email.received")
      assert.lengthOf(events, 1)
      assert.isEmpty(yield* (yield* MessageStore).listReports(message.messageId))
    })
  )

  scenario("is a message even if it can't be read", () =>
    Effect.gen(function* () {
      const { report, tenant } = yield* sentByAda
      const inbound = yield* serverWith({ parser: noMailParser })
      yield* inbound.accept(report, raw("noise"), AUTHOR)
      yield* deliverMail(inbound)
      assert.deepInclude(
        (yield* messagesOf(tenant)).find(({ direction }) => direction === "inbound"),
        { malformed: true }
      )
    })
  )

  scenario("is refused if the mailbox is inactive or its sender policy refuses the author, and a report is not", () =>
    Effect.gen(function* () {
      const { message, report, tenant } = yield* sentByAda
      const inbound = yield* serverWith({ parser: answerParser })
      const reporting = yield* serverWith({ parser: bounceParser })
      for (const [settings, refusal] of [
        [{ senderPolicy: { mode: "listed", allow: ["eve@else.test"] } }, "sender refused"],
        [{ active: false }, "mailbox unknown"]
      ] as const) {
        yield* change(settings)
        const error = yield* Effect.flip(inbound.accept(report, raw("away"), "friend@example.com"))
        assert.strictEqual(error.refusal, refusal)
        yield* reporting.accept(report, raw(refusal), AUTHOR)
      }
      yield* deliverMail(reporting)
      assert.strictEqual((yield* messagesOf(tenant))[0]?.status, "bounced")
      assert.lengthOf(yield* (yield* MessageStore).listReports(message.messageId), 2)
    })
  )

  scenario("is recorded if its message is unknown, or its mailbox is gone when it is delivered", () =>
    Effect.gen(function* () {
      const { message, report } = yield* sentByAda
      const keyring = yield* Keyring
      const messages = yield* MessageStore
      const inbound = yield* serverWith({ parser: answerParser })
      const unknown = yield* Uuid.next
      const other = { ...report, rcptTo: [`${ReturnPath.make(keyring, unknown, 0)}@agents.test`] }
      yield* inbound.accept(report, raw("away"), "friend@example.com")
      yield* inbound.accept(other, raw("away"), "friend@example.com")
      yield* change({ active: false })
      yield* Effect.forkScoped(inbound.run)
      for (const delay of ["7 seconds", "11 minutes", "4 seconds"] as const) yield* TestClock.adjust(delay)
      const reasons = (id: string) =>
        Effect.map(messages.listReports(id), (reports) => reports.map((each) => each.report))
      assert.deepStrictEqual(yield* reasons(message.messageId), [{ _tag: "Undelivered", reason: "mailbox unknown" }])
      assert.deepStrictEqual(yield* reasons(unknown), [{ _tag: "Undelivered", reason: "message unknown" }])
    })
  )

  scenario("is refused once its message must have been stored, and is not", () =>
    Effect.gen(function* () {
      const { report } = yield* sentByAda
      const lost = `${ReturnPath.make(yield* Keyring, yield* Uuid.next, 0)}@agents.test`
      yield* TestClock.adjust("2 hours")
      const inbound = yield* serverWith({ parser: answerParser })
      const error = yield* Effect.flip(inbound.accept({ ...report, rcptTo: [lost] }, raw("late"), AUTHOR))
      assert.strictEqual(error.refusal, "mailbox unknown")
    })
  )
})

describe("mail to the postmaster", () => {
  const toPostmaster = { ...envelope, rcptTo: ["Postmaster@agents.test", "abuse@agents.test"] }

  scenario("is accepted and recorded without a configured mailbox", () =>
    Effect.gen(function* () {
      const inbound = yield* serverWith({ parser: answerParser })
      for (const address of toPostmaster.rcptTo) yield* inbound.admit(address, toPostmaster)
      yield* inbound.accept(toPostmaster, raw("abuse"), AUTHOR)
      yield* deliverMail(inbound)
      const [kept] = yield* (yield* MessageStore).listReports(Uuid.NIL)
      assert.deepStrictEqual(kept?.report, { _tag: "Undelivered", reason: "no postmaster" })
    })
  )

  scenario("arrives once in the configured mailbox", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const policy = { ...DEFAULT_MAIL_POLICY, postmaster: "ada@agents.test" }
      const inbound = yield* Effect.provideService(serverWith({ parser: answerParser }), MailPolicy, policy)
      yield* inbound.accept(toPostmaster, raw("abuse"), AUTHOR)
      yield* deliverMail(inbound)
      yield* assertDeliveredOnce(tenant)
      assert.isEmpty(yield* (yield* MessageStore).listReports(Uuid.NIL))
    })
  )
})

describe("mail from a suppressed address", () => {
  scenario("lifts its bounce unless a check of the sender failed, and never a complaint", () =>
    Effect.gen(function* () {
      const { tenantId } = (yield* sentByAda).tenant
      const store = yield* MessageStore
      const isSuppressed = Effect.map(
        store.findSuppressed(tenantId, ["friend@example.com"]),
        ({ length }) => length > 0
      )
      const receive = Effect.fnUntraced(function* (messageIdHeader: string, results: Partial<SenderAuthentication>) {
        const parse: MailParser["Service"]["parse"] = (bytes, given) =>
          Effect.map(answerParser.parse(bytes, given), (mail) => ({
            ...mail,
            messageIdHeader,
            authentication: { ...mail.authentication, ...results }
          }))
        const inbound = yield* serverWith({ parser: MailParser.of({ ...noMailParser, parse }) })
        yield* inbound.accept(envelope, raw("hello"), AUTHOR)
        yield* deliverMail(inbound)
      })
      yield* store.suppress(tenantId, ["friend@example.com"], "bounced")
      for (const [at, results] of [{ spf: "softfail" }, { dkim: "fail" }, { dmarc: "fail" }].entries()) {
        yield* receive(`<failed-${at}@else.test>`, results)
        assert.isTrue(yield* isSuppressed, JSON.stringify(results))
      }
      yield* receive("<none@else.test>", {})
      assert.isFalse(yield* isSuppressed)
      yield* store.suppress(tenantId, ["friend@example.com"], "complained")
      yield* receive("<proved@else.test>", { dmarc: "pass" })
      assert.isTrue(yield* isSuppressed)
    })
  )
})

describe("delivering inbound mail", () => {
  scenario("does not delay mails when another one can't be delivered, which it retries after a minute", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const store = yield* InboundMailStore
      let attempts = 0
      let brokenId: string | undefined
      const complete: typeof store.complete = (leases) =>
        Effect.suspend(() => {
          brokenId ??= leases[0]?.inboundMailId
          if (!leases.some(({ inboundMailId }) => inboundMailId === brokenId)) return store.complete(leases)
          // A group that fails is repeated mail by mail.
          if (leases.length === 1) attempts++
          return Effect.die(new Error("the disk is full"))
        })
      const inbound = yield* serverWith({ store: { ...store, complete } })
      yield* Effect.forEach(["broken", "one", "two", "three"], (text) => inbound.accept(envelope, raw(text), AUTHOR))
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* messagesOf(tenant), 3)
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual(attempts, 1)
      yield* TestClock.adjust("12 seconds")
      assert.strictEqual(attempts, 2)
    })
  )

  scenario("does not delay the mail of a network when another one has sent more than can be in progress", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const proceed = yield* Latch.make(false)
      const unreadable = new MailUnreadable({ message: "not a mail" })
      const parse: MailParser["Service"]["parse"] = (_, { remoteAddress }) =>
        remoteAddress === envelope.remoteAddress ? Effect.andThen(proceed.await, unreadable) : unreadable
      const inbound = yield* serverWith({ parser: MailParser.of({ ...noMailParser, parse }) })
      const texts = Array.from({ length: 100 }, (_, index) => `slow ${index}`)
      yield* Effect.forEach(texts, (text) => inbound.accept(envelope, raw(text), AUTHOR))
      yield* inbound.accept({ ...envelope, remoteAddress: "198.51.100.1" }, raw("honest"), AUTHOR)
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(yield* messagesOf(tenant), 1)
      yield* proceed.open
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(yield* (yield* InboundMailStore).lease(200, 0), 0)
    })
  )

  scenario("keeps a mail from other servers while it is parsed, however long that takes", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const slowly = yield* slowParser
      const slow = yield* serverWith(slowly)
      yield* slow.accept(envelope, raw("once"), AUTHOR)
      yield* Effect.forkScoped(slow.run)
      yield* slowly.started
      yield* Effect.forkScoped((yield* InboundMails).run)
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf(yield* messagesOf(tenant), 0)
      yield* slowly.proceed
      yield* TestClock.adjust("1 second")
      yield* assertDeliveredOnce(tenant)
    })
  )

  scenario("delivers the mail of a killed server within 20 seconds", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const slowly = yield* slowParser
      const slow = yield* serverWith(slowly)
      yield* slow.accept(envelope, raw("once"), AUTHOR)
      const killed = yield* Effect.forkChild(slow.run)
      yield* slowly.started
      yield* Fiber.interrupt(killed)
      yield* Effect.forkScoped((yield* InboundMails).run)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(yield* messagesOf(tenant), 0)
      yield* TestClock.adjust("10 seconds")
      yield* assertDeliveredOnce(tenant)
    })
  )

  scenario(
    "stores one message if a server loses its lease while it parses, although the mail has no duplicate key",
    () =>
      Effect.gen(function* () {
        const { tenant } = yield* adasMailbox
        const store = yield* InboundMailStore
        const slowly = yield* slowParser
        let leases = 0
        const lease: typeof store.lease = (limit, millis) =>
          Effect.suspend(() => (leases++ === 0 ? store.lease(limit, millis) : Effect.succeed([])))
        const stalled = { ...store, lease, renew: () => Effect.succeed(true) }
        const slow = yield* serverWith({ ...slowly, store: stalled })
        yield* slow.accept(envelope, raw("once"), AUTHOR)
        yield* Effect.forkScoped(slow.run)
        yield* slowly.started
        const other = yield* InboundMails
        yield* TestClock.adjust("20 seconds")
        yield* deliverMail(other)
        assert.lengthOf(yield* messagesOf(tenant), 1)
        yield* slowly.proceed
        yield* TestClock.adjust("1 second")
        yield* assertDeliveredOnce(tenant)
      })
  )

  const crashing = [
    ["its parser crashes", () => Effect.die(new Error("the process has ended"))],
    ["what was read of it can't be stored", () => Effect.succeed({} as ParsedMail)]
  ] as const
  for (const [what, parse] of crashing) {
    scenario(`delivers a mail unparsed if ${what} a fourth time`, () =>
      Effect.gen(function* () {
        const { tenant } = yield* adasMailbox
        let reads = 0
        const inbound = yield* serverWith({
          parser: MailParser.of({ ...noMailParser, parse: () => Effect.suspend(() => (reads++, parse())) })
        })
        yield* inbound.accept(envelope, raw("fatal"), AUTHOR)
        yield* Effect.forkScoped(inbound.run)
        yield* TestClock.adjust("150 seconds")
        assert.lengthOf(yield* messagesOf(tenant), 0)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(reads, 4)
        assert.deepStrictEqual(
          (yield* messagesOf(tenant)).map(({ from, malformed }) => ({ from, malformed })),
          [{ from: "friend@else.test", malformed: true }]
        )
      })
    )
  }

  scenario("delivers a mail unparsed, without reading it again, after three servers ended that read it", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      let reads = 0
      const parser = MailParser.of({ ...noMailParser, parse: () => Effect.suspend(() => (reads++, Effect.never)) })
      const first = yield* serverWith({ parser })
      yield* first.accept(envelope, raw("fatal"), AUTHOR)
      for (const server of [first, yield* serverWith({ parser }), yield* serverWith({ parser })]) {
        const killed = yield* Effect.forkChild(server.run)
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.interrupt(killed)
        yield* TestClock.adjust("20 seconds")
      }
      yield* Effect.forkScoped((yield* serverWith({ parser })).run)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(reads, 3)
      assert.deepStrictEqual(
        (yield* messagesOf(tenant)).map(({ malformed }) => malformed),
        [true]
      )
    })
  )

  scenario("delivers a mail as it was read after its store failed for an hour, and servers ended meanwhile", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const store = yield* InboundMailStore
      let isBroken = true
      const complete: typeof store.complete = (leases) =>
        isBroken ? Effect.die(new Error("permission denied")) : store.complete(leases)
      const inbound = yield* serverWith({ store: { ...store, complete }, parser: crowdParser })
      yield* inbound.accept(envelope, raw("kept"), AUTHOR)
      const running = yield* Effect.forkChild(inbound.run)
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(yield* messagesOf(tenant), 0)
      yield* Fiber.interrupt(running)
      yield* TestClock.adjust("1 minute")
      // A server ends in the middle of an attempt.
      assert.lengthOf(yield* store.lease(1, 15_000), 1)
      yield* TestClock.adjust("1 minute")
      isBroken = false
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(
        (yield* messagesOf(tenant)).map(({ malformed, subject }) => ({ malformed, subject })),
        [{ malformed: false, subject: "Undelivered" }]
      )
    })
  )
})
