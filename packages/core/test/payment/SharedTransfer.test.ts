import { OperationStore, PaymentRail, PaymentStatuses } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  ADA,
  balances,
  challengeOf,
  create,
  failureOf,
  type Host,
  pay,
  returnDebts,
  scenario,
  underClock
} from "../support/Purchase.ts"

const PAID = 250_000n

/** Two payments of one wallet, of which the first has bought a mailbox, on a chain that does not tie transfers to them. */
const bought = Effect.fnUntraced(function* (host: Host) {
  host.payments.untied.isUntied = true
  const [first, second] = [pay(yield* challengeOf(), ADA, "01"), pay(yield* challengeOf({}, "grace"), ADA, "02")]
  yield* create({ localPart: "ada" }, { signature: first })
  return { first, second, buySecond: create({ localPart: "grace" }, { signature: second, key: "key-2" }) }
})

const states = Effect.flatMap(OperationStore, (store) =>
  Effect.map(store.books, ({ totals }) => Object.fromEntries(totals.map(({ count, state }) => [state, count])))
)

describe("a transfer that two authorizations can have made", () => {
  scenario("buys nothing for a second payment that is presented after its use", (host) =>
    Effect.gen(function* () {
      const { buySecond, first, second } = yield* bought(host)
      host.payments.useBeside(second, first)
      assert.deepInclude(yield* failureOf(buySecond), { _tag: "IdempotencyConflict", paymentState: "none" })
      assert.deepStrictEqual(yield* states, { fulfilled: 1 })
      assert.deepStrictEqual(yield* balances, { received: -PAID, fulfilled: PAID })
    })
  )

  scenario("did not pay for a second payment, by its status", (host) =>
    Effect.gen(function* () {
      const { first, second } = yield* bought(host)
      host.payments.useBeside(second, first)
      const status = Effect.flatMap(PaymentStatuses, ({ ofPayment }) => ofPayment(second))
      assert.deepInclude((yield* status).record, { paymentState: "none", transaction: null, advice: "pay" })
    })
  )

  scenario("waits, by its status, for a payment that is claimed while the chain is read", (host) =>
    Effect.gen(function* () {
      host.payments.untied.isUntied = true
      const signature = pay(yield* challengeOf(), ADA, "01")
      host.payments.useNonce(signature)
      const rail = yield* PaymentRail
      const present = Effect.ignore(create({ localPart: "ada" }, { signature }))
      const context = yield* Effect.context<Effect.Services<typeof present>>()
      const claiming = PaymentRail.of({
        ...rail,
        findSettlement: (...query) => Effect.tap(rail.findSettlement(...query), () => Effect.provide(present, context))
      })
      const status = Effect.flatMap(PaymentStatuses, ({ ofPayment }) => ofPayment(signature)).pipe(
        Effect.provide(Layer.fresh(Layer.provide(PaymentStatuses.layer, Layer.succeed(PaymentRail, claiming))))
      )
      assert.deepInclude((yield* status).record, { paymentState: "unknown", advice: "wait" })
      assert.deepStrictEqual(yield* states, { refund_due: 1 })
    })
  )

  scenario("decides nothing about a second payment while more transfers lack confirmations", (host) =>
    Effect.gen(function* () {
      const { buySecond, first, second } = yield* bought(host)
      const status = Effect.flatMap(PaymentStatuses, ({ ofPayment }) => ofPayment(second))
      host.payments.useBeside(second, first, true)
      assert.strictEqual((yield* failureOf(underClock(buySecond)))._tag, "OperationDelayed")
      assert.deepInclude((yield* status).record, { paymentState: "unknown", transaction: null, advice: "wait" })
      assert.deepStrictEqual(yield* states, { fulfilled: 1 })
    })
  )

  scenario("ends no second payment while more transfers lack confirmations", (host) =>
    Effect.gen(function* () {
      const { buySecond, first, second } = yield* bought(host)
      host.payments.script.push("fail before")
      yield* failureOf(underClock(buySecond))
      host.payments.useBeside(second, first, true)
      yield* returnDebts
      assert.deepStrictEqual(yield* states, { fulfilled: 1, refused: 1 })
      host.payments.useBeside(second, first)
      yield* returnDebts
      assert.deepStrictEqual(yield* states, { fulfilled: 1, unpaid: 1 })
    })
  )

  scenario("buys nothing for a second payment whose settlement is unknown", (host) =>
    Effect.gen(function* () {
      const { buySecond, first, second } = yield* bought(host)
      host.payments.script.push("fail before")
      assert.strictEqual((yield* failureOf(underClock(buySecond)))._tag, "PaymentPending")
      host.payments.useBeside(second, first)
      yield* returnDebts
      assert.deepStrictEqual(yield* states, { fulfilled: 1, unpaid: 1 })
      assert.deepInclude(yield* failureOf(buySecond), { _tag: "PaymentRequired" })
      assert.deepStrictEqual(yield* balances, { received: -PAID, fulfilled: PAID })
    })
  )

  scenario("is not refunded to a second payment that was refused", (host) =>
    Effect.gen(function* () {
      const { buySecond, first, second } = yield* bought(host)
      host.payments.script.push("refuse")
      assert.strictEqual((yield* failureOf(underClock(buySecond)))._tag, "PaymentPending")
      host.payments.useBeside(second, first)
      yield* returnDebts
      assert.deepStrictEqual(yield* states, { fulfilled: 1, unpaid: 1 })
      assert.deepStrictEqual([...host.payments.refunds.keys()], [])
    })
  )

  scenario("pays for the payment that is settled first, and the other one buys nothing", (host) =>
    Effect.gen(function* () {
      host.payments.untied.isUntied = true
      const [first, second] = [pay(yield* challengeOf(), ADA, "01"), pay(yield* challengeOf({}, "grace"), ADA, "02")]
      const buy = (localPart: string, signature: string, key: string) =>
        underClock(create({ localPart }, { signature, key }))
      host.payments.script.push("fail before", "fail before")
      yield* failureOf(buy("ada", first, "key-1"))
      yield* failureOf(buy("grace", second, "key-2"))
      host.payments.useNonce(first)
      host.payments.useBeside(second, first)
      yield* returnDebts
      assert.deepStrictEqual(yield* states, { fulfilled: 1, unpaid: 1 })
      assert.deepStrictEqual(yield* balances, { received: -PAID, fulfilled: PAID })
    })
  )
})
