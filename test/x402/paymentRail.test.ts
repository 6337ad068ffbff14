import { type PaymentRail, Timestamp } from "@agentos/core"
import { assert, layer } from "@effect/vitest"
import { httpFacilitator } from "@agentos/x402"
import { decodePaymentResponseHeader } from "@x402/core/http"
import { Effect } from "effect"
import { erc20Abi, type Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { cancel, redirect, submit } from "./Authorizations.ts"
import { pay, PaymentRig, price, termsOf } from "./PaymentRig.ts"

type Rail = PaymentRail["Service"]

/** A rail, a customer and an unused payment: the state before a settlement. */
const begin = Effect.fnUntraced(function* (wallet: number, rail?: Rail) {
  const rig = yield* PaymentRig
  const used = rail ?? (yield* rig.railOf())
  const { privateKey } = rig.chain.wallets[wallet]!
  const account = privateKeyToAccount(privateKey)
  const terms = termsOf(used)
  const proof = yield* pay(used, privateKey, terms)
  yield* used.authenticate(proof)
  const { block, used: usedBefore } = yield* used.readNonce(proof)
  assert.isFalse(usedBefore)
  const find = (transaction?: string, afterBlock = block) => used.findSettlement(proof, terms, afterBlock, transaction)
  return { rig, rail: used, privateKey, account, terms, proof, block, find }
})

const balanceOf = (address: Hex) =>
  Effect.flatMap(PaymentRig, ({ chain, client }) =>
    Effect.promise(() =>
      client.readContract({ address: chain.asset, abi: erc20Abi, functionName: "balanceOf", args: [address] })
    )
  )

/** Returns the amount that `work` moved to the service. */
const received = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { chain } = yield* PaymentRig
    const before = yield* balanceOf(chain.payTo)
    const result = yield* work
    return { result, amount: (yield* balanceOf(chain.payTo)) - before }
  })

layer(PaymentRig.layer, { excludeTestServices: true, timeout: 300_000 })(
  "PaymentRailX402 on the sandbox's chain",
  (it) => {
    it.effect("receives a payment and finds it with and without its transaction", () =>
      Effect.gen(function* () {
        const { block, find, proof, rail, terms } = yield* begin(0)
        yield* rail.verify(proof, terms)
        yield* rail.simulate(proof, terms)
        const { amount, result } = yield* received(rail.settle(proof, terms))
        if (result._tag !== "Accepted") return assert.fail(result.message)
        assert.strictEqual(amount, price)
        const found = yield* find(result.transaction)
        if (found._tag !== "Paid") return assert.fail(found._tag)
        assert.strictEqual(found.transaction, result.transaction)
        assert.isAbove(Number(found.block), Number(block))
        assert.deepStrictEqual(yield* find(), found)
        assert.deepStrictEqual(yield* find(`0x${"11".repeat(32)}`), found)
        const receipt = rail.encodeReceipt({
          ...found,
          network: terms.network,
          payer: proof.payer,
          amount: terms.amount,
          isRefunded: false,
          extensions: {}
        })
        assert.strictEqual(decodePaymentResponseHeader(receipt).transaction, found.transaction)
      })
    )

    it.effect("charges a replayed payment once and reports it as used afterwards", () =>
      Effect.gen(function* () {
        const { find, proof, rail, terms } = yield* begin(0)
        yield* rail.settle(proof, terms)
        const { amount, result } = yield* received(rail.settle(proof, terms))
        assert.strictEqual(result._tag, "Unknown", "only the chain shows that the service used it")
        assert.strictEqual(amount, 0n)
        assert.strictEqual((yield* Effect.flip(rail.simulate(proof, terms)))._tag, "ProofInvalid")
        const reading = yield* rail.readNonce(proof)
        assert.isTrue(reading.used)
        const paid = yield* find()
        if (paid._tag !== "Paid") return assert.fail(paid._tag)
        for (const later of [paid.block, reading.block]) {
          for (const known of [undefined, paid.transaction]) {
            assert.strictEqual((yield* find(known, later))._tag, "UsedOtherwise")
          }
        }
      })
    )

    /** Returns the outcome of a payment after another use of its nonce. */
    const afterwards = Effect.fnUntraced(function* (payment: Effect.Success<ReturnType<typeof begin>>) {
      const { find, proof, rail, terms } = payment
      const settled = yield* received(rail.settle(proof, terms))
      assert.strictEqual(settled.amount, 0n)
      assert.strictEqual(settled.result._tag, "Unknown")
      return yield* find()
    })

    it.effect("receives nothing from a cancelled authorization", () =>
      Effect.gen(function* () {
        const payment = yield* begin(1)
        yield* payment.rail.verify(payment.proof, payment.terms)
        const { transactionHash } = yield* cancel(payment.proof, payment.account)
        assert.strictEqual((yield* afterwards(payment))._tag, "UsedOtherwise")
        assert.strictEqual((yield* payment.find(transactionHash))._tag, "UsedOtherwise")
      })
    )

    it.effect("receives nothing from another transfer with the same nonce", () =>
      Effect.gen(function* () {
        const { wallets } = (yield* PaymentRig).chain
        for (const change of [{ to: wallets[4]!.address }, { value: 1n }, { value: price + 1n }]) {
          const payment = yield* begin(1)
          const { transactionHash } = yield* redirect(payment.proof, payment.account, change)
          assert.strictEqual((yield* afterwards(payment))._tag, "UsedOtherwise")
          assert.strictEqual((yield* payment.find(transactionHash))._tag, "UsedOtherwise")
        }
      })
    )

    it.effect("accepts an authorization that a third account submitted first", () =>
      Effect.gen(function* () {
        const payment = yield* begin(2)
        const { amount, result } = yield* received(submit(payment.proof))
        assert.strictEqual(amount, price)
        const expected = { _tag: "Paid", transaction: result.transactionHash, block: result.blockNumber } as const
        assert.deepStrictEqual(yield* afterwards(payment), expected)
        assert.deepStrictEqual(yield* payment.find(result.transactionHash), expected)
      })
    )

    it.effect("finds a transfer of a third account from the block before its challenge on", () =>
      Effect.gen(function* () {
        const payment = yield* begin(2)
        const { result } = yield* received(submit(payment.proof))
        const { client } = yield* PaymentRig
        const mined = yield* Effect.promise(() => client.getBlock({ blockNumber: result.blockNumber }))
        const at = (seconds: bigint) =>
          payment.rail.blockBefore(payment.terms, Timestamp.Timestamp.make(Number(seconds) * 1_000))
        const earlier = yield* at(mined.timestamp)
        assert.isBelow(Number(earlier), Number(result.blockNumber))
        assert.strictEqual((yield* payment.find(undefined, earlier))._tag, "Paid")
        const later = yield* at(mined.timestamp + 1n)
        assert.isAtLeast(Number(later), Number(result.blockNumber))
        assert.strictEqual((yield* payment.find(undefined, later))._tag, "UsedOtherwise")
      })
    )

    it.effect("reports a settlement without a response as unknown, and finds its outcome on the chain", () =>
      Effect.gen(function* () {
        const rig = yield* PaymentRig
        const rail = yield* rig.railOf({
          facilitator: httpFacilitator({ url: rig.facilitatorUrl, settleTimeoutMillis: 1_000 })
        })
        for (const mode of ["after", "hang"] as const) {
          const { find, proof, terms } = yield* begin(2, rail)
          yield* rig.plan("settle", mode)
          const { amount, result } = yield* received(rail.settle(proof, terms))
          assert.deepStrictEqual([result._tag, amount], ["Unknown", price])
          assert.strictEqual((yield* find())._tag, "Paid")
        }
      })
    )

    it.effect("may submit an unused authorization again", () =>
      Effect.gen(function* () {
        const { find, proof, rail, rig, terms } = yield* begin(2)
        yield* rig.plan("settle", "before")
        const { amount, result } = yield* received(rail.settle(proof, terms))
        assert.deepStrictEqual([result._tag, amount], ["Unknown", 0n])
        assert.deepStrictEqual(yield* find(), { _tag: "Unused", expired: false })
        assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
        assert.strictEqual((yield* find())._tag, "Paid")
      })
    )

    it.effect("charges nothing if the balance of the wallet is too low", () =>
      Effect.gen(function* () {
        const { rail, privateKey, terms } = yield* begin(3)
        const dear = { ...terms, amount: 1_000_000_000_000n }
        const proof = yield* pay(rail, privateKey, dear)
        const invalid = yield* Effect.flip(rail.verify(proof, dear))
        assert.strictEqual(invalid._tag, "ProofInvalid")
        assert.include(invalid.message, "has 10000.00 USD₮0, and the price is 1000000.00 USD₮0 on ")
        assert.strictEqual((yield* Effect.flip(rail.simulate(proof, dear)))._tag, "ProofInvalid")
        const { amount, result } = yield* received(rail.settle(proof, dear))
        assert.deepStrictEqual([result._tag, amount], ["Refused", 0n])
      })
    )

    it.effect("waits for the configured confirmations", () =>
      Effect.gen(function* () {
        const rig = yield* PaymentRig
        const rail = yield* rig.railOf({ confirmations: 30 })
        const { find, proof, terms } = yield* begin(3, rail)
        const answer = yield* rail.settle(proof, terms)
        const transaction = answer._tag === "Accepted" ? answer.transaction : undefined
        assert.deepStrictEqual([(yield* find())._tag, (yield* find(transaction))._tag], ["Unsettled", "Unsettled"])
        yield* Effect.promise(() => rig.client.mine({ blocks: 30 }))
        assert.deepStrictEqual([(yield* find())._tag, (yield* find(transaction))._tag], ["Paid", "Paid"])
      })
    )

    it.effect("finds many payments concurrently", () =>
      Effect.gen(function* () {
        const rail = yield* (yield* PaymentRig).railOf()
        const payments = yield* Effect.forEach([0, 1, 2, 3, 4, 0, 1, 2], (wallet) => begin(wallet, rail))
        const { amount } = yield* received(
          Effect.forEach(payments, ({ proof, terms }) => rail.settle(proof, terms), { concurrency: "unbounded" })
        )
        assert.strictEqual(amount, 8n * price)
        const found = yield* Effect.forEach(payments, ({ find }) => find(), { concurrency: "unbounded" })
        assert.deepStrictEqual(new Set(found.map((settlement) => settlement._tag)), new Set(["Paid"]))
        assert.strictEqual(
          new Set(found.map((settlement) => settlement._tag === "Paid" && settlement.transaction)).size,
          8
        )
      })
    )

    it.effect("starts only if the token matches its configuration", () =>
      Effect.gen(function* () {
        const { railOf } = yield* PaymentRig
        for (const wrong of [{ name: "USDT0" }, { version: "2" }, { decimals: 18 }, { network: "eip155:196" }]) {
          assert.strictEqual((yield* Effect.exit(railOf(wrong)))._tag, "Failure")
        }
      })
    )
  }
)
