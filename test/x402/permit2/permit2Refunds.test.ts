import { assert, layer } from "@effect/vitest"
import type { Refund } from "@agentos/core"
import { sandboxTetherAbi } from "@agentos/sandbox"
import { networkChecks } from "@agentos/x402"
import { PERMIT2_ADDRESS } from "@x402/evm"
import { Effect, Redacted } from "effect"
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, price, sendRpc, termsOf } from "../PaymentRig.ts"
import { customer, finalize, Permit2Rig, send } from "./Permit2Rig.ts"

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })("A refund by Permit2", (it) => {
  /** A rail with the refund wallet of this key, and a settled payment with its refund. */
  const owed = Effect.fnUntraced(function* (privateKey: Hex, index = 0) {
    const rail = yield* (yield* Permit2Rig).railOf({ refund: { privateKey: Redacted.make(privateKey) } })
    const wallet = yield* customer(index)
    const [terms, proof] = [termsOf(rail), yield* pay(rail, wallet.privateKey)]
    const { block: afterBlock } = yield* rail.readNonce(proof)
    yield* rail.settle(proof, terms)
    const found = yield* rail.findSettlement(proof, terms, afterBlock)
    if (found._tag !== "Paid") return assert.fail(found._tag)
    const refund: Refund = { terms, proof, transaction: found.transaction, afterBlock, nonce: generatePrivateKey() }
    return { rail, refund, payer: wallet.address }
  })

  const balanceOf = (address: Hex) =>
    Effect.flatMap(Permit2Rig, ({ chain, client }) =>
      Effect.promise(() =>
        client.readContract({ address: chain.asset, abi: erc20Abi, functionName: "balanceOf", args: [address] })
      )
    )
  const token = (functionName: "mint" | "approve" | "setParams", args: ReadonlyArray<unknown>) =>
    encodeFunctionData({ abi: sandboxTetherAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0])

  it.effect("is paid once, after the payment is final, however often it is submitted", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { payer, rail, refund } = yield* owed(chain.refundKey)
      assert.strictEqual((yield* rail.refund(refund))._tag, "Pending")
      yield* finalize
      const before = yield* balanceOf(payer)
      const first = yield* rail.refund(refund)
      assert.strictEqual(first._tag, "Paid", "message" in first ? first.message : "")
      for (let repetition = 0; repetition < 3; repetition++) assert.deepStrictEqual(yield* rail.refund(refund), first)
      assert.strictEqual(yield* balanceOf(payer), before + price)
    })
  )

  it.effect("waits for the allowance of the refund wallet, and says how to give it", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const key = generatePrivateKey()
      const wallet = privateKeyToAddress(key)
      yield* send(chain.deployerKey, chain.asset, token("mint", [wallet, price]))
      const { payer, rail, refund } = yield* owed(key)
      yield* finalize
      const error = yield* Effect.flip(rail.refund(refund))
      const data = token("approve", [PERMIT2_ADDRESS, 2n ** 256n - 1n])
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(
        error.message,
        `Send a transaction from it to ${chain.asset}, without value, with the data ${data}.`
      )
      yield* Effect.flatMap(Permit2Rig, ({ client }) =>
        Effect.promise(() => client.setBalance({ address: wallet, value: 10n ** 18n }))
      )
      yield* send(key, chain.asset, data)
      const before = yield* balanceOf(payer)
      assert.strictEqual((yield* rail.refund(refund))._tag, "Paid")
      assert.strictEqual(yield* balanceOf(payer), before + price)
    })
  )

  it.effect("has its missing allowance shown before it is due", () =>
    Effect.gen(function* () {
      const { chain, networkOf } = yield* Permit2Rig
      const approvalOf = Effect.fnUntraced(function* (privateKey: Hex) {
        const network = networkOf({ refund: { privateKey: Redacted.make(privateKey) } })
        const checks = yield* networkChecks(network, () => Effect.void)
        yield* checks.token
        return (yield* checks.refund)?.approval
      })
      assert.include(yield* approvalOf(generatePrivateKey()), `Send a transaction from it to ${chain.asset}`)
      assert.isUndefined(yield* approvalOf(chain.refundKey))
    })
  )

  it.effect("waits while the token keeps a fee, and is then paid in full, once", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { payer, rail, refund } = yield* owed(chain.refundKey)
      yield* finalize
      yield* send(chain.deployerKey, chain.asset, token("setParams", [10n, 1n]))
      const before = yield* balanceOf(payer)
      const waiting = yield* rail.refund(refund)
      assert.include(
        waiting._tag === "Pending" ? waiting.message : "paid",
        "This token keeps a fee: of 250000 base units"
      )
      assert.strictEqual(yield* balanceOf(payer), before)
      yield* send(chain.deployerKey, chain.asset, token("setParams", [0n, 0n]))
      const first = yield* rail.refund(refund)
      assert.strictEqual(first._tag, "Paid")
      assert.deepStrictEqual(yield* rail.refund(refund), first)
      assert.strictEqual(yield* balanceOf(payer), before + price)
    })
  )

  // This test is last because it removes blocks from the chain.
  it.effect("is not paid for a payment that a reorganization removed", () =>
    Effect.gen(function* () {
      const { chain, client } = yield* Permit2Rig
      const before = yield* Effect.promise(() => client.getBlockNumber())
      const { payer, rail, refund } = yield* owed(chain.refundKey)
      // One block more than exist, because another may be mined meanwhile.
      const depth = (yield* Effect.promise(() => client.getBlockNumber())) - before + 1n
      yield* Effect.promise(() => sendRpc(chain.rpcUrl, "anvil_rollback", Number(depth)))
      yield* finalize
      const balance = yield* balanceOf(payer)
      const progress = yield* rail.refund(refund)
      assert.include(progress._tag === "Pending" ? progress.message : "paid", "does not show the payment")
      assert.strictEqual(yield* balanceOf(payer), balance)
    })
  )
})
