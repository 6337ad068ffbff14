import {
  InboundMails,
  Mailboxes,
  mailboxCreation,
  OperationCompletion,
  OperationStore,
  PaidOperations,
  Sales,
  SalesAdministration,
  type SalesScope,
  scopeOf,
  SalesStopStore,
  StopSalesInput,
  Timestamp
} from "@agentos/core"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  balances,
  BOB,
  challengeOf,
  create,
  deliverMail,
  eventsOf,
  failureOf,
  pay,
  replayed,
  requestOf,
  returnDebts,
  scenario,
  send,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

const REASON = "The relay is being moved."
const SEND = "email.message.send"
const CREATE = "email.mailbox.create"
const FIRST = "eip155:402402"
const SECOND = "eip155:56"
const MAIL = new TextEncoder().encode("Subject: Hello\r\n\r\nHello\r\n")

const stop = (scope: SalesScope, reason = REASON) =>
  Effect.flatMap(SalesAdministration, (sales) => sales.stop(scope, reason))
const start = (scope: SalesScope) => Effect.flatMap(SalesAdministration, (sales) => sales.start(scope))

describe("a stopped sale", () => {
  scenario("is neither offered nor charged, and is sold again after the start", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge, mailboxId, tenant } = yield* sendPaid
      yield* stop(SEND)
      const stopped = { _tag: "SaleStopped", serviceId: SEND, reason: REASON } as const
      assert.deepInclude(yield* failureOf(send(tenant, mailboxId, {})), stopped)
      const signature = pay(challenge, ADA, "02")
      assert.deepInclude(yield* failureOf(attempt(signature)), stopped)
      // A payment that can't be read is refused for the stop too, and gets no challenge.
      assert.deepInclude(yield* failureOf(attempt("unreadable")), stopped)
      const { list } = yield* OperationStore
      assert.lengthOf(yield* list({ payer: tenant.wallet, limit: 9 }), 1)
      assert.strictEqual(host.payments.settleCalls(), 1)
      assert.deepStrictEqual(yield* balances, { received: -250_000n, fulfilled: 250_000n })

      assert.isTrue((yield* start(SEND)).started)
      yield* attempt(signature)
      assert.strictEqual(host.payments.transfers.get(ADA), 2)
    })
  )

  scenario("is not offered to a wallet that asks for its price alone", () =>
    Effect.gen(function* () {
      const { challenge } = yield* PaidOperations
      yield* stop(CREATE)
      const refused = yield* failureOf(challenge(requestOf(CREATE, {})))
      assert.deepInclude(refused, { _tag: "SaleStopped", serviceId: CREATE })
    })
  )

  scenario("reports the state of a payment that is refused: unused", () =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      yield* stop("all")
      const paidOperations = yield* PaidOperations
      const request = requestOf(CREATE, {})
      const paid = paidOperations.pay(yield* mailboxCreation, request, signature, Effect.succeed({ localPart: "ada" }))
      const { error, paymentState } = yield* failureOf(paid)
      assert.deepStrictEqual([error._tag, paymentState], ["SaleStopped", "none"])
    })
  )

  for (const scope of ["all", FIRST] as const) {
    scenario(`is delivered to those who paid before, and their answers are repeated: ${scope}`, (host) =>
      Effect.gen(function* () {
        host.sendScript.push("Temporary", "Temporary")
        const { attempt, challenge } = yield* sendPaid
        const signature = pay(challenge, ADA, "02")
        assert.strictEqual((yield* failureOf(attempt(signature)))._tag, "OperationDelayed")
        yield* stop(scope)
        assert.lengthOf(host.sent, 0)
        yield* Effect.forkScoped(OperationCompletion.run)
        yield* TestClock.adjust("2 minutes")
        assert.lengthOf(host.sent, 1)
        const answer = yield* attempt(signature)
        assert.deepStrictEqual(yield* attempt(signature), answer)
        assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 270_000n })
      })
    )
  }

  scenario("completes the purchase that is claimed while the sale stops", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      yield* host.relay.close
      const waiting = yield* Effect.forkChild(attempt(pay(challenge, ADA, "02")))
      while (host.payments.settleCalls() < 2) yield* TestClock.adjust("10 millis")
      yield* stop("all")
      yield* host.relay.open
      yield* underClock(Fiber.join(waiting))
      assert.lengthOf(host.sent, 1)
    })
  )

  for (const scope of ["all", FIRST] as const) {
    scenario(`still refunds what its provider rejects: ${scope}`, (host) =>
      Effect.gen(function* () {
        const { attempt, challenge } = yield* sendPaid
        host.sendScript.push("Rejected")
        host.payments.refunding.mode = "no wallet"
        yield* failureOf(attempt(pay(challenge, ADA, "02")))
        yield* stop(scope)
        host.payments.refunding.mode = "pays"
        yield* TestClock.adjust("20 minutes")
        yield* returnDebts
        assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 20_000n }])
      })
    )
  }

  scenario("leaves reads, inbound mail, events, the replay of a purchase and other services as they are", () =>
    Effect.gen(function* () {
      const { answer, mailboxId, signature, tenant } = yield* adasMailbox
      yield* stop(CREATE)
      assert.strictEqual((yield* failureOf(send(tenant, mailboxId, {})))._tag, "PaymentRequired")
      yield* stop("all")
      assert.deepStrictEqual((yield* replayed({ signature })).body, answer.body)
      const envelope = { mailFrom: "friend@else.test", rcptTo: ["ada@agents.test"], remoteAddress: "192.0.2.1" }
      const inbound = yield* InboundMails
      yield* inbound.accept({ ...envelope, helo: "else.test", secure: false }, MAIL, envelope.mailFrom)
      yield* deliverMail(inbound)
      const { listMessages } = yield* Mailboxes
      assert.lengthOf((yield* listMessages(tenant, {}, {})).items, 1)
      assert.include(
        (yield* eventsOf(tenant)).map(({ type }) => type),
        "email.received"
      )
    })
  )
})

describe("a stopped network", () => {
  const networksOf = (challenge: string) => ScriptedRail.readChallenge(challenge).accepts.map(({ network }) => network)

  scenario("is left out of challenges, and a payment on it is refused unused until the start", (host) =>
    Effect.gen(function* () {
      host.payments.otherNetworks.push(SECOND)
      const signature = pay(yield* challengeOf(), ADA, "01")
      yield* stop(FIRST)
      assert.deepStrictEqual(networksOf(yield* challengeOf()), [SECOND])
      const stopped = { _tag: "SaleStopped", serviceId: CREATE, network: FIRST, reason: REASON } as const
      const request = requestOf(CREATE, {})
      const paidOperations = yield* PaidOperations
      const paid = paidOperations.pay(yield* mailboxCreation, request, signature, Effect.succeed({ localPart: "ada" }))
      const { error, paymentState } = yield* failureOf(paid)
      assert.deepInclude(error, stopped)
      assert.strictEqual(paymentState, "none")
      assert.strictEqual(host.payments.settleCalls(), 0)

      yield* stop(SECOND, "Its chain has halted.")
      const refused = { _tag: "SaleStopped", serviceId: CREATE, reason: REASON } as const
      assert.deepInclude(yield* failureOf(create({ localPart: "ada" })), refused)
      assert.deepInclude(yield* failureOf(paidOperations.challenge(request)), refused)
      assert.deepInclude(yield* failureOf(create({ localPart: "ada" }, { signature })), stopped)

      yield* start(SECOND)
      yield* create({ localPart: "bob" }, { signature: pay(yield* challengeOf(), BOB, "02"), key: "key-2" })
      yield* start(FIRST)
      assert.deepStrictEqual(networksOf(yield* challengeOf()), [FIRST, SECOND])
      yield* create({ localPart: "ada" }, { signature })
      assert.deepStrictEqual([...host.payments.transfers.values()], [1, 1])
    })
  )

  scenario("is left out of the challenge for a refused payment", (host) =>
    Effect.gen(function* () {
      host.payments.otherNetworks.push(SECOND)
      yield* stop(FIRST)
      const error = yield* failureOf(create({ localPart: "ada" }, { signature: "unreadable" }))
      assert.deepStrictEqual(error._tag === "PaymentRequired" && networksOf(error.challenge), [SECOND])
    })
  )

  scenario("is left out within 5 s of the stop on another server", (host) =>
    Effect.gen(function* () {
      host.payments.otherNetworks.push(SECOND)
      yield* challengeOf()
      const store = yield* SalesStopStore
      yield* store.put({ scope: FIRST, reason: REASON, at: yield* Timestamp.now })
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(networksOf(yield* challengeOf()), [SECOND])
    })
  )
})

describe("SalesAdministration", () => {
  scenario("changes the reason of a stop, and keeps the stops of single services when all are started", () =>
    Effect.gen(function* () {
      const since = Timestamp.toIso(yield* Timestamp.now)
      yield* stop(SEND)
      yield* stop("all", "Maintenance.")
      yield* TestClock.adjust("1 minute")
      const both = [
        { service: "all", at: since, reason: "Maintenance until 14:00." },
        { service: SEND, at: since, reason: REASON }
      ] as const
      assert.deepStrictEqual(yield* stop("all", "Maintenance until 14:00."), both)
      assert.deepInclude(yield* failureOf(create({ localPart: "eve" })), { reason: "Maintenance until 14:00." })
      const { stopped } = yield* Sales
      assert.strictEqual((yield* stopped).get(SEND)?.reason, REASON)
      assert.isFalse((yield* stopped).has("events.list"), "it is free")
      assert.deepStrictEqual(yield* start("all"), { started: true, stops: [both[1]] })
      assert.deepStrictEqual(yield* start("all"), { started: false, stops: [both[1]] })
      assert.deepStrictEqual(yield* start(SEND), { started: true, stops: [] })
    })
  )

  scenario("follows the stop of another server within 5 s, with one read of the store in that time", () =>
    Effect.gen(function* () {
      yield* challengeOf()
      const store = yield* SalesStopStore
      yield* store.put({ scope: CREATE, reason: REASON, at: yield* Timestamp.now })
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" })))._tag, "PaymentRequired", "it is cached")
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" })))._tag, "SaleStopped")
    })
  )

  scenario("shows the last known state in the catalog while the store does not answer", () =>
    Effect.gen(function* () {
      let isAway = false
      const store = yield* SalesStopStore
      yield* store.put({ scope: CREATE, reason: REASON, at: yield* Timestamp.now })
      const list = Effect.suspend(() => (isAway ? Effect.die(new Error("away")) : store.list))
      yield* Effect.gen(function* () {
        const { requireOnSale, stopped } = yield* Sales
        assert.isTrue((yield* stopped).has(CREATE))
        isAway = true
        yield* TestClock.adjust("4 seconds")
        assert.isTrue((yield* stopped).has(CREATE))
        assert.strictEqual((yield* Effect.exit(requireOnSale(SEND)))._tag, "Failure", "nothing is sold on a guess")
      }).pipe(Effect.provide(Layer.fresh(Sales.layer)), Effect.provideService(SalesStopStore, { ...store, list }))
    })
  )

  scenario("waits once for a silent store, and shows the catalog at once until it asks again", () =>
    Effect.gen(function* () {
      let reads = 0
      const store = yield* SalesStopStore
      const list = Effect.suspend(() => (reads++, Effect.never))
      yield* Effect.gen(function* () {
        const { stopped } = yield* Sales
        const first = yield* Effect.forkChild(stopped)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(first)).size, 0)
        assert.strictEqual((yield* stopped).size, 0, "without moving the clock")
        assert.strictEqual(reads, 1)
        yield* TestClock.adjust("4 seconds")
        const again = yield* Effect.forkChild(stopped)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(again)
        assert.strictEqual(reads, 2)
      }).pipe(Effect.provide(Layer.fresh(Sales.layer)), Effect.provideService(SalesStopStore, { ...store, list }))
    })
  )

  it("takes a line of text of up to 200 characters as the reason, and a paid service", () => {
    const accepts = Schema.is(StopSalesInput)
    for (const reason of ["", " ", "a\nb", "a\u0000", "x".repeat(201)]) assert.isFalse(accepts({ reason }), reason)
    for (const reason of [REASON, "Zurück um 14:00 👋", "x".repeat(200)]) assert.isTrue(accepts({ reason }), reason)
    for (const service of ["events.list", "domain.register", "x"]) {
      assert.isFalse(accepts({ service, reason: REASON }), service)
    }
    for (const service of ["all", SEND, "phone.number.us.30d"]) assert.isTrue(accepts({ service, reason: REASON }))
    for (const network of ["x", "eip155:", "eip155:56 ", "EIP155:56"]) {
      assert.isFalse(accepts({ network, reason: REASON }), network)
    }
    assert.isTrue(accepts({ network: "eip155:56", reason: REASON }))
    assert.isFalse(accepts({ network: "eip155:56", service: SEND, reason: REASON }), "two scopes")
    assert.isFalse(accepts({ country: "MX", reason: REASON }))
    assert.strictEqual(scopeOf({ country: "CA" }), "phone.number.ca.30d")
  })
})
