import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { createPublicClient, createWalletClient, type Hex, http, parseGwei } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { submit } from "../Authorizations.ts"
import { pay, PaymentRig, termsOf } from "../PaymentRig.ts"
import {
  loggedBy,
  openOf,
  outcome,
  payment,
  type Purse,
  purse,
  server,
  SharedStorage,
  storeOnly,
  takenOf,
  until
} from "./SelfRig.ts"

const hexOf = (text: string): Hex => `0x${text.slice(2)}`

/** Sends transactions from a gas wallet like another program with its key. */
const sendElsewhere = Effect.fnUntraced(function* ({ privateKey }: Purse, nonce: number) {
  const { chain, client } = yield* PaymentRig
  const account = privateKeyToAccount(privateKey)
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(chain.rpcUrl) })
  return yield* Effect.promise(async () => {
    const hash = await wallet.sendTransaction({ to: account.address, value: 0n, nonce, gas: 21_000n })
    await client.waitForTransactionReceipt({ hash })
  })
})

const flipNibble = (payload: string): string => {
  const signature = /"signature":"(0x[0-9a-f]+)"/.exec(payload)?.[1] ?? ""
  const flipped = `${signature.slice(0, 20)}${signature[20] === "0" ? "1" : "0"}${signature.slice(21)}`
  return payload.replace(signature, flipped)
}

const rig = Layer.merge(PaymentRig.layer, SharedStorage.memory)
layer(rig, { excludeTestServices: true, timeout: 300_000 })("A self-hosted facilitator", (it) => {
  it.effect("verifies, settles and supports its network", () =>
    Effect.gen(function* () {
      const { rail } = yield* server(yield* purse())
      const paid = yield* payment(rail)
      yield* rail.verify(paid.proof, paid.terms)
      const answer = yield* rail.settle(paid.proof, paid.terms)
      const found = yield* outcome(rail, paid)
      assert.strictEqual(found._tag === "Paid" && found.transaction, answer._tag === "Accepted" && answer.transaction)
      assert.strictEqual((yield* Effect.flip(rail.simulate(paid.proof, paid.terms)))._tag, "ProofInvalid")
    })
  )

  it.effect("refuses a payment that cannot settle, without using an account nonce", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet)
      const { proof, terms } = yield* payment(rail)
      const forged = { ...proof, payload: flipNibble(proof.payload) }
      assert.notStrictEqual(forged.payload, proof.payload)
      assert.strictEqual((yield* rail.settle(forged, terms))._tag, "Refused")
      const poor = yield* pay(rail, `0x${"17".repeat(32)}`, terms)
      assert.strictEqual((yield* rail.settle(poor, terms))._tag, "Refused")
      const error = yield* Effect.flip(rail.verify(poor, terms))
      assert.include(error.message, "has 0.00 USD₮0, and the price is 0.25 USD₮0 on ")
      assert.strictEqual((yield* rail.settle(proof, { ...terms, amount: terms.amount + 1n }))._tag, "Refused")
      assert.lengthOf(yield* openOf(wallet), 0)
      assert.strictEqual(yield* takenOf(wallet), 0)
    })
  )

  it.effect("never reports a paid authorization as refused, even after it expired", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet)
      const terms = { ...termsOf(rail), maxTimeoutSeconds: 7 }
      const { chain } = yield* PaymentRig
      const proof = yield* pay(rail, chain.wallets[1]!.privateKey, terms)
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
      yield* until(openOf(wallet), (open) => open.length === 0)
      const expired = Effect.sync(() => Date.now() / 1_000 > proof.validBefore)
      yield* until(expired, (is) => is)
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Unknown")
    })
  )

  it.effect("refuses payments before a charge while gas is above the ceiling", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet, { maxFeePerGasGwei: 0.000_001 })
      const paid = yield* payment(rail)
      const error = yield* Effect.flip(rail.verify(paid.proof, paid.terms))
      assert.strictEqual(error._tag === "ProviderError" && error.reason, "Temporary")
      assert.include(error.message, "maxFeePerGasGwei")
      const answer = yield* rail.settle(paid.proof, paid.terms)
      assert.strictEqual(answer._tag, "Unknown")
      assert.lengthOf(yield* openOf(wallet), 0)
    })
  )

  it.effect("continues after the earlier transactions of a wallet", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      yield* sendElsewhere(wallet, 0)
      yield* sendElsewhere(wallet, 1)
      const { rail } = yield* server(wallet)
      const paid = yield* payment(rail)
      assert.strictEqual((yield* rail.settle(paid.proof, paid.terms))._tag, "Accepted")
      assert.strictEqual(yield* takenOf(wallet), 3)
    })
  )

  it.effect("pays refunds from a refund wallet without native coin", () =>
    Effect.gen(function* () {
      const { chain, client } = yield* PaymentRig
      const wallet = yield* purse()
      const refund = { privateKey: Redacted.make(chain.refundKey) }
      const { rail } = yield* server(wallet, {}, { refund })
      const { block, proof, terms } = yield* payment(rail)
      const answer = yield* rail.settle(proof, terms)
      assert.strictEqual(answer._tag, "Accepted")
      if (answer._tag !== "Accepted") return
      const { transaction } = answer
      const nonce = `0x${"5e".repeat(32)}`
      const back = rail.refund({ terms, proof, transaction, afterBlock: block, nonce })
      const paidBack = yield* until(Effect.orDie(back), ({ _tag }) => _tag === "Paid")
      assert.strictEqual(paidBack._tag, "Paid")
      assert.deepStrictEqual(yield* back, paidBack)
      if (paidBack._tag !== "Paid") return
      const hash = hexOf(paidBack.transaction)
      const sent = yield* Effect.promise(() => client.getTransaction({ hash }))
      assert.strictEqual(sent.from, wallet.address.toLowerCase())
      assert.strictEqual(yield* takenOf(wallet), 2)
    })
  )

  it.effect("reports the empty wallet, and continues after it is funded", () =>
    Effect.gen(function* () {
      const { client } = yield* PaymentRig
      const wallet = yield* purse("0")
      const { rail } = yield* server(wallet)
      const paid = yield* payment(rail)
      const error = yield* Effect.flip(rail.verify(paid.proof, paid.terms))
      assert.strictEqual(error._tag === "ProviderError" && error.reason, "Misconfigured")
      assert.include(error.message, wallet.address)
      yield* loggedBy((lines) =>
        Effect.gen(function* () {
          const answer = yield* rail.settle(paid.proof, paid.terms)
          assert.strictEqual(answer._tag, "Unknown")
          assert.isTrue(lines.some((line) => line.startsWith("Error") && line.includes(wallet.address)))
          assert.notInclude(lines.join(), wallet.privateKey.slice(2))
        })
      )
      assert.lengthOf(yield* openOf(wallet), 0)
      yield* Effect.promise(() => client.setBalance({ address: wallet.address, value: 10n ** 18n }))
      // At once, because only a successful check of the balance is cached.
      yield* rail.verify(paid.proof, paid.terms)
      assert.strictEqual((yield* rail.settle(paid.proof, paid.terms))._tag, "Accepted")
    })
  )

  it.effect("reports an unknown outcome while the chain is unavailable, and not a refusal", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { node, rail } = yield* server(wallet)
      const paid = yield* payment(rail)
      for (const method of ["eth_call", "eth_estimateGas", "eth_getBalance", "eth_getTransactionCount"]) {
        node.behave("drop", method)
        if (method === "eth_call") {
          const error = yield* Effect.flip(rail.verify(paid.proof, paid.terms))
          assert.strictEqual(error._tag === "ProviderError" && error.reason, "Temporary", method)
        }
        const answer = yield* rail.settle(paid.proof, paid.terms)
        assert.strictEqual(answer._tag, "Unknown", method)
        node.behave("answer", method)
      }
      assert.lengthOf(yield* openOf(wallet), 0)
      assert.strictEqual((yield* rail.settle(paid.proof, paid.terms))._tag, "Accepted")
    })
  )

  it.effect("finds its mined transaction if the node dropped the connection before its response", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { node, rail } = yield* server(wallet)
      node.behave("break", "eth_sendRawTransaction")
      const paid = yield* payment(rail)
      assert.strictEqual((yield* rail.settle(paid.proof, paid.terms))._tag, "Accepted")
      assert.strictEqual(yield* takenOf(wallet), 1)
    })
  )

  it.effect("uses up the account nonce of a payment that a third account submitted first, and continues", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      yield* loggedBy((lines) =>
        Effect.gen(function* () {
          const { node, rail } = yield* server(wallet)
          node.behave("drop", "eth_sendRawTransaction")
          const paid = yield* payment(rail)
          const settling = yield* Effect.forkChild(rail.settle(paid.proof, paid.terms))
          yield* until(openOf(wallet), (open) => open.length === 1)
          yield* submit(paid.proof)
          node.behave("answer", "eth_sendRawTransaction")
          assert.strictEqual((yield* Fiber.join(settling))._tag, "Unknown")
          assert.strictEqual((yield* outcome(rail, paid))._tag, "Paid")
          const next = yield* payment(rail, 1)
          assert.strictEqual((yield* rail.settle(next.proof, next.terms))._tag, "Accepted")
          assert.strictEqual(yield* takenOf(wallet), 2)
          yield* until(openOf(wallet), (open) => open.length === 0)
          assert.isTrue(lines.some((line) => line.startsWith("Warn") && line.includes("moved nothing")))
        })
      )
    })
  )

  it.effect("logs an error if another program sends from its wallet, and settles on a retry", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      yield* loggedBy((lines) =>
        Effect.gen(function* () {
          const { node, rail } = yield* server(wallet)
          node.behave("drop", "eth_sendRawTransaction")
          const paid = yield* payment(rail)
          yield* storeOnly(wallet, rail, paid)
          yield* sendElsewhere(wallet, 0)
          node.behave("answer", "eth_sendRawTransaction")
          yield* until(openOf(wallet), (open) => open.length === 0)
          const alarm = lines.find((line) => line.startsWith("Error") && line.includes("did not sign"))
          assert.include(alarm, wallet.address)
          assert.strictEqual((yield* outcome(rail, paid))._tag, "Unused")
          const again = yield* rail.settle(paid.proof, paid.terms)
          assert.strictEqual(again._tag, "Accepted")
          assert.strictEqual(yield* takenOf(wallet), 2)
        })
      )
    })
  )

  it.effect("reports account nonces that another program used while it ran", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      yield* loggedBy((lines) =>
        Effect.gen(function* () {
          const { node, rail } = yield* server(wallet)
          const paid = yield* payment(rail)
          node.behave("lose", "eth_sendRawTransaction")
          yield* storeOnly(wallet, rail, paid)
          // The keeper has unlimited time while no block becomes final.
          node.behave("stand", "eth_getBlockByNumber")
          const standing = createPublicClient({ transport: http(node.url) })
          yield* Effect.promise(() => standing.getBlock({ blockTag: "finalized" }))
          // One transaction replaces the settlement, and more follow that are not in the store.
          yield* Effect.forEach([0, 1, 2], (nonce) => sendElsewhere(wallet, nonce))
          const found = yield* until(
            Effect.sync(() => lines.find((line) => line.startsWith("Error") && line.includes("another sender"))),
            (line) => line !== undefined
          )
          assert.match(found ?? "", /account nonce 1, 2\./)
        })
      )
    })
  )

  it.effect("sends no request to the chain while its wallet has no open transaction", () =>
    Effect.gen(function* () {
      const { node } = yield* server(yield* purse())
      const asked = () => Array.from(node.asked.values()).reduce((sum, count) => sum + count, 0)
      // After it has checked that the wallet can pay for gas.
      const looked = ["eth_getBalance", "eth_maxPriorityFeePerGas"].map((method) =>
        until(
          Effect.sync(() => node.asked.has(method)),
          (is) => is
        )
      )
      yield* Effect.all(looked)
      const before = asked()
      yield* Effect.sleep("5 seconds")
      assert.strictEqual(asked(), before)
    })
  )

  it.effect("waits at its ceiling with an error log, and continues when gas is cheaper", () =>
    Effect.gen(function* () {
      const { client } = yield* PaymentRig
      const wallet = yield* purse()
      yield* loggedBy((lines) =>
        Effect.gen(function* () {
          // The signed price, which leaves no room for the required increase of a quarter.
          const market = yield* Effect.promise(() => client.getBlock())
          const base = Number(market.baseFeePerGas ?? 0n) / 1e9
          const { node, rail } = yield* server(wallet, { repriceAfterMillis: 1_000, maxFeePerGasGwei: base + 1.5 })
          node.behave("drop", "eth_sendRawTransaction")
          const paid = yield* payment(rail)
          yield* storeOnly(wallet, rail, paid)
          yield* Effect.promise(() => client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(`${base + 3}`) }))
          yield* Effect.promise(() => client.mine({ blocks: 1 }))
          node.behave("answer", "eth_sendRawTransaction")
          yield* until(
            Effect.sync(() => lines.some((line) => line.startsWith("Error") && line.includes("cannot be raised"))),
            (said) => said
          )
          // Each empty block lowers the price of gas by an eighth.
          const found = yield* until(outcome(rail, paid), ({ _tag }) => _tag === "Paid")
          assert.strictEqual(found._tag, "Paid")
        })
      )
    })
  )
})
