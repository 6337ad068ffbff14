import { Mailboxes, OperationStore, PaidOperations } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  balances,
  BOB,
  challengeOf,
  create,
  failureOf,
  pay,
  requestOf,
  scenario,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

describe("PaidOperations", () => {
  scenario("asks for payment, and stores nothing", (host) =>
    Effect.gen(function* () {
      yield* challengeOf()
      assert.deepStrictEqual(yield* balances, {})
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("charges once, fulfils once and answers the same bytes for ever", (host) =>
    Effect.gen(function* () {
      const { answer, signature, tenant } = yield* adasMailbox
      const paid = yield* PaidOperations
      const again = yield* paid.replay(requestOf("email.mailbox.create", { signature }))
      const executed = yield* create({ localPart: "ada" }, { signature })
      for (const repeated of [Option.getOrThrow(again), executed]) {
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

  scenario("answers from what was paid in a token that is no longer taken", (host) =>
    Effect.gen(function* () {
      const forged = pay(yield* challengeOf(), ADA, "01", true)
      const { answer, signature } = yield* adasMailbox
      host.payments.outage.retired = true
      const paid = yield* PaidOperations
      const again = yield* paid.replay(requestOf("email.mailbox.create", { signature }))
      assert.strictEqual(Redacted.value(Option.getOrThrow(again).body), Redacted.value(answer.body))
      // Without a proof of who pays, what stands under it is nobody's business but of who has its every byte.
      const nothing = yield* paid.replay(requestOf("email.mailbox.create", { signature: forged }))
      assert.isTrue(Option.isNone(nothing))
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("stores no secret with the answer", () =>
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

  scenario("refuses a key or a proof that stands for something else", (host) =>
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

  scenario("lets one of a hundred copies through, and answers the rest from it", (host) =>
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

  scenario("gives a name to one of two wallets, and charges that one alone", (host) =>
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

  scenario("finds on the chain what a lost answer left open", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("lose the answer")
      yield* adasMailbox
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )

  scenario("does not wait for a facilitator that hangs when the chain knows", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("hang")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const answer = yield* underClock(create({ localPart: "ada" }, { signature }))
      assert.isTrue(answer.created)
      assert.strictEqual(host.payments.settleCalls(), 1)
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

  scenario("keeps the claim of a refused payment, so that nobody else gets the name yet", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("refuse")
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "PaymentRequired", reason: "the facilitator refuses" })
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "PaymentRequired")
      const bobs = create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
      assert.strictEqual((yield* failureOf(bobs))._tag, "Conflict")
      assert.strictEqual(host.payments.settleCalls(), 1)
      assert.deepStrictEqual(yield* balances, {})
    })
  )

  scenario("frees the name when the authorization was spent on something else", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("use otherwise")
      const challenge = yield* challengeOf()
      const error = yield* failureOf(create({ localPart: "ada" }, { signature: pay(challenge, ADA, "01") }))
      assert.deepInclude(error, { _tag: "PaymentRequired", reason: "cancelled by its owner" })
      yield* create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02") })
      assert.deepStrictEqual([...host.payments.transfers], [[BOB, 1]])
    })
  )

  scenario("buys nothing with an authorization that was used before, and does not ask for another", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.strictEqual(error._tag, "IdempotencyConflict")
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("reads the nonce itself before it settles, whatever the facilitator verified", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      host.payments.outage.blind = true
      for (let i = 0; i < 2; i++) {
        const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
        assert.strictEqual(error._tag, "IdempotencyConflict")
      }
      assert.strictEqual(host.payments.settleCalls(), 0)
      const other = yield* challengeOf()
      host.payments.outage.blind = false
      yield* create({ localPart: "ada" }, { signature: pay(other, BOB, "02"), key: "key-2" })
    })
  )

  for (const how of ["expired", "used otherwise"] as const) {
    scenario(`asks the chain before it submits again: ${how}`, (host) =>
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

  scenario("waits for a chain that can't be reached, and goes on where it stood", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.outage.chain = true
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "OperationDelayed", paymentState: "pending" })
      host.payments.outage.chain = false
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("claims nothing while the facilitator can't be reached", (host) =>
    Effect.gen(function* () {
      host.payments.outage.verify = true
      const error = yield* failureOf(create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), ADA, "01") }))
      assert.deepInclude(error, { _tag: "OperationDelayed", operationId: null, paymentState: "none" })
    })
  )

  scenario("refuses what is no payment, or none for this request, with a challenge and the reason", (host) =>
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

  scenario("goes on when the one who asked has gone", (host) =>
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

describe("a paid service with an effect outside", () => {
  scenario("sends one mail and says so", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      const answer = yield* attempt(pay(challenge, ADA, "02"))
      assert.include(Redacted.value(answer.body), host.sent[0]!.messageIdHeader)
      assert.lengthOf(host.sent, 1)
    })
  )

  scenario("repeats the same Message-ID after an answer was lost", (host) =>
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

  scenario("owes the money back when the provider refuses for good", (host) =>
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

  scenario("is paid by the wallet of the token alone", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge } = yield* sendPaid
      const error = yield* failureOf(attempt(pay(challenge, BOB, "02")))
      assert.deepInclude(error, { _tag: "PayerMismatch", payer: BOB })
      assert.isUndefined(host.payments.transfers.get(BOB))
    })
  )
})
