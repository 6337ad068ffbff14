import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Hex, serializeErc6492Signature, zeroAddress } from "viem"
import { PaymentRailX402 } from "../../src/index.ts"
import { SIGNATURE_BYTES_MAX, SIGNATURE_GAS_MAX } from "../../src/chain/SmartAccount.ts"
import { MULTICALL3 } from "../../src/network/SimulatedCall.ts"
import { prepare, railOf } from "../support/RailFake.ts"
import * as Sample from "../support/Sample.ts"

const account = "0x1271000000000000000000000000000000001271"
const factory = "0x6492000000000000000000000000000000006492"
const MAGIC: Hex = `0x1626ba7e${"00".repeat(28)}`
const own: Hex = `0x01${"ab".repeat(99)}`

/** A proof of the smart account with a signature. */
const proofWith = (signature: string) =>
  Sample.unsignedProof({ payer: account, payload: JSON.stringify({ payload: { signature } }) })

const counterfactual = (address: Hex, signature: Hex = own): Hex =>
  serializeErc6492Signature({ address, data: "0x12345678", signature })

/** A rail that accepts smart accounts, with the requests that the chain has seen since it was built. */
const accepting = (other: Partial<PaymentRailX402.RailNetwork> = {}) =>
  Effect.gen(function* () {
    const { build, chainSeen, configured, state } = yield* prepare({ smartAccounts: true, ...other })
    for (const contract of [factory, MULTICALL3.toLowerCase()]) state.contracts.set(contract, () => "0x")
    const rail = yield* build(configured)
    const before = chainSeen.length
    return {
      rail,
      state,
      asked: () =>
        chainSeen.slice(before).map(({ body }) => {
          const { method, params } = JSON.parse(body) as { readonly method: string; readonly params: Array<unknown> }
          return { method, params }
        })
    }
  })

describe("a smart account's signature", () => {
  it.effect("is accepted if the account returns the magic value of ERC-1271, with limited gas", () =>
    Effect.gen(function* () {
      const { asked, rail, state } = yield* accepting()
      state.contracts.set(account, () => MAGIC)
      yield* rail.authenticate(proofWith(own))
      const [code, call] = asked()
      assert.deepStrictEqual([code?.method, call?.method], ["eth_getCode", "eth_call"])
      assert.include(call?.params[0] as object, { to: account, gas: `0x${SIGNATURE_GAS_MAX.toString(16)}` })
    })
  )

  it.effect("is not shown to the chain for a network without smart accounts, whose terms say so", () =>
    Effect.gen(function* () {
      for (const smartAccounts of [undefined, false]) {
        const { chainSeen, rail, state } = yield* railOf(smartAccounts === undefined ? {} : { smartAccounts })
        state.contracts.set(account, () => MAGIC)
        const before = chainSeen.length
        for (const signature of [own, counterfactual(factory)]) {
          const error = yield* Effect.flip(rail.authenticate(proofWith(signature)))
          assert.strictEqual(error._tag, "ProofInvalid")
          assert.include(error.message, "smart accounts (ERC-1271) can't pay on eip155:402402")
        }
        assert.lengthOf(chainSeen.slice(before), 0)
        assert.strictEqual(rail.terms(Sample.price)[0]?.extra["signatures"], "eoa")
      }
    })
  )

  it.effect("is named in the terms of a network that accepts it", () =>
    Effect.gen(function* () {
      const signatures = (other: Partial<PaymentRailX402.RailNetwork>) =>
        Effect.map(accepting(other), ({ rail }) => rail.terms(Sample.price)[0]?.extra["signatures"])
      assert.strictEqual(yield* signatures({}), "eoa eip1271")
      assert.strictEqual(yield* signatures({ smartAccountFactories: [factory] }), "eoa eip1271 eip6492")
    })
  )

  it.effect("does not concern the payment of a key, which is checked without the chain", () =>
    Effect.gen(function* () {
      const { asked, rail } = yield* accepting()
      yield* rail.authenticate(yield* Sample.proof())
      assert.lengthOf(asked(), 0)
    })
  )

  const malformed: ReadonlyArray<readonly [what: string, signature: string, message: string]> = [
    ["is too long", `0x${"ab".repeat(SIGNATURE_BYTES_MAX + 1)}`, "at most 4096 whole bytes"],
    ["ends within a byte", `${own}0`, "whole bytes"],
    ["could not be passed on by a facilitator", `0x${"ab".repeat(64)}1f`, "must end with 27 or 28"],
    ["names a deployment that can't be read", `0x${"ab".repeat(40)}${"6492".repeat(16)}`, "factory call"],
    ["names no factory", counterfactual(zeroAddress), "factory call"],
    ["names two deployments", counterfactual(factory, counterfactual(factory)), "factory call"]
  ]
  it.effect.each(malformed)("is refused without the chain if it %s", ([, signature, message]) =>
    Effect.gen(function* () {
      const { asked, rail, state } = yield* accepting({ smartAccountFactories: [factory] })
      state.contracts.set(account, () => MAGIC)
      const error = yield* Effect.flip(rail.authenticate(proofWith(signature)))
      assert.strictEqual(error._tag, "ProofInvalid")
      assert.include(error.message, message)
      assert.lengthOf(asked(), 0)
    })
  )

  const revert = (message: string) => (): Hex => {
    throw new Error(message)
  }
  const answers: ReadonlyArray<readonly [what: string, answer: () => Hex]> = [
    ["refuses it", () => `0xffffffff${"00".repeat(28)}`],
    ["answers nothing", () => "0x"],
    ["answers four bytes only", () => "0x1626ba7e"],
    ["answers the magic value and more", () => `0x1626ba7e${"00".repeat(27)}01`],
    ["answers garbage", () => `0x${"ab".repeat(32)}`],
    ["answers a megabyte", () => `0x${"ab".repeat(1_000_000)}`],
    ["reverts", revert("execution reverted: no")],
    ["uses all gas", revert("out of gas")],
    ["executes an invalid opcode", revert("invalid opcode: INVALID")],
    ["jumps to nowhere", revert("invalid jump destination")],
    ["underflows the stack", revert("stack underflow (0 <=> 1)")],
    ["writes", revert("write protection")]
  ]
  it.effect.each(answers)("is refused if the account %s", ([, answer]) =>
    Effect.gen(function* () {
      const { rail, state } = yield* accepting()
      state.contracts.set(account, answer)
      const error = yield* Effect.flip(rail.authenticate(proofWith(own)))
      assert.strictEqual(error._tag, "ProofInvalid")
      assert.include(error.message, "did not accept the signature")
    })
  )

  it.effect("is refused if the payer has no code, or a factory that is not accepted would deploy it", () =>
    Effect.gen(function* () {
      const { asked, rail } = yield* accepting({ smartAccountFactories: [factory] })
      const message = (signature: Hex) =>
        Effect.map(Effect.flip(rail.authenticate(proofWith(signature))), (error) => error.message)
      assert.include(yield* message(own), "is not a smart account on eip155:402402")
      assert.include(yield* message(counterfactual(account)), "its factory is not accepted. Deploy the account")
      assert.notInclude(
        asked().map(({ method }) => method),
        "eth_call"
      )
    })
  )

  it.effect("is neither accepted nor refused while the chain can't be read", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* accepting({ rpcTimeoutMillis: 300 })
      state.contracts.set(account, () => MAGIC)
      const failure = Effect.map(Effect.flip(rail.authenticate(proofWith(own))), (error) => error._tag)
      state.status = 503
      assert.strictEqual(yield* failure, "ProviderError")
      state.status = 200
      state.silent.add("eth_call")
      assert.strictEqual(yield* failure, "ProviderError")
      state.silent.clear()
      state.contracts.set(account, revert("header not found"))
      assert.strictEqual(yield* failure, "ProviderError")
    })
  )
})

describe("the simulation of a smart account's transfer", () => {
  it.effect("passes the signature as bytes, and 65 bytes as r, s and v", () =>
    Effect.gen(function* () {
      const { asked, rail } = yield* accepting()
      yield* rail.simulate(proofWith(own), Sample.terms())
      yield* rail.simulate(proofWith(`0x${"ab".repeat(32)}${"3c".repeat(32)}1b`), Sample.terms())
      const selectors = asked().map(({ params }) => String((params[0] as { readonly data: string }).data).slice(0, 10))
      assert.deepStrictEqual(selectors, ["0xcf092995", "0xe3ee160e"])
    })
  )

  it.effect("deploys an account first if the signature names its factory", () =>
    Effect.gen(function* () {
      const { asked, rail } = yield* accepting({ smartAccountFactories: [factory] })
      yield* rail.simulate(proofWith(counterfactual(factory)), Sample.terms())
      const [call] = asked()
      if (call === undefined) return assert.fail("the chain was not asked")
      const { data, to } = call.params[0] as { readonly to: string; readonly data: string }
      assert.strictEqual(to, MULTICALL3)
      assert.isBelow(data.indexOf(factory.slice(2)), data.indexOf("cf092995"))
    })
  )
})
