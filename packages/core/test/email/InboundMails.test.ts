import { InboundMails, InboundMailStore, Mailboxes, MailParser, MailUnreadable, type Tenant } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, deliverMail, eventsOf, scenario } from "../support/Purchase.ts"

const envelope = {
  mailFrom: "friend@else.test",
  rcptTo: ["ada@agents.test"],
  remoteAddress: "192.0.2.1",
  helo: "else.test",
  secure: false
}
const raw = (text: string) => new TextEncoder().encode(`Subject: ${text}\r\n\r\n${text}\r\n`)

const messagesOf = Effect.fnUntraced(function* (tenant: Tenant) {
  return (yield* (yield* Mailboxes).listMessages(tenant, undefined, {})).items
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
  return { started: started.await, proceed: proceed.open, parser: MailParser.of({ parse }) }
})

/** Expects exactly one message and one event, and no waiting mail. */
const assertDeliveredOnce = Effect.fnUntraced(function* (tenant: Tenant) {
  assert.lengthOf(yield* messagesOf(tenant), 1)
  const received = (yield* eventsOf(tenant)).filter(({ type }) => type === "email.received")
  assert.lengthOf(received, 1)
  assert.lengthOf(yield* (yield* InboundMailStore).lease(10, 0), 0)
})

describe("delivering inbound mail", () => {
  scenario("does not delay mails when another one can't be delivered, which it retries after a minute", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const store = yield* InboundMailStore
      let attempts = 0
      let brokenId: string | undefined
      const complete: typeof store.complete = (lease) =>
        Effect.suspend(() => {
          brokenId ??= lease.inboundMailId
          if (lease.inboundMailId !== brokenId) return store.complete(lease)
          attempts++
          return Effect.die(new Error("the disk is full"))
        })
      const inbound = yield* serverWith({ store: { ...store, complete } })
      yield* Effect.forEach(["broken", "one", "two", "three"], (text) => inbound.accept(envelope, raw(text)))
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* messagesOf(tenant), 3)
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual(attempts, 1)
      yield* TestClock.adjust("12 seconds")
      assert.strictEqual(attempts, 2)
    })
  )

  scenario("keeps a mail from other servers while it is parsed, however long that takes", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const slowly = yield* slowParser
      const slow = yield* serverWith(slowly)
      yield* slow.accept(envelope, raw("once"))
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
      yield* slow.accept(envelope, raw("once"))
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
        yield* slow.accept(envelope, raw("once"))
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

  scenario("delivers a mail unparsed, without a fourth attempt, after parsing it has crashed three times", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      let reads = 0
      const parser = MailParser.of({
        parse: () =>
          Effect.andThen(
            Effect.sync(() => reads++),
            Effect.die(new Error("the process has ended"))
          )
      })
      const inbound = yield* serverWith({ parser })
      yield* inbound.accept(envelope, raw("fatal"))
      yield* Effect.forkScoped(inbound.run)
      yield* TestClock.adjust("150 seconds")
      assert.lengthOf(yield* messagesOf(tenant), 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(reads, 3)
      assert.deepStrictEqual(
        (yield* messagesOf(tenant)).map(({ from, malformed }) => ({ from, malformed })),
        [{ from: "friend@else.test", malformed: true }]
      )
    })
  )
})
