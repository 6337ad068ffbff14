import { PaymentRail, type PaymentProof } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { PaymentRailX402, selfFacilitator } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { type ExactPermit2Payload, PERMIT2_ADDRESS, permit2WitnessTypes } from "@x402/evm"
import { Context, Effect, Layer, Redacted } from "effect"
import { encodeFunctionData, erc20Abi, type Hex, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { pay, price, railOver, termsOf } from "../PaymentRig.ts"
import { customer, Permit2Rig, send } from "./Permit2Rig.ts"

type Rail = PaymentRail["Service"]

const APPROVE = encodeFunctionData({
  abi: erc20Abi,
  functionName: "approve",
  args: [PERMIT2_ADDRESS, 2n ** 256n - 1n]
})

/** Returns the payment of a client that signs the nonce of another one. */
const withNonceOf = Effect.fnUntraced(function* (
  rail: Rail,
  key: Hex,
  proof: PaymentProof,
  { nonce }: Pick<PaymentProof, "nonce">
) {
  const payment = JSON.parse(proof.payload) as { payload: ExactPermit2Payload }
  const { deadline, permitted, spender, witness } = payment.payload.permit2Authorization
  const signature = yield* Effect.promise(() =>
    privateKeyToAccount(key).signTypedData({
      domain: { name: "Permit2", chainId: 402_403, verifyingContract: PERMIT2_ADDRESS },
      types: permit2WitnessTypes,
      primaryType: "PermitWitnessTransferFrom",
      message: {
        permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
        spender,
        nonce: BigInt(nonce),
        deadline: BigInt(deadline),
        witness: { to: witness.to, validAfter: BigInt(witness.validAfter) }
      }
    })
  )
  Object.assign(payment.payload, {
    signature,
    permit2Authorization: { ...payment.payload.permit2Authorization, nonce: `${BigInt(nonce)}` }
  })
  return yield* rail.decodeProof(Buffer.from(JSON.stringify(payment)).toString("base64"))
})

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })("Two tokens of a chain", (it) => {
  /** A customer with an allowance for Permit2 of both tokens. */
  const payer = Effect.fnUntraced(function* (index: number) {
    const wallet = yield* customer(index)
    yield* send(wallet.privateKey, (yield* Permit2Rig).usdc.asset, APPROVE)
    return wallet
  })

  it.effect("are paid from one gas wallet, each by its own transfer", () =>
    Effect.gen(function* () {
      const { chain, client, networkOf, usdc } = yield* Permit2Rig
      const privateKey = generatePrivateKey()
      const address = privateKeyToAddress(privateKey)
      yield* Effect.promise(() => client.setBalance({ address, value: parseEther("1") }))
      const facilitator = selfFacilitator({ kind: "self", privateKey: Redacted.make(privateKey) })
      const networks = [networkOf(), networkOf(usdc)].map((network) => ({ ...network, facilitator }))
      const built = Layer.build(Layer.provide(PaymentRailX402.layer({ networks }), Memory.layer))
      const rail = Context.get(yield* Effect.orDie(built), PaymentRail)
      const wallet = yield* payer(0)
      const assets = [chain.asset, usdc.asset]
      const balances = Effect.promise(() =>
        Promise.all(
          assets.map((asset) =>
            client.readContract({ address: asset, abi: erc20Abi, functionName: "balanceOf", args: [chain.payTo] })
          )
        )
      )
      const before = yield* balances
      const found = yield* Effect.forEach(
        assets,
        Effect.fnUntraced(function* (asset) {
          const terms = termsOf(rail, asset)
          const proof = yield* pay(rail, wallet.privateKey, terms)
          yield* rail.verify(proof, terms)
          const { block } = yield* rail.readNonce(proof)
          yield* rail.settle(proof, terms)
          return (yield* rail.findSettlement(proof, terms, block))._tag
        }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(found, ["Paid", "Paid"])
      assert.deepStrictEqual(
        yield* balances,
        before.map((amount) => amount + price)
      )
      assert.strictEqual(yield* Effect.promise(() => client.getTransactionCount({ address })), 2)
    })
  )

  it.effect("are paid once by two authorizations with one nonce", () =>
    Effect.gen(function* () {
      const { chain, networkOf, usdc } = yield* Permit2Rig
      const rail = yield* railOver(networkOf(), networkOf(usdc))
      const { privateKey } = yield* payer(1)
      const [first, second] = [termsOf(rail, chain.asset), termsOf(rail, usdc.asset)]
      const proof = yield* pay(rail, privateKey, first)
      const other = yield* withNonceOf(rail, privateKey, yield* pay(rail, privateKey, second), proof)
      const payments = [
        { terms: first, proof },
        { terms: second, proof: other }
      ]
      // Both are claimed before either is settled.
      const { block } = yield* rail.readNonce(proof)
      for (const payment of payments) {
        yield* rail.authenticate(payment.proof)
        yield* rail.verify(payment.proof, payment.terms)
      }
      for (const payment of payments) yield* rail.settle(payment.proof, payment.terms)
      assert.strictEqual((yield* rail.findSettlement(proof, first, block))._tag, "Paid")
      assert.notStrictEqual((yield* rail.findSettlement(other, second, block))._tag, "Paid")
    })
  )
})
