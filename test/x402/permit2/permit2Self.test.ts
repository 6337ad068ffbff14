import { PaymentRail, Usdt } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { PaymentRailX402, selfFacilitator, type SelfFacilitatorConfig } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { Treasury } from "../../support/Treasury.ts"
import { pay, price, termsOf } from "../PaymentRig.ts"
import { ACCEPTS_IN_SIMULATIONS } from "../SmartAccounts.ts"
import { customer, finalize, invalidation, Permit2Rig, send } from "./Permit2Rig.ts"

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })(
  "The facilitator of the server, by Permit2",
  (it) => {
    /** A rail that submits from a new gas wallet, and the number of transactions that the wallet has sent. */
    const started = Effect.fnUntraced(function* (limits: Partial<SelfFacilitatorConfig> = {}) {
      const { client, networkOf } = yield* Permit2Rig
      const privateKey = generatePrivateKey()
      const address = privateKeyToAddress(privateKey)
      yield* Effect.promise(() => client.setBalance({ address, value: parseEther("1") }))
      const facilitator = selfFacilitator({ kind: "self", privateKey: Redacted.make(privateKey), ...limits })
      const networks = [
        { ...networkOf({ refund: { privateKey: Redacted.make((yield* Permit2Rig).chain.refundKey) } }), facilitator }
      ]
      const built = Layer.build(Layer.provide(PaymentRailX402.layer({ networks }), Memory.layer))
      const rail = Context.get(yield* Effect.orDie(built), PaymentRail)
      return { rail, sent: Effect.promise(() => client.getTransactionCount({ address })) }
    })

    const presented = Effect.fnUntraced(function* (index = 0) {
      const { rail, sent } = yield* started()
      const wallet = yield* customer(index)
      const [terms, proof] = [termsOf(rail), yield* pay(rail, wallet.privateKey)]
      yield* rail.verify(proof, terms)
      const { block } = yield* rail.readNonce(proof)
      return { rail, sent, wallet, terms, proof, find: rail.findSettlement(proof, terms, block) }
    })

    it.effect("settles a payment by one transaction, however often it is asked, and refunds it", () =>
      Effect.gen(function* () {
        const { find, proof, rail, sent, terms } = yield* presented()
        const answers = yield* Effect.forEach([0, 1, 2], () => rail.settle(proof, terms), { concurrency: "unbounded" })
        for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
        const found = yield* find
        if (found._tag !== "Paid") return assert.fail(found._tag)
        assert.deepStrictEqual<unknown>(answers[0], { _tag: "Accepted", transaction: found.transaction })
        assert.strictEqual(yield* sent, 1)
        yield* finalize
        const refund = {
          terms,
          proof,
          transaction: found.transaction,
          afterBlock: found.block - 1n,
          nonce: generatePrivateKey()
        }
        const paid = yield* rail.refund(refund)
        assert.strictEqual(paid._tag, "Paid", "message" in paid ? paid.message : "")
        assert.deepStrictEqual(yield* rail.refund(refund), paid)
        assert.strictEqual(yield* sent, 2)
      })
    )

    it.effect("spends no gas on a payment whose nonce is invalidated, and does not call it refused", () =>
      Effect.gen(function* () {
        const { proof, rail, sent, terms, wallet } = yield* presented(1)
        const { data, to } = invalidation(proof)
        yield* send(wallet.privateKey, to, data)
        assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Unknown")
        assert.strictEqual(yield* sent, 0)
      })
    )

    it.effect("refuses a payment of a wallet without an allowance, and spends no gas", () =>
      Effect.gen(function* () {
        const { chain } = yield* Permit2Rig
        const { rail, sent } = yield* started()
        const [terms, proof] = [termsOf(rail), yield* pay(rail, chain.wallets[4]!.privateKey)]
        assert.deepStrictEqual(yield* rail.settle(proof, terms), {
          _tag: "Refused",
          message: "The facilitator refused the payment: permit2_allowance_required."
        })
        assert.strictEqual(yield* sent, 0)
      })
    )

    it.effect("refuses a payer without spending gas after three of its transfers reverted, and no other payer", () =>
      Effect.gen(function* () {
        const { chain, client } = yield* Permit2Rig
        const { address } = privateKeyToAccount(generatePrivateKey())
        yield* Effect.promise(() => new Treasury(chain).fund([address], 10))
        yield* Effect.promise(() => client.setCode({ address, bytecode: ACCEPTS_IN_SIMULATIONS }))
        const { rail, sent } = yield* started()
        const messages: Array<string> = []
        for (let times = 0; times < 4; times++) {
          const signer = { address, signTypedData: async () => `0x${"ab".repeat(100)}` as const }
          const answer = yield* rail.settle(yield* pay(rail, signer), termsOf(rail))
          messages.push(answer._tag === "Refused" ? answer.message.split(": ")[1]! : answer._tag)
        }
        const reverted = "transaction_reverted."
        const refused = "payer_transactions_reverted_too_often_retry_later."
        assert.deepStrictEqual(messages, [reverted, reverted, reverted, refused])
        assert.strictEqual(yield* sent, 3, "the reverted transactions")
        const other = yield* pay(rail, (yield* customer(2)).privateKey)
        assert.strictEqual((yield* rail.settle(other, termsOf(rail)))._tag, "Accepted")
      })
    )

    it.effect("offers nothing while gas costs more than the limit, and no call that costs less than its gas", () =>
      Effect.gen(function* () {
        const closed = (yield* started({ sellBelowGasGwei: 0.000_001 })).rail
        assert.deepStrictEqual([closed.offers(price), closed.terms(price).length], [[], 1])
        const { rail } = yield* started({ coinPriceUsdt: "1000000" })
        assert.deepStrictEqual(rail.offers(price), [])
        const dear = Usdt.fromDecimal("100000")
        assert.strictEqual(rail.offers(dear), rail.terms(dear))
      })
    )
  }
)
