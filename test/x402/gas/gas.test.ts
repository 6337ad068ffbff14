import { sandboxTetherAbi } from "@agentos/sandbox"
import { SETTLEMENT_GAS } from "@agentos/x402"
import { assert, expect, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { encodeFunctionData, maxUint256 } from "viem"
import { PERMIT2_ADDRESS } from "@x402/evm"
import { submit } from "../Authorizations.ts"
import { pay, PaymentRig } from "../PaymentRig.ts"
import { Permit2Rig, send, settlement } from "../permit2/Permit2Rig.ts"
import { gasPage, MEASURED_GAS } from "./GasPage.ts"

/** Zero bytes of keys and signatures cost less than others. */
const TOLERANCE = 150n

const assertMeasured = (gasUsed: bigint, recorded: bigint): void => {
  const below = recorded - gasUsed
  assert.isTrue(below > -TOLERANCE && below < TOLERANCE + 100n, `${gasUsed} units of gas, and ${recorded} recorded`)
}

layer(Layer.merge(PaymentRig.layer, Permit2Rig.layer), { excludeTestServices: true, timeout: 120_000 })(
  "The gas on the page of the documentation",
  (test) => {
    test.effect("is that of EIP-3009", () =>
      Effect.gen(function* () {
        const { chain, railOf } = yield* PaymentRig
        const rail = yield* railOf()
        const settle = Effect.flatMap(pay(rail, chain.wallets[0]!.privateKey), submit)
        assertMeasured((yield* settle).gasUsed, MEASURED_GAS.eip3009.first)
        assertMeasured((yield* settle).gasUsed, MEASURED_GAS.eip3009.settle)
        // To a wallet that has tokens, as a payer of a refund nearly always does.
        const back = yield* pay(rail, chain.refundKey, { ...rail.terms(1n)[0]!, payTo: chain.wallets[1]!.address })
        assertMeasured((yield* submit(back)).gasUsed, MEASURED_GAS.eip3009.refund)
      })
    )

    test.effect("is that of Permit2", () =>
      Effect.gen(function* () {
        const { chain, railOf } = yield* Permit2Rig
        const rail = yield* railOf()
        const { privateKey } = chain.wallets[0]!
        const approval = encodeFunctionData({
          abi: sandboxTetherAbi,
          functionName: "approve",
          args: [PERMIT2_ADDRESS, maxUint256]
        })
        assertMeasured((yield* send(privateKey, chain.asset, approval)).gasUsed, MEASURED_GAS.permit2.approve)
        const submitOf = (proof: Parameters<typeof settlement>[0]) => {
          const { data, to } = settlement(proof)
          return send(chain.deployerKey, to, data)
        }
        const settle = Effect.flatMap(pay(rail, privateKey), submitOf)
        assertMeasured((yield* settle).gasUsed, MEASURED_GAS.permit2.first)
        assertMeasured((yield* settle).gasUsed, MEASURED_GAS.permit2.settle)
        const back = yield* pay(rail, chain.refundKey, { ...rail.terms(1n)[0]!, payTo: chain.wallets[1]!.address })
        assertMeasured((yield* submitOf(back)).gasUsed, MEASURED_GAS.permit2.refund)
      })
    )
  }
)

it("generates the page, and counts with at least the measured gas before it sells", async () => {
  await expect(gasPage()).toMatchFileSnapshot(
    fileURLToPath(new URL("../../../packages/site/content/gas.md", import.meta.url))
  )
  for (const method of ["eip3009", "permit2"] as const)
    assert.isAtLeast(Number(SETTLEMENT_GAS[method]), Number(MEASURED_GAS[method].settle))
})
