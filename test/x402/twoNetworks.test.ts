import { type PaymentProof, type PaymentRail, proofKey, type PaymentTerms } from "@agentos/core"
import { assert, layer } from "@effect/vitest"
import { x402Client } from "@x402/core/client"
import { encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentPayload } from "@x402/core/types"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Effect, Redacted } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { challengeOf, PaymentRig, price, railOver, type Rig, SecondRig } from "./PaymentRig.ts"
import { balanceOf } from "./RefundSample.ts"

type Rail = PaymentRail["Service"]

/** Both chains and a rail that offers the second one first. */
const prepare = Effect.gen(function* () {
  const [first, second] = [yield* PaymentRig, yield* SecondRig]
  const offered = [second, first].map((rig) =>
    rig.networkOf({ refund: { privateKey: Redacted.make(rig.chain.refundKey) }, rpcTimeoutMillis: 1_000 })
  )
  return { first, second, rail: yield* railOver(...offered) }
})

/** Returns the payload of a client that received all offers and pays on one network. */
const answer = (rail: Rail, rig: Rig) =>
  Effect.promise(() => {
    const scheme = new ExactEvmScheme(privateKeyToAccount(rig.chain.wallets[0]!.privateKey))
    const client = new x402Client().register(rig.chain.network, scheme)
    client.setSpendControls(false)
    return client.createPaymentPayload(challengeOf(rail, rail.terms(price)))
  })

const read = (rail: Rail, payload: PaymentPayload): Effect.Effect<PaymentProof> =>
  Effect.orDie(rail.decodeProof(encodePaymentSignatureHeader(payload)))

const termsFor = (rail: Rail, { chain }: Rig): PaymentTerms =>
  rail.terms(price).find(({ network }) => network === chain.network)!

/** Pays on one network and returns the outcome on the chain. */
const purchase = Effect.fnUntraced(function* (rail: Rail, rig: Rig) {
  const proof = yield* read(rail, yield* answer(rail, rig))
  assert.strictEqual(proof.network, rig.chain.network)
  const terms = termsFor(rail, rig)
  yield* rail.authenticate(proof)
  yield* rail.verify(proof, terms)
  const { block, used } = yield* rail.readNonce(proof)
  assert.isFalse(used)
  const settled = yield* rail.settle(proof, terms)
  if (settled._tag !== "Accepted") return assert.fail(settled.message)
  const found = yield* rail.findSettlement(proof, terms, block)
  if (found._tag !== "Paid") return assert.fail(found._tag)
  return { proof, terms, block, transaction: found.transaction }
})

const receivedOn = (rig: Rig) => balanceOf(rig, rig.chain.payTo)

layer(SecondRig.layer, { excludeTestServices: true, timeout: 300_000 })("Two networks in one challenge", (it) => {
  it.effect("are offered in the order of the configuration, in one challenge", () =>
    Effect.gen(function* () {
      const { first, rail, second } = yield* prepare
      assert.strictEqual(first.chain.asset, second.chain.asset, "the chains differ only in their ids")
      const { accepts } = challengeOf(rail, rail.terms(price))
      assert.deepStrictEqual(
        accepts.map(({ network }) => network),
        ["eip155:402403", "eip155:402402"]
      )
    })
  )

  it.effect("are paid on their own chains", () =>
    Effect.gen(function* () {
      const { first, rail, second } = yield* prepare
      for (const [chosen, other] of [
        [first, second],
        [second, first]
      ] as const) {
        const before = [yield* receivedOn(chosen), yield* receivedOn(other)]
        const { block, proof, terms, transaction } = yield* purchase(rail, chosen)
        assert.deepStrictEqual([yield* receivedOn(chosen), yield* receivedOn(other)], [before[0]! + price, before[1]!])
        // The same nonce is unused on the other chain.
        const elsewhere = { ...proof, network: other.chain.network }
        assert.isFalse((yield* rail.readNonce(elsewhere)).used)
        const notThere = yield* rail.findSettlement(elsewhere, termsFor(rail, other), block, transaction)
        assert.strictEqual(notThere._tag, "Unused")
        assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Paid")
      }
    })
  )

  it.effect("refuse payments for the other network", () =>
    Effect.gen(function* () {
      const { first, rail, second } = yield* prepare
      for (const [from, to] of [
        [first, second],
        [second, first]
      ] as const) {
        const payload = yield* answer(rail, from)
        const before = yield* receivedOn(to)
        const moved = yield* read(rail, {
          ...payload,
          accepted: { ...payload.accepted, network: to.chain.network }
        })
        assert.strictEqual((yield* Effect.flip(rail.authenticate(moved)))._tag, "ProofInvalid")
        const terms = termsFor(rail, to)
        assert.strictEqual((yield* Effect.flip(rail.simulate(moved, terms)))._tag, "ProofInvalid")
        assert.notStrictEqual((yield* rail.settle(moved, terms))._tag, "Accepted")
        assert.strictEqual(yield* receivedOn(to), before)
        // A proof for one network is invalid under the terms of the other.
        const own = yield* read(rail, payload)
        yield* rail.authenticate(own)
        const flaw = yield* Effect.flip(rail.verify(own, terms))
        assert.include(flaw.message, "a network that the challenge does not offer")
      }
    })
  )

  it.effect("treat the same nonce on each chain as two payments", () =>
    Effect.gen(function* () {
      const { first, rail, second } = yield* prepare
      const account = privateKeyToAccount(first.chain.wallets[1]!.privateKey)
      const onFirst = yield* answer(rail, first)
      const keys: Array<unknown> = []
      const transactions: Array<string> = []
      for (const rig of [first, second]) {
        const terms = termsFor(rail, rig)
        const signed = yield* Effect.promise(() => sign(onFirst, rig, account))
        const proof = yield* read(rail, signed)
        yield* rail.authenticate(proof)
        const { block } = yield* rail.readNonce(proof)
        assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
        const found = yield* rail.findSettlement(proof, terms, block)
        if (found._tag !== "Paid") return assert.fail(found._tag)
        keys.push(proofKey(proof))
        transactions.push(found.transaction)
      }
      assert.deepStrictEqual(keys[1], { ...(keys[0] as object), network: second.chain.network })
      assert.strictEqual(new Set(transactions).size, 2)
    })
  )

  // This test is last because it stops the second chain.
  it.effect("are independent: an unavailable chain stops only its own payments", () =>
    Effect.gen(function* () {
      const { first, rail, second } = yield* prepare
      const waiting = yield* read(rail, yield* answer(rail, second))
      yield* Effect.promise(() => second.chain.stop())

      assert.strictEqual(rail.terms(price).length, 2)
      const { block, proof, terms, transaction } = yield* purchase(rail, first)
      assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Paid")
      yield* Effect.promise(() => first.client.mine({ blocks: 3 }))
      const nonce = `0x${"77".repeat(32)}`
      const refunded = yield* rail.refund({ terms, proof, transaction, afterBlock: block, nonce })
      assert.strictEqual(refunded._tag, "Paid")

      yield* rail.authenticate(waiting)
      assert.strictEqual((yield* Effect.flip(rail.readNonce(waiting))).reason, "Temporary")
      const there = termsFor(rail, second)
      const unverified = yield* Effect.flip(rail.verify(waiting, there))
      assert.strictEqual(unverified._tag === "ProviderError" && unverified.reason, "Temporary")
      const owed = { terms: there, proof, transaction, afterBlock: block, nonce }
      assert.strictEqual((yield* Effect.flip(rail.refund(owed))).reason, "Temporary")
      assert.strictEqual((yield* Effect.flip(rail.transfers(there, 0n))).reason, "Temporary")

      // A start fails, because unchecked terms must not be offered.
      const restarted = yield* Effect.flip(railOver(first.networkOf(), second.networkOf({ rpcTimeoutMillis: 1_000 })))
      assert.strictEqual(restarted.reason, "Temporary")
      assert.include(restarted.message, second.chain.network)
      yield* railOver(first.networkOf())
    })
  )
})

/** Signs the authorization of a payload for the token of a chain, and changes nothing else. */
const sign = async (
  payload: PaymentPayload,
  { chain }: Rig,
  account: ReturnType<typeof privateKeyToAccount>
): Promise<PaymentPayload> => {
  const authorization = {
    ...(payload.payload["authorization"] as Record<"to" | "value" | "validAfter" | "validBefore" | "nonce", string>),
    from: account.address
  }
  const fields = { from: "address", to: "address", value: "uint256", validAfter: "uint256", validBefore: "uint256" }
  const types = Object.entries({ ...fields, nonce: "bytes32" }).map(([name, type]) => ({ name, type }))
  const signature = await account.signTypedData({
    domain: {
      name: chain.assetName,
      version: chain.assetVersion,
      chainId: chain.chainId,
      verifyingContract: chain.asset
    },
    types: { TransferWithAuthorization: types },
    primaryType: "TransferWithAuthorization",
    message: authorization
  })
  return {
    ...payload,
    accepted: { ...payload.accepted, network: chain.network },
    payload: { signature, authorization }
  }
}
