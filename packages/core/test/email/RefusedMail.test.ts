import { InboundMails, InboundMailStore, MailboxStore, type Tenant } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ADA, adasMailbox, create, failureOf, pay, scenario } from "../support/Purchase.ts"

const SENDER = { mailFrom: "friend@else.test", remoteAddress: "192.0.2.1" }
const to = (...rcptTo: ReadonlyArray<string>) => ({ ...SENDER, rcptTo, helo: "else.test", secure: false })
const raw = new Uint8Array(10)

const countsOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const all = yield* (yield* MailboxStore).list(tenant.tenantId)
  return Object.fromEntries(all.map(({ localPart, refused }) => [localPart, refused]))
})

/** A server in a scope, with the local parts whose counts it wrote. */
const serverIn = Effect.fnUntraced(function* (scope: Scope.Scope) {
  const store = yield* MailboxStore
  const writes: Array<string> = []
  const addRefused: typeof store.addRefused = (localPart, refused) => {
    writes.push(localPart)
    return store.addRefused(localPart, refused)
  }
  const layer = Layer.fresh(InboundMails.layer).pipe(
    Layer.provide(Layer.succeed(MailboxStore, { ...store, addRefused }))
  )
  const context = yield* Layer.buildWithScope(layer, scope)
  return { inbound: yield* Effect.provide(InboundMails, context), writes }
})

describe("refused mail", () => {
  scenario("is counted by reason in the mailboxes that it concerns, also if others receive it", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const bea = { localPart: "bea", senderPolicy: { block: ["foe.test"] } }
      const unpaid = yield* failureOf(create(bea, { tenant, key: "b" }))
      const signature = pay(unpaid._tag === "PaymentRequired" ? unpaid.challenge : "", ADA, "0b")
      yield* create(bea, { tenant, key: "b", signature })
      const inbound = yield* InboundMails
      yield* inbound.accept(to("ada@agents.test", "bea+x@agents.test"), raw, "x@foe.test")
      yield* failureOf(inbound.accept(to("bea@agents.test"), raw, "x@foe.test"))
      yield* inbound.refused(["ADA+news@agents.test", "ada@else.test"], "no single author")
      yield* failureOf(inbound.admit("nowhere@agents.test", SENDER))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* countsOf(tenant), { ada: { no_single_author: 1 }, bea: { sender_refused: 2 } })
      assert.lengthOf(yield* (yield* InboundMailStore).lease(10, 0), 1)
    })
  )

  scenario("costs a write in 10 seconds however much it is, and loses no count when the server closes", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const scope = yield* Scope.make()
      const { inbound, writes } = yield* serverIn(scope)
      const refuse = inbound.refused(["ada@agents.test"], "message too large")
      yield* refuse
      yield* TestClock.adjust("1 milli")
      assert.deepStrictEqual(yield* countsOf(tenant), { ada: { message_too_large: 1 } })
      yield* Effect.forEach(Array(500), () => refuse)
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(writes, 1)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(writes, 2)
      yield* refuse
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* countsOf(tenant), { ada: { message_too_large: 502 } })
    })
  )

  scenario("of many mailboxes is counted for a bounded number of them", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { inbound, writes } = yield* serverIn(scope)
      const addresses = Array.from({ length: 2_000 }, (_, index) => `r${index}@agents.test`)
      yield* inbound.refused(addresses, "message too large")
      yield* Scope.close(scope, Exit.void)
      assert.lengthOf(writes, 500)
    })
  )
})
