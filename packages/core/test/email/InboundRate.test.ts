import { DEFAULT_MAIL_POLICY, InboundMails, type InboundPerHour, MailPolicy, RateLimiter } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, failureOf, scenario } from "../support/Purchase.ts"

const under = (inboundPerHour: Partial<InboundPerHour>) =>
  Layer.merge(
    Layer.succeed(MailPolicy, {
      ...DEFAULT_MAIL_POLICY,
      inboundPerHour: { ...DEFAULT_MAIL_POLICY.inboundPerHour, ...inboundPerHour }
    }),
    Layer.sync(RateLimiter.RateLimiter, RateLimiter.makeLocal)
  )

const ADDRESS = "ada@agents.test"
const offer = Effect.fnUntraced(function* (mailFrom: string, remoteAddress: string, rcptTo = [ADDRESS]) {
  const { accept } = yield* InboundMails
  return yield* accept(
    { mailFrom, rcptTo, remoteAddress, helo: "else.test", secure: true },
    new Uint8Array(9),
    mailFrom
  )
})
const refusalOf = (...mail: Parameters<typeof offer>) => Effect.map(failureOf(offer(...mail)), ({ refusal }) => refusal)

describe("the hourly limit of inbound mail", () => {
  scenario(
    "applies to one sender, at RCPT and DATA, whatever its plus-tag, and recovers with time",
    () =>
      Effect.gen(function* () {
        yield* adasMailbox
        const { admit } = yield* InboundMails
        yield* offer("Friend@else.test", "192.0.2.1")
        yield* admit(ADDRESS, { mailFrom: "friend@else.test", remoteAddress: "192.0.2.1" })
        yield* offer("friend+a@else.test", "192.0.2.2")
        assert.strictEqual(yield* refusalOf("friend+b@ELSE.test", "192.0.2.3"), "too much mail")
        const error = yield* failureOf(admit(ADDRESS, { mailFrom: "friend@else.test", remoteAddress: "192.0.2.1" }))
        assert.strictEqual(error.refusal, "too much mail")
        yield* offer("other@else.test", "192.0.2.1")
        yield* TestClock.adjust("30 minutes")
        yield* offer("friend@else.test", "192.0.2.1")
      }),
    under({ sender: 2 })
  )

  scenario(
    "accepts a sender from its own network while another network exceeds the limit in the sender's name",
    () =>
      Effect.gen(function* () {
        yield* adasMailbox
        yield* offer("noreply@bank.test", "203.0.113.1")
        assert.strictEqual(yield* refusalOf("noreply@bank.test", "203.0.113.1"), "too much mail")
        yield* offer("noreply@bank.test", "192.0.2.1")
      }),
    under({ sender: 1 })
  )

  scenario(
    "applies to one network, whatever sender it claims, including bounces",
    () =>
      Effect.gen(function* () {
        yield* adasMailbox
        yield* offer("a@else.test", "2001:db8:1:2::1")
        yield* offer("", "2001:db8:1:2:ffff::2")
        assert.strictEqual(yield* refusalOf("b@else.test", "2001:db8:1:3:3:4:5:6"), "too much mail")
        yield* offer("b@else.test", "2001:db8:2:3::1")
      }),
    under({ network: 2 })
  )

  scenario(
    "applies to one mailbox, and counts one mail to several of its addresses once",
    () =>
      Effect.gen(function* () {
        yield* adasMailbox
        yield* offer("a@else.test", "192.0.2.1", [ADDRESS, "ada+x@agents.test", "ADA+y@agents.test"])
        yield* offer("b@else.test", "198.51.100.1")
        assert.strictEqual(yield* refusalOf("c@else.test", "203.0.113.1", ["ada+z@agents.test"]), "too much mail")
      }),
    under({ mailbox: 2 })
  )

  scenario("does not exist without a rate limiter", () =>
    Effect.gen(function* () {
      yield* adasMailbox
      for (const _ of Array.from({ length: 20 })) yield* offer("a@else.test", "192.0.2.1")
    }).pipe(Effect.provideService(RateLimiter.RateLimiter, RateLimiter.unlimited))
  )
})
