import { inspect } from "node:util"
import type { RefundProgress } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { railOf } from "./support/RailFake.ts"
import { privateKey, refund, start } from "./support/RefundFake.ts"
import * as Sample from "./support/Sample.ts"

const key = Redacted.make(privateKey)

const assertPending = (progress: RefundProgress, message: string) =>
  assert.include(progress._tag === "Pending" ? progress.message : `paid in ${progress.transaction}`, message)

describe("A refund wallet that replaced another one", () => {
  const former = Sample.stranger
  const byFormer = { by: former } as const
  const configured = { refund: { privateKey: key, formerWallets: [former] } }

  it.effect("does not repeat payments that the former one made or may be making", () =>
    Effect.gen(function* () {
      const { dropFrom, moved, rail, state, submitted, use } = yield* start({ ...configured, confirmations: 3 })
      use(98, byFormer)
      assertPending(yield* rail.refund(refund()), "The refund was submitted")
      state.latest = 101
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.strictEqual(submitted().length, 0)
      dropFrom(98)
      assert.strictEqual(moved(), 0n)
    })
  )

  it.effect("pays if the former one spent the nonce on something else", () =>
    Effect.gen(function* () {
      const { moved, rail, submitted, use } = yield* start(configured)
      use(70, { ...byFormer, cancelled: true })
      assert.strictEqual((yield* rail.refund(refund()))._tag, "Paid")
      assert.deepStrictEqual([moved(), submitted().length], [Sample.price, 1])
    })
  )
})

describe("PaymentRailX402.canRefund", () => {
  it.effect("is true for networks that have a refund wallet", () =>
    Effect.gen(function* () {
      const { rail } = yield* start()
      const token = { network: "eip155:402402", asset: Sample.asset }
      assert.isTrue(rail.canRefund(token))
      assert.isTrue(rail.canRefund({ ...token, asset: Sample.asset.toLowerCase() }))
      assert.isFalse(rail.canRefund({ ...token, asset: Sample.stranger }))
      assert.isFalse(rail.canRefund({ ...token, network: "eip155:196" }))
      const without = yield* railOf()
      assert.isFalse(without.rail.canRefund(token))
      const error = yield* Effect.flip(without.rail.refund(refund()))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, "eip155:402402 has no refund wallet. The refund is still due")
    })
  )

  it.effect("reports a removed network, and a chain that can't be reached", () =>
    Effect.gen(function* () {
      const { rail, state, submitted } = yield* start()
      const gone = refund({ terms: Sample.terms({ network: "eip155:196" }) })
      assert.strictEqual((yield* Effect.flip(rail.refund(gone))).reason, "Misconfigured")
      state.status = 503
      assert.strictEqual((yield* Effect.flip(rail.refund(refund()))).reason, "Temporary")
      assert.strictEqual(submitted().length, 0)
    })
  )

  it.effect("never reveals the key", () =>
    Effect.gen(function* () {
      const { facilitator, rail, state, use } = yield* start()
      const said: Array<unknown> = []
      for (const conduct of ["fails", { refuses: "insufficient_funds" }] as const) {
        facilitator.conduct = conduct
        said.push(yield* Effect.result(rail.refund(refund())))
      }
      state.balances.clear()
      said.push(yield* Effect.result(rail.refund(refund())))
      use(70, { cancelled: true })
      said.push(yield* Effect.result(rail.refund(refund())))
      assert.strictEqual(said.length, 4)
      assert.notInclude(inspect(said, { depth: 9, showHidden: true }), "7b7b7b7b")
    })
  )
})
