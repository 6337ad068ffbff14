import type { Settlement } from "@agentos/core"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeRandom, readSeed } from "../../support/Random.ts"
import { pay, termsOf } from "../PaymentRig.ts"
import { batch, customer, finalize, invalidation, Permit2Rig, sendTogether, settlement } from "./Permit2Rig.ts"

const ROUNDS = 12
const PAYMENTS = 5
/**
 * How a payment ends: it is settled by a call of the proxy alone, or in a batch together with others, invalidated, or left
 * unused.
 */
const FATES = ["alone", "together", "invalidated", "invalidated", "unused"] as const

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })(
  "Payments of one wallet in one block",
  (it) => {
    it.effect(`buy once for each transfer, whoever is first (seed ${readSeed(process.env["TEST_SEED"])})`, () =>
      Effect.gen(function* () {
        const { chain, railOf } = yield* Permit2Rig
        const rail = yield* railOf()
        const { privateKey } = yield* customer(0)
        const random = makeRandom(readSeed(process.env["TEST_SEED"]))
        for (let round = 0; round < ROUNDS; round++) {
          const terms = termsOf(rail)
          const payments = yield* Effect.forEach(Array.from({ length: PAYMENTS }), () =>
            Effect.gen(function* () {
              const proof = yield* pay(rail, privateKey, terms)
              const { block } = yield* rail.readNonce(proof)
              return { proof, block, fate: random.pick(FATES) }
            })
          )
          const by = (fate: (typeof FATES)[number]) => payments.filter((one) => one.fate === fate)
          const together = by("together").map(({ proof }) => proof)
          const receipts = yield* sendTogether(
            ...by("alone").map(({ proof }) => ({ key: chain.deployerKey, ...settlement(proof) })),
            ...(together.length === 0 ? [] : [{ key: chain.faucetKey, ...batch(...together) }]),
            ...by("invalidated").map(({ proof }) => ({ key: privateKey, ...invalidation(proof) }))
          )
          yield* finalize

          const transfers = by("alone").length + by("together").length
          // The chain mines every second: it may have done so between two of the transactions.
          const senders = [...by("alone").map((one) => [one]), by("together"), ...by("invalidated").map((one) => [one])]
          const blocks = senders
            .filter((sent) => sent.length > 0)
            .map((sent, place) => ({ sent, block: receipts[place]!.blockNumber }))
          /** Its own transfer, and those of the batch in its block. */
          const candidatesOf = (payment: (typeof payments)[number]): number => {
            const own = blocks.find(({ sent }) => sent.includes(payment))?.block
            const beside = blocks.filter(({ block }) => block === own).flatMap(({ sent }) => sent)
            return beside.filter((one) => one.fate === "together" || (one.fate === "alone" && one === payment)).length
          }
          const claimed = new Set<string>()
          const claim = (found: Settlement) => {
            const free = found._tag === "Paid" && found.candidates?.find(({ transferId }) => !claimed.has(transferId))
            if (free) claimed.add(free.transferId)
            return Boolean(free)
          }
          let paid = 0
          for (const payment of random.shuffle(payments)) {
            const { block, fate, proof } = payment
            const candidates = candidatesOf(payment)
            const found = yield* rail.findSettlement(proof, terms, block)
            if (fate === "unused") assert.strictEqual(found._tag, "Unused")
            else if (candidates === 0) assert.strictEqual(found._tag, "UsedOtherwise")
            else assert.lengthOf(found._tag === "Paid" ? (found.candidates ?? []) : [], candidates)
            if (claim(found)) paid++
          }
          // An invalidated payment may take a transfer of the batch, which then buys nothing else.
          assert.strictEqual(paid, transfers)
        }
      })
    )
  }
)
