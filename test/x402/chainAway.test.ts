import { assert, layer } from "@effect/vitest"
import { startChain } from "@agentos/sandbox"
import { Effect, Schedule } from "effect"
import { pay, PaymentRig, termsOf } from "./PaymentRig.ts"

layer(PaymentRig.layer, { excludeTestServices: true, timeout: 300_000 })("PaymentRailX402 over time", (it) => {
  it.effect("reports an authorization as expired when the finalized time is past it, and not before", () =>
    Effect.gen(function* () {
      const { chain, railOf } = yield* PaymentRig
      const rail = yield* railOf()
      const terms = { ...termsOf(rail), maxTimeoutSeconds: 1 }
      const proof = yield* pay(rail, chain.wallets[0]!.privateKey, terms)
      const { block } = yield* rail.readNonce(proof)
      const invalid = yield* Effect.flip(rail.verify(proof, terms))
      assert.include(invalid.message, "about to expire")
      const refused = yield* rail.settle(proof, terms)
      assert.strictEqual(refused._tag, "Refused")

      const find = rail.findSettlement(proof, terms, block)
      assert.deepStrictEqual(yield* find, { _tag: "Unused", expired: false })
      // The chain mines a block per second, which is final two blocks later.
      const lost = yield* Effect.repeat(find, {
        schedule: Schedule.spaced("250 millis"),
        until: (settlement) => settlement._tag !== "Unused" || settlement.expired,
        times: 60
      })
      assert.deepStrictEqual(lost, { _tag: "Unused", expired: true })
    })
  )

  // This test is last because it stops the chain.
  it.effect("finds an earlier payment after the chain was unavailable, and is undecided meanwhile", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const rail = yield* rig.railOf({ rpcTimeoutMillis: 1_000 })
      const terms = termsOf(rail)
      const settled = yield* pay(rail, rig.chain.wallets[0]!.privateKey, terms)
      const open = yield* pay(rail, rig.chain.wallets[1]!.privateKey, terms)
      const { block } = yield* rail.readNonce(settled)
      assert.strictEqual((yield* rail.settle(settled, terms))._tag, "Accepted")
      const found = yield* rail.findSettlement(settled, terms, block)
      assert.strictEqual(found._tag, "Paid")

      yield* Effect.promise(() => rig.chain.stop())
      assert.strictEqual((yield* Effect.flip(rail.readNonce(open))).reason, "Temporary")
      assert.strictEqual((yield* Effect.flip(rail.findSettlement(settled, terms, block))).reason, "Temporary")
      const error = yield* Effect.flip(rail.verify(open, terms))
      assert.strictEqual(error._tag === "ProviderError" && error.reason, "Temporary")
      assert.strictEqual((yield* rail.settle(open, terms))._tag, "Unknown")

      yield* Effect.acquireRelease(
        Effect.promise(() => startChain({ dataDir: rig.dataDir, port: rig.chain.port })),
        (chain) => Effect.promise(() => chain.stop())
      )
      assert.deepStrictEqual(yield* rail.findSettlement(settled, terms, block), found)
      assert.deepStrictEqual(yield* rail.findSettlement(open, terms, block), { _tag: "Unused", expired: false })
      assert.strictEqual((yield* rail.settle(open, terms))._tag, "Accepted")
      assert.strictEqual((yield* rail.findSettlement(open, terms, block))._tag, "Paid")
    })
  )
})
