import type { Settlement } from "@agentos/core"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { encodeFunctionData, multicall3Abi } from "viem"
import { makeRandom, readSeed } from "../../support/Random.ts"
import { pay, termsOf } from "../PaymentRig.ts"
import { customer, finalize, invalidation, Permit2Rig, sendTogether, settlement } from "./Permit2Rig.ts"

const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
const ROUNDS = 12
const PAYMENTS = 5
/** How a payment ends: it is settled alone or together with others, invalidated, or left unused. */
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
          const together = by("together").map(({ proof }) => {
            const { data, to } = settlement(proof)
            return { target: to, allowFailure: false, callData: data }
          })
          const batch = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [together] })
          const receipts = yield* sendTogether(
            ...by("alone").map(({ proof }) => ({ key: chain.deployerKey, ...settlement(proof) })),
            ...(together.length === 0 ? [] : [{ key: chain.faucetKey, to: MULTICALL3, data: batch } as const]),
            ...by("invalidated").map(({ proof }) => ({ key: privateKey, ...invalidation(proof) }))
          )
          yield* finalize

          const transfers = by("alone").length + by("together").length
          // The chain mines every second: it may have done so between two of the transactions.
          const senders = [...by("alone").map((one) => [one]), by("together"), ...by("invalidated").map((one) => [one])]
          const blocks = senders
            .filter((sent) => sent.length > 0)
            .map((sent, place) => ({ sent, block: receipts[place]!.blockNumber }))
          const transfersBeside = (payment: (typeof payments)[number]): number => {
            const own = blocks.find(({ sent }) => sent.includes(payment))?.block
            const beside = blocks.filter(({ block }) => block === own).flatMap(({ sent }) => sent)
            return beside.filter(({ fate }) => fate !== "invalidated").length
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
            const candidates = transfersBeside(payment)
            const found = yield* rail.findSettlement(proof, terms, block)
            if (fate === "unused") assert.strictEqual(found._tag, "Unused")
            else if (candidates === 0) assert.strictEqual(found._tag, "UsedOtherwise")
            else assert.lengthOf(found._tag === "Paid" ? (found.candidates ?? []) : [], candidates)
            if (claim(found)) paid++
          }
          // An invalidated payment may take the transfer of another one, which then buys nothing.
          assert.strictEqual(paid, transfers)
        }
      })
    )
  }
)
