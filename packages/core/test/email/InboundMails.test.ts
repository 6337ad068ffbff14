import { InboundMails, InboundMailStore, Mailboxes, MailParser, MailUnreadable } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, eventsOf, scenario } from "../support/Purchase.ts"

const envelope = {
  mailFrom: "friend@else.test",
  rcptTo: ["ada@agents.test"],
  remoteAddress: "192.0.2.1",
  helo: "else.test",
  secure: false
}
const raw = (text: string) => new TextEncoder().encode(`Subject: ${text}\r\n\r\n${text}\r\n`)

/** A store that fails to complete a mail of this size. */
const brokenFor = Effect.fnUntraced(function* (sizeBytes: number) {
  const store = yield* InboundMailStore
  const broken = new Set<string>()
  return InboundMailStore.of({
    ...store,
    lease: (limit, millis) =>
      Effect.tap(store.lease(limit, millis), (mails) =>
        Effect.sync(() =>
          mails.filter((mail) => mail.sizeBytes === sizeBytes).forEach((mail) => broken.add(mail.inboundMailId))
        )
      ),
    complete: (id) => (broken.has(id) ? Effect.die(new Error("the disk is full")) : store.complete(id))
  })
})

describe("delivering inbound mail", () => {
  scenario("does not delay mails when another one can't be delivered", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const store = yield* brokenFor(raw("broken").length)
      yield* Effect.gen(function* () {
        const inbound = yield* InboundMails
        yield* inbound.accept(envelope, raw("broken"))
        yield* Effect.forEach(["one", "two", "three"], (text) => inbound.accept(envelope, raw(text)))
        assert.strictEqual(yield* inbound.deliverWaiting, 4)
      }).pipe(
        Effect.provide(Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(InboundMailStore, store))))
      )
      const { items } = yield* (yield* Mailboxes).listMessages(tenant, undefined, {})
      assert.lengthOf(items, 3)
    })
  )

  scenario("stores one message of a mail that two workers parse concurrently, although it has no duplicate key", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const reading = yield* Latch.make(false)
      const goOn = yield* Latch.make(false)
      const slowParser = MailParser.of({
        parse: () =>
          Effect.andThen(Effect.andThen(reading.open, goOn.await), new MailUnreadable({ message: "not a mail" }))
      })
      const slow = yield* Effect.provide(
        InboundMails,
        Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(MailParser, slowParser)))
      )
      yield* slow.accept(envelope, raw("once"))
      const late = yield* Effect.forkChild(slow.deliverWaiting)
      yield* reading.await
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* (yield* InboundMails).deliverWaiting, 1)
      yield* goOn.open
      yield* Fiber.join(late)
      const { items } = yield* (yield* Mailboxes).listMessages(tenant, undefined, {})
      assert.lengthOf(items, 1)
      const told = (yield* eventsOf(tenant)).filter(({ type }) => type === "email.received")
      assert.lengthOf(told, 1)
      assert.lengthOf(yield* (yield* InboundMailStore).lease(10, 0), 0)
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
      yield* Effect.gen(function* () {
        const inbound = yield* InboundMails
        yield* inbound.accept(envelope, raw("fatal"))
        for (let attempt = 0; attempt < 4; attempt++) {
          assert.strictEqual(yield* inbound.deliverWaiting, 1)
          yield* TestClock.adjust("2 minutes")
        }
        assert.strictEqual(yield* inbound.deliverWaiting, 0)
      }).pipe(Effect.provide(Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(MailParser, parser)))))
      assert.strictEqual(reads, 3)
      const { items } = yield* (yield* Mailboxes).listMessages(tenant, undefined, {})
      assert.deepStrictEqual(
        items.map(({ from, malformed }) => ({ from, malformed })),
        [{ from: "friend@else.test", malformed: true }]
      )
    })
  )
})
