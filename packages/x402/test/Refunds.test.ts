import type { RefundProgress } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { getAddress } from "viem"
import { AUTHORIZATION_STRETCH_SECONDS } from "../src/Refunds.ts"
import { refund, refundNonce, start, wallet } from "./support/RefundFake.ts"
import * as Sample from "./support/Sample.ts"

const assertPending = (progress: RefundProgress, message: string) =>
  assert.include(progress._tag === "Pending" ? progress.message : `paid in ${progress.transaction}`, message)

describe("PaymentRailX402.refund", () => {
  it.effect(
    "submits an ordinary payment from the refund wallet to the payer, and is done when the chain shows it",
    () =>
      Effect.gen(function* () {
        const { moved, rail, state, submitted } = yield* start()
        const progress = yield* rail.refund(refund())
        assert.deepStrictEqual(progress, { _tag: "Paid", transaction: state.logs.at(-1)!.transaction })
        assert.strictEqual(moved(), Sample.price)
        const { paymentPayload, paymentRequirements, x402Version } = JSON.parse(submitted()[0]!)
        const payer = Sample.payer.address
        assert.deepStrictEqual(paymentRequirements, {
          scheme: "exact",
          network: "eip155:402402",
          asset: Sample.asset,
          amount: "250000",
          payTo: payer,
          maxTimeoutSeconds: 1_200,
          extra: {
            name: "USD₮0",
            version: "1",
            assetTransferMethod: "eip3009",
            primaryType: "TransferWithAuthorization"
          }
        })
        assert.deepStrictEqual([x402Version, paymentPayload.x402Version], [2, 2])
        assert.deepStrictEqual(paymentPayload.accepted, paymentRequirements)
        assert.deepStrictEqual(paymentPayload.payload.authorization, {
          from: getAddress(wallet),
          to: payer,
          value: "250000",
          validAfter: "0",
          validBefore: "1200",
          nonce: refundNonce
        })
      })
  )

  it.effect("pays once, however often it is requested", () =>
    Effect.gen(function* () {
      const { moved, otherRail, rail, submitted } = yield* start()
      const first = yield* rail.refund(refund())
      for (const again of [rail, otherRail, rail]) assert.deepStrictEqual(yield* again.refund(refund()), first)
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 1])
    })
  )

  it.effect("pays once when two servers refund at the same time", () =>
    Effect.gen(function* () {
      const { moved, otherRail, rail, submitted } = yield* start()
      const progress = yield* Effect.forEach([rail, otherRail, rail, otherRail], (each) => each.refund(refund()), {
        concurrency: "unbounded"
      })
      assert.strictEqual(moved(), Sample.price)
      assert.isAbove(submitted().length, 1, "they raced")
      assert.strictEqual(new Set(submitted()).size, 1, "both submit the same bytes")
      assert.strictEqual(new Set(progress.map((each) => each._tag === "Paid" && each.transaction)).size, 1)
    })
  )

  it.effect("waits until the payment is final", () =>
    Effect.gen(function* () {
      const { moved, rail, state, submitted } = yield* start()
      for (const number of [1, 58, 59]) {
        state.finalized = { number, timestamp: 1_000 }
        assertPending(yield* rail.refund(refund()), "not final yet")
      }
      assert.deepStrictEqual([moved(), submitted().length], [0n, 0])
      state.finalized = { number: 60, timestamp: 1_000 }
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(moved(), Sample.price)
    })
  )

  it.effect("pays nothing for a payment that a reorganization removed, unless it is mined again", () =>
    Effect.gen(function* () {
      const { dropFrom, moved, pay, rail, state, submitted } = yield* start()
      dropFrom(60)
      assertPending(yield* rail.refund(refund()), "does not show the payment")
      pay(95)
      assertPending(yield* rail.refund(refund()), "not final yet")
      assert.deepStrictEqual([moved(), submitted().length], [0n, 0])
      state.finalized = { number: 95, timestamp: 1_000 }
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
    })
  )

  const otherPayments: ReadonlyArray<readonly [what: string, block: number, Parameters<typeof Sample.useLogs>[1]]> = [
    ["of another amount", 60, { value: Sample.price - 1n }],
    ["to a stranger", 60, { to: Sample.stranger }],
    ["from a stranger", 60, { from: Sample.stranger }],
    ["in another token", 60, { token: Sample.stranger }],
    ["from before it was taken up", 50, {}]
  ]
  it.effect.each(otherPayments)("pays nothing for a payment %s", ([, block, changed]) =>
    Effect.gen(function* () {
      const { dropFrom, moved, pay, rail } = yield* start()
      dropFrom(0)
      pay(block, changed)
      assertPending(yield* rail.refund(refund()), "does not show the payment")
      assert.strictEqual(moved(), 0n)
    })
  )

  it.effect("refunds a payment that a reorganization moved to another transaction", () =>
    Effect.gen(function* () {
      const { dropFrom, moved, pay, rail } = yield* start()
      dropFrom(0)
      pay(70, { transaction: `0x${"7e".repeat(32)}` })
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(moved(), Sample.price)
    })
  )

  it.effect("reports an empty wallet to the operator, and pays once it is funded", () =>
    Effect.gen(function* () {
      const { facilitator, moved, rail, state, submitted } = yield* start()
      for (const balance of [0n, Sample.price - 1n]) {
        state.balances.set(wallet, balance)
        const error = yield* Effect.flip(rail.refund(refund()))
        assert.strictEqual(error.reason, "Misconfigured")
        assert.include(
          error.message,
          `The refund wallet ${wallet} on eip155:402402 cannot pay a refund. It holds ${balance} base`
        )
      }
      assert.strictEqual(submitted().length, 0)
      state.balances.set(wallet, Sample.price)
      for (const refuses of ["insufficient_funds", "invalid_exact_evm_insufficient_balance"]) {
        facilitator.conduct = { refuses }
        const error = yield* Effect.flip(rail.refund(refund()))
        assert.strictEqual(error.reason, "Misconfigured")
        assert.include(error.message, "cannot pay a refund. The facilitator reports insufficient funds.")
      }
      facilitator.conduct = "settles"
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(moved(), Sample.price)
    })
  )

  it.effect("has paid even if the answer is lost, or the caller is gone", () =>
    Effect.gen(function* () {
      const { facilitator, moved, otherRail, rail, submitted } = yield* start()
      facilitator.conduct = "loses the answer"
      const paid = yield* rail.refund(refund())
      assert.strictEqual(paid._tag, "Paid")
      assert.deepStrictEqual(yield* otherRail.refund(refund()), paid)
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 1])
    })
  )

  it.effect("submits the same bytes for some minutes while nothing is mined, and moves the money once", () =>
    Effect.gen(function* () {
      const { facilitator, mineLost, moved, otherRail, rail, submitted } = yield* start()
      facilitator.conduct = "loses it"
      yield* TestClock.setTime(5 * AUTHORIZATION_STRETCH_SECONDS * 1_000)
      assertPending(yield* rail.refund(refund()), "The facilitator did not answer")
      yield* TestClock.adjust((AUTHORIZATION_STRETCH_SECONDS - 1) * 1_000)
      assertPending(yield* otherRail.refund(refund()), "The facilitator did not answer")
      assert.strictEqual(new Set(submitted()).size, 1)
      yield* TestClock.adjust(1_000)
      assertPending(yield* rail.refund(refund()), "The facilitator did not answer")
      assert.strictEqual(new Set(submitted()).size, 2)
      assert.strictEqual(moved(), 0n)
      mineLost()
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 3])
    })
  )

  it.effect("retries with a facilitator that fails or refuses", () =>
    Effect.gen(function* () {
      const { facilitator, moved, rail } = yield* start()
      facilitator.conduct = "fails"
      assertPending(yield* rail.refund(refund()), "The refund is still due. The facilitator answered with status 500.")
      facilitator.conduct = { refuses: "invalid_network" }
      assertPending(
        yield* rail.refund(refund()),
        "The refund is still due. The facilitator refused the payment: invalid_"
      )
      assert.strictEqual(moved(), 0n)
      facilitator.conduct = "settles"
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
    })
  )

  const otherUses = [
    ["cancelled", { cancelled: true }],
    ["sent to a stranger", { to: Sample.stranger }],
    ["spent on another amount", { value: Sample.price + 1n }]
  ] as const
  it.effect.each(otherUses)("stops if its nonce was %s", ([, use]) =>
    Effect.gen(function* () {
      const rig = yield* start()
      rig.use(70, use)
      const error = yield* Effect.flip(rig.rail.refund(refund()))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, `The refund wallet ${wallet} on eip155:402402 has spent the nonce`)
      assert.strictEqual(rig.submitted().length, 0)
    })
  )

  it.effect("does not count a refund as paid before enough blocks have followed", () =>
    Effect.gen(function* () {
      const { rail, state, submitted, use } = yield* start({ confirmations: 3 })
      use(98)
      assertPending(yield* rail.refund(refund()), "The refund was submitted")
      state.latest = 101
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(submitted().length, 0)
    })
  )

  it.live("submits a refund again that a reorganization removed, and waits a little for its blocks", () =>
    Effect.gen(function* () {
      const { dropFrom, moved, rail, state, submitted, use } = yield* start({ confirmations: 3 })
      use(98)
      assertPending(yield* rail.refund(refund()), "The refund was submitted")
      dropFrom(98)
      const mined = Effect.repeat(Effect.sleep("5 millis"), { until: () => moved() > 0n })
      // Later than the first read of the chain.
      const blocksLater = Effect.delay(
        Effect.sync(() => (state.latest += 3)),
        "300 millis"
      )
      yield* Effect.forkScoped(Effect.andThen(mined, blocksLater))
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 1])
    })
  )

  it.effect("does not rely on the facilitator's answer", () =>
    Effect.gen(function* () {
      const { facilitator, moved, rail, submitted } = yield* start({ rpcTimeoutMillis: 60_000 })
      facilitator.conduct = "says that it is done"
      const hurry = Effect.andThen(TestClock.withLive(Effect.sleep("10 millis")), TestClock.adjust("1 second"))
      yield* Effect.forkScoped(Effect.forever(hurry))
      assertPending(yield* rail.refund(refund()), "The refund was submitted")
      facilitator.conduct = "settles"
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 2])
    })
  )

  it.effect("does not submit a refund that the chain's state shows but its logs do not show yet", () =>
    Effect.gen(function* () {
      const { rail, state, submitted, use } = yield* start()
      use(95)
      state.logsLag = true
      assertPending(yield* rail.refund(refund()), "The refund was submitted")
      state.logsLag = false
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(submitted().length, 0)
    })
  )

  it.effect("finds a transfer long after its payment by searching the newest blocks first", () =>
    Effect.gen(function* () {
      const { rail, state, use } = yield* start({ logBlocksMax: 2 })
      state.latest = 1_000_000
      for (const block of [1_000_000, 999_999, 999_850]) {
        use(block)
        assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid", String(block))
        state.logs.splice(2)
      }
      const short = yield* start({ logBlocksMax: 1_000 })
      short.use(51)
      assert.strictEqual((yield* short.rail.refund(refund()))._tag, "Paid")
    })
  )
})

describe("PaymentRailX402.findRefund", () => {
  it.effect("finds a refund that was made or submitted, and submits nothing", () =>
    Effect.gen(function* () {
      const { rail, state, submitted, use } = yield* start()
      assert.deepStrictEqual(yield* rail.findRefund(refund()), Option.none())
      use(95)
      assert.deepStrictEqual(
        yield* rail.findRefund(refund()),
        Option.some({ _tag: "Paid", transaction: state.logs.at(-1)!.transaction } as const)
      )
      state.logsLag = true
      const pending = Option.getOrThrow(yield* rail.findRefund(refund()))
      assertPending(pending, "The refund was submitted")
      assert.lengthOf(submitted(), 0)
    })
  )
})
