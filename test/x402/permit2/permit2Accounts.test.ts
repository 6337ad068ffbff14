import { assert, layer } from "@effect/vitest"
import { sandboxAccount, sandboxTetherAbi } from "@agentos/sandbox"
import { PERMIT2_ADDRESS } from "@x402/evm"
import { Effect, Schedule } from "effect"
import { encodeFunctionData, type Hex, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { pay, price, railOver, termsOf } from "../PaymentRig.ts"
import { customer, finalize, Permit2Rig, send } from "./Permit2Rig.ts"

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })("A network with Permit2", (it) => {
  it.effect("accepts a smart account that has allowed Permit2 to move its tokens", () =>
    Effect.gen(function* () {
      const { chain, client, railOf } = yield* Permit2Rig
      const account = sandboxAccount(privateKeyToAccount(generatePrivateKey()))
      const { address, deployment } = account
      const call = (functionName: "mint" | "approve", args: readonly [Hex, bigint]): Hex =>
        encodeFunctionData({ abi: sandboxTetherAbi, functionName, args })
      yield* send(chain.deployerKey, deployment.factory, deployment.factoryData)
      yield* send(chain.deployerKey, chain.asset, call("mint", [address, price]))
      const rail = yield* railOf({ smartAccounts: true })
      const [terms, proof] = [termsOf(rail), yield* pay(rail, account)]
      yield* rail.authenticate(proof)
      assert.strictEqual((yield* Effect.flip(rail.verify(proof, terms)))._tag, "AllowanceRequired")
      yield* Effect.promise(async () => {
        await client.setBalance({ address, value: parseEther("1") })
        await client.impersonateAccount({ address })
        const data = call("approve", [PERMIT2_ADDRESS, price])
        const hash = await client.request({
          method: "eth_sendTransaction",
          params: [{ from: address, to: chain.asset, data }]
        } as unknown as Parameters<typeof client.request>[0])
        await client.waitForTransactionReceipt({ hash: hash as Hex })
      })
      yield* rail.verify(proof, terms)
      const { block } = yield* rail.readNonce(proof)
      yield* rail.simulate(proof, terms)
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
      assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Paid")

      const keysOnly = yield* railOf()
      assert.strictEqual((yield* Effect.flip(keysOnly.authenticate(proof)))._tag, "ProofInvalid")
    })
  )

  it.effect("ends a payment as expired once a final block is past its deadline", () =>
    Effect.gen(function* () {
      const { railOf } = yield* Permit2Rig
      const rail = yield* railOf()
      const terms = { ...termsOf(rail), maxTimeoutSeconds: 1 }
      const proof = yield* pay(rail, (yield* customer(1)).privateKey, terms)
      const { block } = yield* rail.readNonce(proof)
      const found = yield* Effect.repeat(
        Effect.andThen(finalize, rail.findSettlement(proof, terms, block)),
        // The chain's clock.
        { schedule: Schedule.spaced("200 millis"), until: (one) => one._tag === "Unused" && one.expired, times: 50 }
      )
      assert.deepStrictEqual(found, { _tag: "Unused", expired: true })
    })
  )

  it.effect("is refused if the chain lacks a contract, or the settings contradict each other", () =>
    Effect.gen(function* () {
      const { client, networkOf } = yield* Permit2Rig
      const messageOf = (other: Parameters<typeof networkOf>[0] = {}) =>
        Effect.map(Effect.flip(Effect.scoped(railOver(networkOf(other)))), ({ message }) => message)
      const proxy = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"
      for (const address of [PERMIT2_ADDRESS, proxy, "0xcA11bde05977b3631167028862bE2a173976CA11"] as const) {
        const bytecode = (yield* Effect.promise(() => client.getCode({ address }))) ?? "0x"
        yield* Effect.promise(() => client.setCode({ address, bytecode: "0x" }))
        assert.include(yield* messageOf(), `at ${address}, which the chain lacks`)
        yield* Effect.promise(() => client.setCode({ address, bytecode }))
      }
      assert.include(yield* messageOf({ transferMethod: "eip3009" }), "version is missing")
      assert.include(
        yield* messageOf({ transferMethod: "eip3009", version: "1" }),
        "is not a token with DOMAIN_SEPARATOR"
      )
      assert.include(
        yield* messageOf({ smartAccounts: true, smartAccountFactories: [PERMIT2_ADDRESS] }),
        "smartAccountFactories requires transferMethod to be eip3009"
      )
    })
  )
})
