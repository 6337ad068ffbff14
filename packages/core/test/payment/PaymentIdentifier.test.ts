import { PaidOperations } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  ADA,
  balances,
  challengeOf,
  create,
  failureOf,
  pay,
  replayed,
  returnDebts,
  scenario
} from "../support/Purchase.ts"

const IDENTIFIER = "pay_7d5d747be160e280504c099d984bcfe0"

/** Returns a payment of Ada with an identifier, for the request to create her mailbox. */
const identified = (nonce: string, identifier: string = IDENTIFIER) =>
  Effect.map(challengeOf(), (challenge) => pay(challenge, ADA, nonce, false, identifier))

const withoutKey = (signature: string) => create({ localPart: "ada" }, { signature, key: null })

describe("a payment identifier", () => {
  scenario(
    "is the key of a payment without Idempotency-Key: it is charged once and answered with the same bytes",
    (host) =>
      Effect.gen(function* () {
        const signature = yield* identified("01")
        const first = yield* withoutKey(signature)
        const paid = yield* PaidOperations
        const again = [
          yield* withoutKey(signature),
          yield* replayed({ signature, key: null }),
          yield* replayed({ signature, key: "" }),
          // The identifier and the header are one namespace.
          yield* replayed({ signature, key: IDENTIFIER })
        ]
        for (const answer of again) assert.strictEqual(Redacted.value(answer.body), Redacted.value(first.body))
        assert.strictEqual(host.payments.transfers.get(ADA), 1)
        assert.strictEqual(yield* paid.paymentState(signature), "settled")
      })
  )

  scenario("is ignored beside an Idempotency-Key, also if it is malformed", (host) =>
    Effect.gen(function* () {
      const signatures = [yield* identified("01"), yield* identified("02"), yield* identified("03", "")]
      yield* Effect.forEach(signatures, (signature, index) =>
        create({ localPart: `ada-${index}` }, { signature, key: `key-${index}` })
      )
      assert.strictEqual(host.payments.transfers.get(ADA), 3)
    })
  )

  scenario("that was used for another payment is a conflict, and charges nothing", (host) =>
    Effect.gen(function* () {
      const [first, second] = [yield* identified("01"), yield* identified("02")]
      yield* withoutKey(first)
      const error = yield* failureOf(withoutKey(second))
      assert.strictEqual(error._tag, "IdempotencyConflict")
      assert.match(error.message, /^This payment identifier was already used with another payment\.$/)
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("that is malformed is refused with its field, and charges nothing", (host) =>
    Effect.gen(function* () {
      const signature = yield* identified("01", "")
      for (const error of [
        yield* failureOf(withoutKey(signature)),
        (yield* failureOf(replayed({ signature, key: null }))).error
      ]) {
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.strictEqual(
          error.message,
          "PAYMENT-SIGNATURE.extensions.payment-identifier.info.id must have 16 to 128 characters of A-Z a-z 0-9 _ -"
        )
      }
      assert.strictEqual(host.payments.settleCalls(), 0)
    })
  )

  scenario("is not needed for a challenge, and a payment with neither is refused as before", () =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf({ key: null }), ADA, "01")
      const error = yield* failureOf(withoutKey(signature))
      assert.strictEqual(error.message, "Idempotency-Key is required with PAYMENT-SIGNATURE")
    })
  )

  scenario("is the key of the refund of a transfer that a third party submitted before the claim", (host) =>
    Effect.gen(function* () {
      const signature = yield* identified("01")
      host.payments.useNonce(signature)
      assert.deepInclude(yield* failureOf(withoutKey(signature)), {
        _tag: "PaymentReturned",
        paymentState: "refund_due"
      })
      yield* returnDebts
      assert.deepInclude(yield* failureOf(withoutKey(signature)), { paymentState: "refunded" })
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refunded: 250_000n })
    })
  )
})
