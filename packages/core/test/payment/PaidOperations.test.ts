import {
  LedgerCheck,
  type Answer,
  mailboxCreation,
  Mailboxes,
  OperationStore,
  PaidOperations,
  PaymentRail,
  TenantStore,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as UnclaimedPayment from "../../src/payment/UnclaimedPayment.ts"
import * as TestHost from "../support/TestHost.ts"
import {
  ADA,
  adasMailbox,
  balances,
  BOB,
  boundNonceOf,
  challengeOf,
  create,
  eventsOf,
  failureOf,
  type Host,
  NotAdmitted,
  type Offer,
  order,
  pay,
  replayed,
  requestOf,
  returnDebts,
  scenario,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

/** The terms after an operator has changed the configuration. */
const OTHER_TERMS = {
  payTo: "0x00000000000000000000000000000000000000b3",
  maxTimeoutSeconds: 60,
  extra: { name: "Tether", version: "2" }
}

describe("PaidOperations", () => {
  scenario("requests payment, and stores nothing", (host) =>
    Effect.gen(function* () {
      yield* challengeOf()
      assert.deepStrictEqual(yield* balances, {})
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("checks the service once for a challenge, once for a purchase, and not for its replay", () =>
    Effect.gen(function* () {
      let checks = 0
      const counted = Effect.map(mailboxCreation, (service) => ({
        ...service,
        check: (...given: Parameters<typeof service.check>) => {
          checks++
          return service.check(...given)
        }
      }))
      const checksOf = Effect.fnUntraced(function* (offer: Offer) {
        checks = 0
        yield* Effect.result(order(counted, offer, { localPart: "ada" }))
        return checks
      })
      const signature = pay(yield* challengeOf(), ADA, "01")
      assert.strictEqual(yield* checksOf({}), 1)
      assert.strictEqual(yield* checksOf({ signature }), 1)
      assert.strictEqual(yield* checksOf({ signature }), 0)
      assert.deepStrictEqual(yield* balances, { received: -250_000n, fulfilled: 250_000n })
    })
  )

  scenario("replays the receipt that was signed at the delivery, also under a new key", (host) =>
    Effect.gen(function* () {
      const second = pay(yield* challengeOf(), ADA, "02")
      const { answer, signature } = yield* adasMailbox
      host.keyring.activeKeyId = 2
      yield* TestClock.adjust("2 minutes")
      const repeated = yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(repeated.receipt, answer.receipt)
      const next = yield* create({ localPart: "grace" }, { signature: second, key: "key-2" })
      const keyIdOf = ({ receipt }: Answer) => {
        const jws = /"signature":"(?<header>[\w-]+)\./.exec(Buffer.from(receipt, "base64").toString())
        return Buffer.from(jws?.groups?.["header"] ?? "", "base64url").toString()
      }
      assert.include(keyIdOf(answer), "#key-1")
      assert.include(keyIdOf(next), "#key-2")
    })
  )

  scenario("charges once, fulfills once and always replays the same bytes", (host) =>
    Effect.gen(function* () {
      const { answer, signature, tenant } = yield* adasMailbox
      for (const repeated of [yield* replayed({ signature }), yield* create({ localPart: "ada" }, { signature })]) {
        assert.deepStrictEqual(Redacted.value(repeated.body), Redacted.value(answer.body))
        assert.strictEqual(repeated.receipt, answer.receipt)
      }
      assert.match(Redacted.value(answer.body), /"accessToken":"at_v1_\w+"/)
      assert.isTrue(answer.created)
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.lengthOf(yield* (yield* Mailboxes).list(tenant), 1)
      assert.deepStrictEqual(yield* balances, { received: -250_000n, fulfilled: 250_000n })
    })
  )

  scenario("says that an answer is no longer kept, and charges and delivers nothing again", (host) =>
    Effect.gen(function* () {
      const other = pay(yield* challengeOf(), ADA, "03")
      const { signature, tenant } = yield* adasMailbox
      assert.strictEqual(yield* (yield* OperationStore).removeAnswers({ age: 0, limit: 9 }), 1)
      assert.strictEqual((yield* failureOf(replayed({ signature }))).error._tag, "AnswerExpired")
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "AnswerExpired")
      const another = yield* failureOf(create({ localPart: "ada" }, { signature: other }))
      assert.strictEqual(another._tag, "IdempotencyConflict")
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.lengthOf(yield* (yield* Mailboxes).list(tenant), 1)
      assert.deepStrictEqual(yield* balances, { received: -250_000n, fulfilled: 250_000n })
    })
  )

  scenario("replays the answer of a payment in a token that is no longer accepted", (host) =>
    Effect.gen(function* () {
      const forged = pay(yield* challengeOf(), ADA, "01", true)
      const { answer, signature } = yield* adasMailbox
      host.payments.outage.retired = true
      const again = yield* replayed({ signature })
      assert.strictEqual(Redacted.value(again.body), Redacted.value(answer.body))
      // Without an authenticated signer, only a request that repeats the claimed proof byte for byte learns the result.
      const nothing = yield* failureOf(replayed({ signature: forged }))
      assert.deepStrictEqual(nothing, { error: new NotAdmitted(), paymentState: "none" })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("delays a payment whose signer can't be determined, and claims nothing", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      const paid = yield* PaidOperations
      host.payments.outage.authentication = true
      const expected = { _tag: "OperationDelayed", paymentState: "unknown" } as const
      assert.deepInclude(yield* failureOf(create({ localPart: "ada" }, { signature })), expected)
      assert.deepInclude((yield* failureOf(replayed({ signature }))).error, expected)
      assert.strictEqual(yield* paid.paymentState(signature), "unknown")
      assert.deepStrictEqual(yield* balances, {})
      assert.lengthOf(host.payments.shown, 0)
      host.payments.outage.authentication = false
      yield* create({ localPart: "ada" }, { signature })
    })
  )

  scenario("replays an answer to the same bytes without asking who signed them", (host) =>
    Effect.gen(function* () {
      const other = pay(yield* challengeOf(), ADA, "02")
      const { answer, signature } = yield* adasMailbox
      host.payments.outage.authentication = true
      const before = host.payments.authentications()
      const paid = yield* PaidOperations
      const again = yield* replayed({ signature })
      assert.strictEqual(Redacted.value(again.body), Redacted.value(answer.body))
      assert.strictEqual(yield* paid.paymentState(signature), "settled")
      assert.strictEqual(host.payments.authentications(), before)
      // Another payment under the same key learns nothing from an operation that its signer may not own.
      const refused = yield* failureOf(replayed({ signature: other }))
      assert.deepInclude(refused.error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
    })
  )

  scenario("stores no secret in the answer", () =>
    Effect.gen(function* () {
      const { answer } = yield* adasMailbox
      const stored = Option.getOrThrow(yield* (yield* OperationStore).find(answer.operationId))
      assert.notInclude(JSON.stringify(stored.answer), "at_v1_")
      assert.deepStrictEqual(
        stored.answer?.slots.map(({ kind }) => kind),
        ["access-token"]
      )
    })
  )

  scenario("rejects a key or a proof that belongs to another request", (host) =>
    Effect.gen(function* () {
      const other = pay(yield* challengeOf(), ADA, "02")
      const { signature } = yield* adasMailbox
      const input = { localPart: "ada" }
      const attempts = [
        create(input, { signature, key: "key-2" }),
        create(input, { signature, body: "another body" }),
        create(input, { signature: other }),
        create(input, { signature: `${signature} ` })
      ]
      for (const attempt of attempts) assert.strictEqual((yield* failureOf(attempt))._tag, "IdempotencyConflict")
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("executes one of a hundred copies, and replays its answer to the others", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      const copy = Effect.result(create({ localPart: "ada" }, { signature }))
      const results = yield* Effect.all(
        Array.from({ length: 100 }, () => copy),
        { concurrency: "unbounded" }
      )
      const answers = new Set<string>()
      for (const result of results) {
        if (Result.isSuccess(result)) answers.add(Redacted.value(result.success.body))
        else assert.strictEqual(result.failure._tag, "PaymentPending")
      }
      assert.lengthOf([...answers], 1)
      assert.isTrue(answers.has(Redacted.value((yield* create({ localPart: "ada" }, { signature })).body)))
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )

  scenario(
    "answers for a copy that is claimed while the chain shows a use of the payment before its transfer",
    (host) =>
      Effect.gen(function* () {
        const { rail } = host.payments
        const { findSettlement } = rail
        const [reading, claimed] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
        let isUsed = true
        let waits = true
        const unsettled = Effect.gen(function* () {
          waits = false
          yield* reading.open
          yield* claimed.await
          return { _tag: "Unsettled" } as const
        })
        Object.assign(rail, {
          readNonce: () => Effect.sync(() => ({ used: isUsed, block: 1n })),
          findSettlement: (...asked: Parameters<typeof findSettlement>) =>
            Effect.suspend(() => (waits ? unsettled : findSettlement(...asked)))
        } satisfies Partial<typeof rail>)
        const signature = pay(yield* challengeOf(), ADA, "01")
        const first = yield* Effect.forkChild(create({ localPart: "ada" }, { signature }))
        yield* reading.await
        isUsed = false
        const { body } = yield* create({ localPart: "ada" }, { signature })
        isUsed = true
        yield* claimed.open
        assert.strictEqual(Redacted.value((yield* Fiber.join(first)).body), Redacted.value(body))
        assert.strictEqual(host.payments.transfers.get(ADA), 1)
      })
  )

  scenario("gives a name to one of two wallets, and charges only that one", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      const results = yield* Effect.all(
        [ADA, BOB].map((wallet, index) =>
          Effect.result(create({ localPart: "ada" }, { signature: pay(challenge, wallet, `0${index}`) }))
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        results.map((result) => (Result.isSuccess(result) ? "created" : result.failure._tag)),
        ["created", "Conflict"]
      )
      assert.deepStrictEqual([...host.payments.transfers], [[ADA, 1]])
    })
  )

  scenario("determines the result of a lost facilitator answer from the chain", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("lose the answer")
      yield* adasMailbox
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )

  scenario("does not wait for a hanging facilitator once the chain shows the payment", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("hang")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const answer = yield* underClock(create({ localPart: "ada" }, { signature }))
      assert.isTrue(answer.created)
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )

  scenario("ends a request whose provider does not answer, and completes the claimed operation", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      yield* host.relay.close
      const waiting = yield* Effect.forkChild(Effect.flip(attempt(signature)))
      yield* TestClock.adjust("20 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "PaymentPending", paymentState: "settled" })
      yield* host.relay.open
      yield* TestClock.adjust("1 second")
      assert.lengthOf(host.sent, 1)
      yield* attempt(signature)
      assert.lengthOf(host.sent, 1)
    })
  )

  scenario("ends a request that is not admitted in time, and claims nothing after it", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      const admission = Latch.makeUnsafe(false)
      const [{ pay: send }, service] = yield* Effect.all([PaidOperations, mailboxCreation])
      const request = requestOf("email.mailbox.create", {})
      const admitted = Effect.as(admission.await, { localPart: "ada" })
      const waiting = yield* Effect.forkChild(Effect.flip(send(service, request, signature, admitted)))
      yield* TestClock.adjust("25 seconds")
      const { error } = yield* Fiber.join(waiting)
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
      yield* admission.open
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("never answers an unknown settlement with 402, and submits the same authorization again", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const error = yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      assert.deepInclude(error, { _tag: "PaymentPending", paymentState: "unknown" })
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.strictEqual(host.payments.settleCalls(), 2)
    })
  )

  scenario("reports an unknown settlement as pending if its repetition is refused", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before", "refuse")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const buy = create({ localPart: "ada" }, { signature })
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = yield* failureOf(underClock(buy))
        assert.deepInclude(error, { _tag: "PaymentPending", paymentState: "unknown" })
      }
      assert.strictEqual(host.payments.settleCalls(), 2)
      yield* buy
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("refunds a payment of which the token kept a fee", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("keep a fee")
      const buy = create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), ADA, "01") })
      const error = yield* failureOf(underClock(buy))
      assert.deepInclude(error, { _tag: "OperationRejected", paymentState: "refund_due" })
      assert.include(error.message, "The token kept a fee of the payment")
      yield* returnDebts
      assert.deepInclude(yield* failureOf(buy), { _tag: "OperationRejected", paymentState: "refunded" })
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 250_000n }])
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepStrictEqual(chain?.unclaimed, [])
      assert.lengthOf(chain?.problems ?? [], 1)
      assert.match(
        chain?.problems[0] ?? "",
        /is paid, but the chain shows 249750 of 250000 in 0x01: the token kept a fee$/
      )
    })
  )

  scenario("keeps the claim of a refused payment, so that the name stays reserved", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("refuse")
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, {
        _tag: "PaymentPending",
        paymentState: "unknown",
        refusal: "the facilitator refuses"
      })
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "PaymentPending")
      const bobs = create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
      assert.strictEqual((yield* failureOf(bobs))._tag, "Conflict")
      assert.strictEqual(host.payments.settleCalls(), 1)
      assert.deepStrictEqual(yield* balances, {})
    })
  )

  scenario("releases the name when the authorization was used for something else", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("use otherwise")
      const challenge = yield* challengeOf()
      const error = yield* failureOf(create({ localPart: "ada" }, { signature: pay(challenge, ADA, "01") }))
      assert.deepInclude(error, { _tag: "PaymentRequired", reason: "cancelled by its owner" })
      yield* create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02") })
      assert.deepStrictEqual([...host.payments.transfers], [[BOB, 1]])
    })
  )

  for (const [how, use] of [
    ["cancelled, or spent elsewhere", (host, signature) => host.payments.end(signature, "used otherwise")],
    [
      "paid with before its challenge was issued",
      (host, signature) => {
        host.payments.useNonce(signature)
        host.payments.outage.late = true
      }
    ]
  ] satisfies ReadonlyArray<readonly [string, (host: Host, signature: string) => void]>) {
    scenario(`buys nothing and refunds nothing for an authorization that was ${how}`, (host) =>
      Effect.gen(function* () {
        const signature = pay(yield* challengeOf(), ADA, "01")
        use(host, signature)
        for (let i = 0; i < 2; i++) {
          const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
          assert.deepInclude(error, { _tag: "IdempotencyConflict", paymentState: "none" })
        }
        assert.deepStrictEqual([host.payments.shown, yield* balances], [[], {}])
      })
    )
  }

  scenario("searches for the transfer from 15 s before the challenge was issued", ({ payments }) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      const proof = yield* payments.rail.decodeProof(signature)
      const [offered] = payments.rail.terms(250_000n)
      const terms = { ...offered!, extra: { issuedAt: 1_000 * Timestamp.SECOND } }
      const asked: Array<number> = []
      const rail = PaymentRail.of({
        ...payments.rail,
        blockBefore: (_token, moment) => Effect.sync(() => BigInt(asked.push(moment)))
      })
      payments.useNonce(signature)
      yield* UnclaimedPayment.find(rail, proof, terms)
      assert.deepStrictEqual(asked, [985 * Timestamp.SECOND])
    })
  )

  scenario("issues no challenge while no network sells at the price, and honors earlier challenges", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.unsoldBelow.price = 250_001n
      const refused = yield* failureOf(create({ localPart: "grace" }))
      assert.deepInclude(refused, { _tag: "SaleStopped", serviceId: "email.mailbox.create" })
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      host.payments.unsoldBelow.price = 250_000n
      assert.strictEqual((yield* failureOf(create({ localPart: "grace" })))._tag, "PaymentRequired")
    })
  )

  scenario("honors a challenge after the terms have changed, and charges by the old ones", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.change(OTHER_TERMS)
      const { operationId } = yield* create({ localPart: "ada" }, { signature })
      const { terms } = Option.getOrThrow(yield* (yield* OperationStore).find(operationId))
      assert.deepInclude(terms, { payTo: "0x00000000000000000000000000000000000000b2", maxTimeoutSeconds: 30 })
      assert.deepInclude(terms.extra, { name: "USDT0", version: "1" })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  it.effect("accepts at one server the offer of a server of another version, 100 times in both directions", () =>
    Effect.gen(function* () {
      const [older, newer] = [TestHost.make(), TestHost.make()]
      newer.payments.change({ extra: { name: "USDT0", version: "1", later: "yes", level: 7 } })
      const servers = yield* Effect.all([Layer.build(older.layer), Layer.build(newer.layer)])
      for (let purchase = 0; purchase < 100; purchase++) {
        const [issuer, payee] = purchase % 2 === 0 ? servers : servers.toReversed()
        const body = `purchase ${purchase}`
        const challenge = yield* Effect.provide(challengeOf({ body }), issuer!)
        const offer = { body, key: body, signature: pay(challenge, ADA, body) }
        yield* Effect.provide(create({ localPart: `agent-${purchase}` }, offer), payee!)
      }
      assert.deepStrictEqual(
        [older, newer].map(({ payments }) => payments.transfers.get(ADA)),
        [50, 50]
      )
    })
  )

  scenario("refunds a transfer that a third party submitted before the claim, and delivers nothing", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "PaymentReturned", paymentState: "refund_due" })
      assert.deepStrictEqual(host.payments.shown, [])
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refundDue: 250_000n })
      // The name is available, because nothing was reserved.
      yield* create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), BOB, "02"), key: "key-2" })
    })
  )

  scenario("refunds it although the terms have changed since the challenge", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      host.payments.change(OTHER_TERMS)
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "PaymentReturned", paymentState: "refund_due" })
      yield* returnDebts
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 250_000n }])
    })
  )

  scenario("refunds it once, even if the payment is presented again with another key", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      host.payments.useNonce(signature)
      const first = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepStrictEqual(yield* failureOf(create({ localPart: "ada" }, { signature })), first)
      const another = yield* failureOf(create({ localPart: "ada" }, { signature, key: "key-2" }))
      assert.deepInclude(another, { _tag: "IdempotencyConflict", paymentState: "refund_due" })
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refundDue: 250_000n })
      yield* returnDebts
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 250_000n }])
      const last = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(last, { _tag: "PaymentReturned", paymentState: "refunded" })
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refunded: 250_000n })
      const adas = Option.getOrThrow(yield* (yield* TenantStore).findByWallet(walletAddress(ADA)))
      const [failed, refunded, ...more] = yield* eventsOf(adas)
      assert.deepStrictEqual([failed?.type, refunded?.type, more], ["payment.failed", "payment.refunded", []])
      assert.deepInclude(refunded!.payload, {
        operationId: failed!.payload["operationId"],
        amount: { amount: "0.25", asset: "USDT" },
        paymentTransaction: failed!.payload["transaction"],
        paymentState: "refunded"
      })
      assert.notStrictEqual(refunded!.payload["transaction"], refunded!.payload["paymentTransaction"])
    })
  )

  scenario("refunds it under a nonce derived from its authorization, so only once even after a database loss", (host) =>
    Effect.gen(function* () {
      const returned = Effect.gen(function* () {
        const signature = pay(yield* challengeOf(), ADA, "01")
        return { signature, error: create({ localPart: "ada" }, { signature }) }
      })
      const first = yield* returned
      host.payments.useNonce(first.signature)
      yield* failureOf(first.error)
      yield* returnDebts
      // A second operation for the same payment on the same chain, in an empty database.
      const restored = TestHost.make(host.payments)
      yield* Effect.gen(function* () {
        yield* failureOf((yield* returned).error)
        yield* returnDebts
        const last = yield* failureOf((yield* returned).error)
        assert.strictEqual(last._tag, "IdempotencyConflict")
      }).pipe(Effect.provide(restored.layer, { local: true }))
      assert.lengthOf([...host.payments.refunds], 1)
    })
  )

  scenario("refunds the payer when a thief presents the payment with their own challenge", (host) =>
    Effect.gen(function* () {
      const [victims, thiefs] = [yield* challengeOf(), yield* challengeOf({ body: "thief" })]
      host.payments.useNonce(pay(victims, ADA, "01"))
      const stolen = create({ localPart: "thief" }, { signature: pay(thiefs, ADA, "01"), key: "t", body: "thief" })
      assert.strictEqual((yield* failureOf(stolen))._tag, "PaymentReturned")
      const victim = yield* failureOf(create({ localPart: "ada" }, { signature: pay(victims, ADA, "01") }))
      assert.deepInclude(victim, { _tag: "IdempotencyConflict", paymentState: "refund_due" })
      yield* returnDebts
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 250_000n }])
    })
  )

  scenario("refunds it when the use is found only after the claim", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      host.payments.useNonceOnceRead(signature)
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "PaymentReturned", paymentState: "refund_due" })
      assert.deepStrictEqual(host.payments.shown, [])
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refundDue: 250_000n })
      yield* create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
    })
  )

  scenario("refunds it even if the service was unavailable, or the challenge has expired", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      const expired = pay(yield* challengeOf({ body: "expired" }), ADA, "02")
      yield* create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), BOB, "03"), key: "bob" })
      host.payments.useNonce(signature)
      const taken = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.strictEqual(taken._tag, "PaymentReturned")
      host.payments.useNonce(expired)
      yield* TestClock.adjust("20 minutes")
      const late = yield* failureOf(create({ localPart: "eve" }, { signature: expired, key: "k2", body: "expired" }))
      assert.strictEqual(late._tag, "PaymentReturned")
      assert.deepStrictEqual(yield* balances, { received: -750_000n, fulfilled: 250_000n, refundDue: 500_000n })
    })
  )

  scenario("does not guess while the chain's logs lag behind its state", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      host.payments.outage.logs = true
      const error = yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
      assert.deepStrictEqual(yield* balances, {})
      host.payments.outage.logs = false
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "PaymentReturned")
    })
  )

  scenario("reads the chain again for some seconds while its logs lag behind its state", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      host.payments.outage.logs = true
      const asked = yield* Effect.forkChild(failureOf(create({ localPart: "ada" }, { signature })))
      yield* TestClock.adjust("2 seconds")
      host.payments.outage.logs = false
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(asked))._tag, "PaymentReturned")
    })
  )

  scenario("reports an unknown payment state while the chain is unreachable, before any other problem", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      yield* create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), BOB, "02"), key: "bob" })
      host.payments.outage.chain = true
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
      host.payments.outage.chain = false
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "Conflict")
    })
  )

  scenario(
    "refunds nothing for a challenge of another request, or to a wallet other than that of the access token",
    (host) =>
      Effect.gen(function* () {
        const other = yield* challengeOf()
        const { attempt, challenge } = yield* sendPaid
        const elsewhere = pay(other, ADA, "05")
        const bobs = pay(challenge, BOB, "06")
        const before = yield* balances
        for (const signature of [elsewhere, bobs]) {
          host.payments.useNonce(signature)
          const error = yield* failureOf(attempt(signature))
          assert.deepInclude(error, { _tag: "IdempotencyConflict", paymentState: "unknown" })
        }
        assert.deepStrictEqual(yield* balances, before)
      })
  )

  scenario("reveals the authorization to no other system before the claim", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      host.payments.outage.poor = true
      const poor = yield* failureOf(create({ localPart: "ada" }, { signature: pay(challenge, ADA, "01") }))
      assert.deepInclude(poor, { _tag: "PaymentRequired", reason: "The wallet holds too little" })
      assert.deepStrictEqual(host.payments.shown, [])
      host.payments.outage.poor = false
      yield* create({ localPart: "ada" }, { signature: pay(challenge, ADA, "01") })
      assert.deepStrictEqual(host.payments.shown, ["01", "01"])
    })
  )

  scenario("refuses a payment whose simulation fails, does not submit it, and keeps the claim", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      host.payments.outage.simulation = "fails"
      for (let i = 0; i < 2; i++) {
        const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
        assert.deepInclude(error, {
          _tag: "PaymentPending",
          paymentState: "unknown",
          refusal: "The transfer would fail"
        })
      }
      host.payments.outage.simulation = "passes"
      const bobs = create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
      assert.strictEqual((yield* failureOf(bobs))._tag, "Conflict")
      assert.strictEqual(host.payments.settleCalls(), 0)
      // A third party that holds the authorization submits it after all. The client is not told to sign again.
      host.payments.useNonce(signature)
      const used = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(used, { _tag: "PaymentPending", paymentState: "unknown" })
    })
  )

  scenario("submits nothing and refuses nothing while the simulation is unavailable", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.outage.simulation = "away"
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "OperationDelayed", paymentState: "unknown" })
      assert.strictEqual(host.payments.settleCalls(), 0)
      host.payments.outage.simulation = "passes"
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("does not refuse a repeated submission when its simulation fails", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      host.payments.outage.simulation = "fails"
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "PaymentPending", paymentState: "unknown" })
      assert.strictEqual(host.payments.settleCalls(), 1)
      host.payments.outage.simulation = "passes"
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  for (const how of ["expired", "used otherwise"] as const) {
    scenario(`reads the chain before it submits again: ${how}`, (host) =>
      Effect.gen(function* () {
        host.payments.script.push("fail before")
        const challenge = yield* challengeOf()
        const signature = pay(challenge, ADA, "01")
        yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
        host.payments.end(signature, how)
        for (let i = 0; i < 2; i++) {
          const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
          assert.strictEqual(error._tag, "PaymentRequired")
        }
        assert.strictEqual(host.payments.settleCalls(), 1)
        yield* create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
        assert.deepStrictEqual([...host.payments.transfers], [[BOB, 1]])
      })
    )
  }

  scenario("claims nothing while the chain is unreachable, and continues afterward", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.outage.chain = true
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
      host.payments.outage.chain = false
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("claims nothing while the payer's balance can't be read", (host) =>
    Effect.gen(function* () {
      host.payments.outage.verify = true
      const error = yield* failureOf(create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), ADA, "01") }))
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "unknown" })
    })
  )

  scenario("rejects an invalid payment, or one for another request, with a challenge and the reason", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      const elsewhere = pay(yield* challengeOf({ body: "elsewhere" }), ADA, "01")
      const forged = pay(challenge, ADA, "02", true)
      for (const signature of ["garbage", elsewhere, forged]) {
        const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
        assert.strictEqual(error._tag, "PaymentRequired")
        assert.isTrue(error._tag === "PaymentRequired" && (error.reason ?? "").length > 0)
      }
      for (const key of [null, "", "k".repeat(256)]) {
        const error = yield* failureOf(create({ localPart: "ada" }, { signature: pay(challenge, ADA, "03"), key }))
        assert.strictEqual(error._tag, "InvalidRequest")
      }
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("gives a thief nothing for an unbound authorization that its owner's operation has claimed", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const [victims, thiefs] = [yield* challengeOf(), yield* challengeOf({ body: "thief" })]
      const signature = pay(victims, ADA, "01")
      yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      // The facilitator and the node have seen the authorization by now, but it is not settled.
      for (const key of ["thief", "key-1"]) {
        const offer = { signature: pay(thiefs, ADA, "01"), key, body: "thief" }
        const stolen = yield* failureOf(create({ localPart: "thief" }, offer))
        assert.deepInclude(stolen, { _tag: "IdempotencyConflict", paymentState: "unknown" })
      }
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("rejects an authorization that is bound to another challenge, and does not submit it", (host) =>
    Effect.gen(function* () {
      const [victims, thiefs] = [yield* challengeOf(), yield* challengeOf()]
      const nonce = boundNonceOf(victims)
      const stolen = yield* failureOf(
        create({ localPart: "ada" }, { signature: pay(thiefs, ADA, nonce), key: "thief" })
      )
      assert.strictEqual(stolen._tag, "PaymentRequired")
      assert.include(
        stolen._tag === "PaymentRequired" ? stolen.reason : "",
        "bound to the challenge of another request"
      )
      assert.strictEqual(host.payments.settleCalls(), 0)
      yield* create({ localPart: "ada" }, { signature: pay(victims, ADA, nonce) })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("continues after the client has disconnected", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const fiber = yield* Effect.forkChild(create({ localPart: "ada" }, { signature }))
      yield* Effect.yieldNow
      host.payments.useNonce(signature)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("5 seconds")
      const answer = yield* create({ localPart: "ada" }, { signature })
      assert.isTrue(answer.created)
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )
})

describe("a paid service with an external effect", () => {
  scenario("sends one mail and returns its Message-ID", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      const answer = yield* attempt(pay(challenge, ADA, "02"))
      assert.include(Redacted.value(answer.body), host.sent[0]!.messageIdHeader)
      assert.lengthOf(host.sent, 1)
    })
  )

  scenario("repeats the same Message-ID after a lost answer", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Unknown", "Temporary", "Misconfigured")
      const { attempt, challenge } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      for (let i = 0; i < 3; i++) {
        const error = yield* failureOf(attempt(signature))
        assert.deepInclude(error, { _tag: "OperationDelayed", paymentState: "settled" })
        assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, inFlight: 20_000n })
      }
      yield* attempt(signature)
      assert.lengthOf(host.sent, 2)
      assert.strictEqual(host.sent[0]!.messageIdHeader, host.sent[1]!.messageIdHeader)
      assert.strictEqual(host.payments.transfers.get(ADA), 2)
    })
  )

  scenario("owes a refund when the provider refuses permanently", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      const { attempt, challenge } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      for (let i = 0; i < 2; i++) {
        const error = yield* failureOf(attempt(signature))
        assert.deepInclude(error, { _tag: "OperationRejected", paymentState: "refund_due" })
      }
      assert.lengthOf(host.sent, 0)
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refundDue: 20_000n })
    })
  )

  scenario("accepts payment only from the token's wallet", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      const error = yield* failureOf(attempt(pay(challenge, BOB, "02")))
      assert.deepInclude(error, { _tag: "PayerMismatch", payer: BOB })
      assert.isUndefined(host.payments.transfers.get(BOB))
    })
  )
})
