import {
  adviceOn,
  type AuthorizationUse,
  OperationState,
  PaymentAdvice,
  type PaymentFacts,
  PaymentStatuses,
  PaymentStatusRecord,
  TenantStore,
  Timestamp,
  UNCLAIMED_STATES,
  walletAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  BOB,
  challengeOf,
  create,
  eventsOf,
  failureOf,
  pay,
  returnDebts,
  scenario,
  sendPaid
} from "../support/Purchase.ts"

const USES = Object.keys(UNCLAIMED_STATES) as Array<AuthorizationUse>
const NOW = Timestamp.Timestamp.make(1_800_000_000_000)
const NOW_SECONDS = NOW / 1_000

const held = (state: OperationState, validBefore = NOW_SECONDS + 60): PaymentFacts => ({
  _tag: "Held",
  state,
  proof: { validBefore }
})

const seconds = Schema.Int.check(Schema.isBetween({ minimum: -7_200, maximum: 7_200 }))
/** An authorization that no operation holds, with times relative to now. */
const Unclaimed = Schema.Struct({
  use: Schema.Literals(USES),
  validAfter: seconds,
  validBefore: seconds,
  challengeExpires: Schema.NullOr(seconds)
})
const unclaimed = ({ challengeExpires, use, validAfter, validBefore }: typeof Unclaimed.Type): PaymentFacts => ({
  _tag: "Unclaimed",
  use,
  proof: { validAfter: NOW_SECONDS + validAfter, validBefore: NOW_SECONDS + validBefore },
  challengeExpiresAt: challengeExpires === null ? null : NOW + challengeExpires * 1_000
})

describe("adviceOn", () => {
  it("says done once the operation is fulfilled or refunded, pay if it ended unpaid, and wait in every other state", () => {
    const advised = OperationState.literals.map((state) => [state, adviceOn(held(state), NOW).advice])
    assert.deepStrictEqual(Object.fromEntries(advised), {
      claimed: "wait",
      settling: "wait",
      settled: "wait",
      fulfilling: "wait",
      fulfilled: "done",
      refused: "wait",
      unpaid: "pay",
      refund_due: "wait",
      refunded: "done"
    })
  })

  it.prop(
    "says pay exactly where the chain proves that an unclaimed authorization moved nothing to us and never will",
    [Unclaimed],
    ([facts]) => {
      const isOver = facts.use === "expired" || facts.use === "used_otherwise"
      assert.strictEqual(adviceOn(unclaimed(facts), NOW).advice === "pay", isOver)
    }
  )

  it.prop(
    "repeats an unused authorization exactly while it is valid and its challenge is fresh",
    [Unclaimed],
    ([facts]) => {
      const { challengeExpires, validAfter, validBefore } = facts
      const isFresh = challengeExpires !== null && challengeExpires > 15
      const { advice } = adviceOn(unclaimed({ ...facts, use: "unused" }), NOW)
      assert.strictEqual(advice, isFresh && validBefore > 15 && validAfter < 0 ? "retry_same" : "wait")
    }
  )

  it.prop("repeats what paid us and what only the repeated request can search for", [Unclaimed], ([facts]) => {
    for (const use of ["paid", "unsearched"] as const)
      assert.strictEqual(adviceOn(unclaimed({ ...facts, use }), NOW).advice, "retry_same")
  })

  it.prop("waits for 5 seconds to an hour, and until the authorization can have expired", [Unclaimed], ([facts]) => {
    const advice = adviceOn(unclaimed(facts), NOW)
    assert.include(PaymentAdvice.literals, advice.advice)
    if (advice.advice !== "wait") return
    assert.isAtLeast(advice.retryAfterSeconds, 5)
    assert.isAtMost(advice.retryAfterSeconds, 3_600)
    const isWaiting = facts.use === "unused" && facts.challengeExpires === null && facts.validBefore > 5
    if (isWaiting) assert.strictEqual(advice.retryAfterSeconds, Math.min(facts.validBefore + 1, 3_600))
  })
})

const statusOf = (signature: string) =>
  Effect.flatMap(PaymentStatuses, ({ ofPayment }) =>
    Effect.map(ofPayment(signature), ({ record }) => Schema.decodeSync(PaymentStatusRecord)(record))
  )
const adviceFor = (signature: string) => Effect.map(statusOf(signature), ({ advice }) => advice)

/** A payment of Ada for a mailbox that is signed and was not sent. */
const signed = Effect.gen(function* () {
  const signature = pay(yield* challengeOf(), ADA, "01")
  // An authorization is valid only after validAfter, which is 0 here.
  yield* TestClock.adjust("1 second")
  return signature
})

describe("PaymentStatuses", () => {
  scenario("shows a fulfilled operation to the holder of its header, with the receipt of its answer", () =>
    Effect.gen(function* () {
      const { answer, signature } = yield* adasMailbox
      const status = yield* statusOf(signature)
      assert.deepInclude(status, {
        operationId: answer.operationId,
        serviceId: "email.mailbox.create",
        paymentState: "settled",
        price: { amount: "0.25", asset: "USDT" },
        baseUnits: "250000",
        amount: "250000",
        transaction: "0x01",
        refund: null,
        reason: null,
        receipt: answer.receipt,
        advice: "done"
      })
      assert.notProperty(status, "retryAfterSeconds")
      assert.strictEqual(status.token, status.asset.toLowerCase())
    })
  )

  scenario("names the token that was paid, whatever is accepted now, as its event does", (host) =>
    Effect.gen(function* () {
      host.payments.change({ extra: { symbol: "USDC" } })
      const { signature, tenant } = yield* adasMailbox
      host.payments.change({ extra: {} })
      const { price, symbol } = yield* statusOf(signature)
      assert.deepStrictEqual([symbol, price], ["USDC", { amount: "0.25", asset: "USDT" }])
      const [event] = yield* eventsOf(tenant)
      assert.deepInclude(event?.payload, { symbol: "USDC" })
    })
  )

  scenario("shows the holder of another header with the same authorization only its state, and a forger nothing", () =>
    Effect.gen(function* () {
      const other = pay(yield* challengeOf(), ADA, "01")
      const forged = pay(yield* challengeOf(), ADA, "01", true)
      yield* adasMailbox
      const { advice, amount, asset, baseUnits, network, paymentState, symbol, token, ...rest } = yield* statusOf(other)
      assert.deepStrictEqual([baseUnits, token, symbol], [amount, asset.toLowerCase(), "USDT"])
      assert.deepStrictEqual([advice, paymentState, amount, network], ["done", "settled", "250000", "eip155:402402"])
      assert.match(asset, /^0x/)
      assert.deepStrictEqual([...new Set(Object.values(rest))], [null])
      const refused = yield* failureOf(statusOf(forged))
      assert.deepStrictEqual(
        refused.issues.map(({ path }) => path),
        ["PAYMENT-SIGNATURE"]
      )
    })
  )

  scenario("waits if the signer of another header can't be determined, and tells nothing of the operation", (host) =>
    Effect.gen(function* () {
      const unsent = yield* signed
      const { signature } = yield* adasMailbox
      host.payments.outage.authentication = true
      for (const other of [unsent, `${signature} `]) {
        const status = yield* statusOf(other)
        assert.deepInclude(status, { operationId: null, paymentState: "unknown", advice: "wait" })
      }
      assert.strictEqual((yield* statusOf(signature)).paymentState, "settled")
    })
  )

  scenario("shows the operation of a payment in a token that is no longer accepted to its holder alone", (host) =>
    Effect.gen(function* () {
      const other = pay(yield* challengeOf(), ADA, "01")
      const { signature } = yield* adasMailbox
      host.payments.outage.retired = true
      assert.strictEqual(yield* adviceFor(signature), "done")
      assert.strictEqual((yield* failureOf(statusOf(other)))._tag, "InvalidRequest")
    })
  )

  scenario("repeats a payment that was never sent, and changes nothing", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      assert.deepInclude(yield* statusOf(signature), {
        operationId: null,
        paymentState: "none",
        transaction: null,
        advice: "retry_same"
      })
      assert.strictEqual(host.payments.settleCalls(), 0)
      assert.lengthOf(host.payments.shown, 0)
      assert.isTrue(Option.isNone(yield* (yield* TenantStore).findByWallet(walletAddress(ADA))))
      yield* create({ localPart: "ada" }, { signature })
      assert.strictEqual(yield* adviceFor(signature), "done")
    })
  )

  scenario("waits for a valid payment whose challenge has expired", () =>
    Effect.gen(function* () {
      const signature = yield* signed
      yield* TestClock.adjust("15 minutes")
      assert.deepInclude(yield* statusOf(signature), { advice: "wait", retryAfterSeconds: 3_600 })
    })
  )

  scenario("waits after validBefore, longer each time, until a final block proves that the payment expired", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      const validBefore = (yield* host.payments.rail.decodeProof(signature)).validBefore * 1_000
      for (const [seconds, retryAfterSeconds] of [
        [1, 5],
        [100, 25],
        [100_000, 60]
      ] as const) {
        yield* TestClock.setTime(validBefore + seconds * 1_000)
        assert.deepInclude(yield* statusOf(signature), { paymentState: "none", advice: "wait", retryAfterSeconds })
      }
      host.payments.end(signature, "expired")
      assert.strictEqual(yield* adviceFor(signature), "pay")
    })
  )

  scenario("has a payment refunded that a third party submitted, by the repeated request", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      host.payments.useNonce(signature)
      assert.deepInclude(yield* statusOf(signature), {
        operationId: null,
        paymentState: "settled",
        transaction: "0x01",
        advice: "retry_same"
      })
      // A new challenge in the header, or an invented time of issue, does not hide the transfer.
      assert.strictEqual(yield* adviceFor(pay(yield* challengeOf(), ADA, "01")), "retry_same")
      yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(yield* statusOf(signature), { paymentState: "refund_due", advice: "wait" })
      yield* returnDebts
      assert.deepInclude(yield* statusOf(signature), {
        paymentState: "refunded",
        refund: {
          amount: { amount: "0.25", asset: "USDT" },
          transaction: [...host.payments.refunds.keys()].map((nonce) => `0xback${nonce.slice(2)}`)[0]!
        },
        advice: "done"
      })
    })
  )

  scenario("finds such a transfer although the terms have changed since the challenge", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      host.payments.change({ payTo: "0x00000000000000000000000000000000000000b3", maxTimeoutSeconds: 1 })
      assert.strictEqual(yield* adviceFor(signature), "retry_same")
      host.payments.useNonce(signature)
      assert.deepInclude(yield* statusOf(signature), { paymentState: "settled", advice: "retry_same" })
    })
  )

  scenario("lets the payer of a cancelled authorization pay again", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      host.payments.end(signature, "used otherwise")
      assert.deepInclude(yield* statusOf(signature), { paymentState: "none", advice: "pay" })
    })
  )

  scenario("searches the chain for a day at most, and takes no earlier use as proof", (host) =>
    Effect.gen(function* () {
      const [signature, cancelled] = [yield* signed, pay(yield* challengeOf(), ADA, "02")]
      host.payments.useNonce(signature)
      host.payments.end(cancelled, "used otherwise")
      const statuses = yield* PaymentStatuses
      assert.isTrue((yield* statuses.ofPayment(signature)).wasSearched)
      // The transfer may have been before the block with which the search begins.
      host.payments.blocksBefore.push(100n)
      const earlier = yield* statuses.ofPayment(signature)
      assert.deepInclude(earlier.record, { paymentState: "unknown", advice: "retry_same" })
      assert.isTrue(earlier.wasSearched)
      assert.strictEqual(yield* adviceFor(cancelled), "pay")
      const { validBefore } = yield* host.payments.rail.decodeProof(signature)
      yield* TestClock.setTime((validBefore + 25 * 3_600) * 1_000)
      for (const late of [signature, cancelled]) {
        const { record, wasSearched } = yield* statuses.ofPayment(late)
        assert.deepInclude(record, { paymentState: "unknown", advice: "retry_same" })
        assert.isFalse(wasSearched)
      }
    })
  )

  scenario("waits while the chain can't be read or does not show the transfer yet", (host) =>
    Effect.gen(function* () {
      const signature = yield* signed
      host.payments.outage.chain = true
      const unreadable = yield* statusOf(signature)
      host.payments.outage.chain = false
      host.payments.outage.logs = true
      host.payments.useNonce(signature)
      const unconfirmed = yield* statusOf(signature)
      for (const status of [unreadable, unconfirmed])
        assert.deepInclude(status, { paymentState: "unknown", advice: "wait", retryAfterSeconds: 5 })
    })
  )

  scenario("waits for the end of a refused payment, and for its refund if it arrives", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("refuse")
      const signature = yield* signed
      yield* failureOf(create({ localPart: "ada" }, { signature }))
      const status = yield* statusOf(signature)
      assert.deepInclude(status, { paymentState: "unknown", advice: "wait" })
      assert.deepStrictEqual(status.reason, { kind: "refused", message: "the facilitator refuses" })
      host.payments.useNonce(signature)
      yield* returnDebts
      assert.deepInclude(yield* statusOf(signature), { paymentState: "refunded", advice: "done" })
    })
  )

  scenario("rejects a payment to another recipient, and one that can't be read", () =>
    Effect.gen(function* () {
      const challenge = Buffer.from(yield* challengeOf(), "base64").toString()
      const elsewhere = Buffer.from(challenge.replaceAll("b2", "b3")).toString("base64")
      for (const signature of [pay(elsewhere, ADA, "01"), "nonsense"]) {
        const { issues, message } = yield* failureOf(statusOf(signature))
        assert.deepStrictEqual(issues, [{ path: "PAYMENT-SIGNATURE", message }])
      }
    })
  )

  scenario("shows the payment of an operation to its tenant alone", () =>
    Effect.gen(function* () {
      const bobs = pay(yield* challengeOf(), BOB, "03")
      const { attempt, challenge, tenant } = yield* sendPaid
      const { operationId } = yield* attempt(pay(challenge, ADA, "02"))
      yield* create({ localPart: "bob" }, { signature: bobs, key: "key-2" })
      const bob = Option.getOrThrow(yield* (yield* TenantStore).findByWallet(walletAddress(BOB)))
      const { ofOperation } = yield* PaymentStatuses
      assert.deepInclude(yield* ofOperation(tenant, operationId), { serviceId: "email.message.send", advice: "done" })
      assert.deepInclude(yield* failureOf(ofOperation(bob, operationId)), {
        _tag: "ResourceNotOwned",
        kind: "operation"
      })
      const unknown = "01900000-0000-7000-8000-000000000000"
      assert.strictEqual((yield* failureOf(ofOperation(tenant, unknown)))._tag, "ResourceNotFound")
    })
  )
})
