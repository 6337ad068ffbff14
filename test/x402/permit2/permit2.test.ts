import type { PaidSettlement, PaymentProof, Settlement } from "@agentos/core"
import { sandboxTetherAbi } from "@agentos/sandbox"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { pay, price, termsOf } from "../PaymentRig.ts"
import {
  batch,
  customer,
  finalize,
  hideCall,
  invalidation,
  Permit2Rig,
  send,
  sendTogether,
  settlement
} from "./Permit2Rig.ts"

const paidIn = (found: Settlement): PaidSettlement => (found._tag === "Paid" ? found : assert.fail(found._tag))
const candidateIds = (found: Settlement) => paidIn(found).candidates?.map(({ transferId }) => transferId) ?? []

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })("A payment by Permit2", (it) => {
  /** A verified payment of a customer, and the block in which its nonce was unused. */
  const presented = Effect.fnUntraced(function* (index = 0) {
    const rail = yield* (yield* Permit2Rig).railOf()
    const wallet = yield* customer(index)
    const terms = termsOf(rail)
    const proof = yield* pay(rail, wallet.privateKey, terms)
    yield* rail.authenticate(proof)
    yield* rail.verify(proof, terms)
    const { block, used } = yield* rail.readNonce(proof)
    assert.isFalse(used)
    return { rail, terms, proof, block, wallet, find: (tx?: string) => rail.findSettlement(proof, terms, block, tx) }
  })

  it.effect("of the stock client settles by the stock facilitator", () =>
    Effect.gen(function* () {
      const { find, proof, rail, terms } = yield* presented()
      assert.deepInclude(terms.extra, { name: "Tether USD", assetTransferMethod: "permit2", decimals: 6 })
      assert.deepStrictEqual(yield* find(), { _tag: "Unused", expired: false })
      yield* rail.simulate(proof, terms)
      const answer = yield* rail.settle(proof, terms)
      assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
      const transaction = answer._tag === "Accepted" ? answer.transaction : ""
      for (const found of [yield* find(transaction), yield* find()]) {
        assert.strictEqual(paidIn(found).transaction, transaction)
        assert.deepStrictEqual(
          paidIn(found).candidates?.map((candidate) => candidate.transaction),
          [transaction]
        )
      }
      assert.isTrue((yield* rail.readNonce(proof)).used)
      const again = yield* Effect.flip(rail.simulate(proof, terms))
      assert.strictEqual(again._tag, "ProofInvalid")
    })
  )

  it.effect("without an allowance is refused before anything else, with the transaction that gives it", () =>
    Effect.gen(function* () {
      const { chain, railOf } = yield* Permit2Rig
      const rail = yield* railOf()
      const { privateKey } = chain.wallets[3]!
      const [terms, proof] = [termsOf(rail), yield* pay(rail, privateKey)]
      const error = yield* Effect.flip(rail.verify(proof, terms))
      if (error._tag !== "AllowanceRequired") return assert.fail(error._tag)
      const { data, network, to } = error.transaction
      assert.strictEqual(network, chain.network)
      const before = yield* rail.readFunds(terms, proof.payer)
      assert.isAbove(Number(before.balance), 0)
      assert.strictEqual(before.allowance, 0n)
      yield* send(privateKey, to as Hex, data as Hex)
      assert.deepStrictEqual(yield* rail.readFunds(terms, proof.payer), { ...before, allowance: maxUint256 })
      yield* rail.verify(proof, terms)
    })
  )

  it.effect("that a third party submits has paid, directly or through a contract that hides it", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const direct = yield* presented()
      const receipt = yield* send(chain.deployerKey, settlement(direct.proof).to, settlement(direct.proof).data)
      assert.strictEqual(paidIn(yield* direct.find()).transaction, receipt.transactionHash)

      const hidden = yield* presented()
      const { address } = privateKeyToAccount(generatePrivateKey())
      yield* hideCall(address, settlement(hidden.proof))
      const behind = yield* send(chain.deployerKey, address, "0x", 500_000n)
      assert.strictEqual(paidIn(yield* hidden.find()).transaction, behind.transactionHash)
    })
  )

  it.effect("whose nonce its payer invalidates has not paid, once that is final", () =>
    Effect.gen(function* () {
      const { find, proof, wallet } = yield* presented()
      const { data, to } = invalidation(proof)
      const { blockNumber } = yield* send(wallet.privateKey, to, data)
      yield* finalize
      const found = yield* find()
      assert.deepInclude(found, { _tag: "UsedOtherwise", block: blockNumber })
    })
  )

  it.effect("whose nonce is invalidated in another block is not proved by an equal transfer", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const [paying, cancelled] = [yield* presented(), yield* presented()]
      yield* send(chain.deployerKey, settlement(paying.proof).to, settlement(paying.proof).data)
      const { data, to } = invalidation(cancelled.proof)
      yield* send(cancelled.wallet.privateKey, to, data)
      yield* finalize
      assert.strictEqual((yield* paying.find())._tag, "Paid")
      assert.strictEqual((yield* cancelled.find())._tag, "UsedOtherwise")
    })
  )

  type Presented = Effect.Success<ReturnType<typeof presented>>
  /** Two payments, and the receipts of transactions about them in one block: the chain may mine between two of them. */
  const inOneBlock = Effect.fnUntraced(function* (
    callsOf: (one: Presented, two: Presented) => Parameters<typeof sendTogether>
  ) {
    for (;;) {
      const [one, two] = [yield* presented(), yield* presented()]
      const receipts = yield* sendTogether(...callsOf(one, two))
      if (new Set(receipts.map(({ blockNumber }) => blockNumber)).size === 1) return { one, two, receipts }
    }
  })

  it.effect("whose nonce is invalidated beside a transfer of the proxy for another one has no candidate", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { one, two } = yield* inOneBlock((paying, cancelled) => [
        { key: chain.deployerKey, ...settlement(paying.proof) },
        { key: cancelled.wallet.privateKey, ...invalidation(cancelled.proof) }
      ])
      yield* finalize
      assert.lengthOf(candidateIds(yield* one.find()), 1)
      assert.strictEqual((yield* two.find())._tag, "UsedOtherwise")
    })
  )

  it.effect("whose nonce is invalidated beside an equal transfer in a batch has that transfer as candidate", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { one, two } = yield* inOneBlock((paying, cancelled) => [
        { key: chain.deployerKey, ...batch(paying.proof) },
        { key: cancelled.wallet.privateKey, ...invalidation(cancelled.proof) }
      ])
      const ids = candidateIds(yield* one.find())
      assert.lengthOf(ids, 1)
      assert.deepStrictEqual(candidateIds(yield* two.find()), ids)
    })
  )

  it.effect("has the transfer of its own transaction first, and each transfer once", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { one, receipts, two } = yield* inOneBlock((a, b) => [
        { key: chain.deployerKey, ...batch(a.proof) },
        { key: chain.faucetKey, ...batch(b.proof) }
      ])
      const [first, second] = [yield* one.find(), yield* two.find()]
      assert.strictEqual(paidIn(first).transaction, receipts[0]?.transactionHash)
      assert.strictEqual(paidIn(second).transaction, receipts[1]?.transactionHash)
      assert.deepStrictEqual(candidateIds(second), candidateIds(first).toReversed())
      // A hint goes first, and hides no other.
      const hinted = yield* one.find(receipts[1]?.transactionHash)
      assert.deepStrictEqual(candidateIds(hinted), candidateIds(second))
    })
  )

  it.effect("shares a transaction with another one, and each has a transfer of its own", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const [one, two] = [yield* presented(), yield* presented()]
      const { data, to } = batch(one.proof, two.proof)
      yield* send(chain.deployerKey, to, data)
      const ids = candidateIds(yield* one.find())
      assert.lengthOf(new Set(ids), 2)
      assert.deepStrictEqual(candidateIds(yield* two.find()), ids)
    })
  )

  it.effect("is unsettled until its block has the required confirmations", () =>
    Effect.gen(function* () {
      const { chain, client, railOf } = yield* Permit2Rig
      const { block, proof, terms } = yield* presented()
      yield* send(chain.deployerKey, settlement(proof).to, settlement(proof).data)
      const rail = yield* railOf({ confirmations: 50 })
      assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Unsettled")
      yield* Effect.promise(() => client.mine({ blocks: 50 }))
      assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Paid")
    })
  )

  it.effect("has no transfer that lacks confirmations as candidate, and says that there is one", () =>
    Effect.gen(function* () {
      const { chain, client, railOf } = yield* Permit2Rig
      // The chain keeps the states of 32 blocks, so the blocks of the uses are not known any more.
      const mine = (blocks: number) => Effect.promise(() => client.mine({ blocks }))
      const [one, two] = [yield* presented(), yield* presented()]
      yield* send(chain.deployerKey, batch(one.proof).to, batch(one.proof).data)
      yield* mine(60)
      yield* send(chain.deployerKey, batch(two.proof).to, batch(two.proof).data)
      yield* mine(40)
      const rail = yield* railOf({ confirmations: 90 })
      const find = rail.findSettlement(two.proof, two.terms, two.block)
      const early = paidIn(yield* find)
      assert.deepStrictEqual([early.candidates?.length, early.hasUnconfirmed], [1, true])
      yield* mine(60)
      const late = paidIn(yield* find)
      assert.deepStrictEqual([late.candidates?.length, late.hasUnconfirmed], [2, undefined])
      assert.notStrictEqual(late.transaction, early.transaction)
    })
  )

  it.effect("that a reorganization removes is unused again, and keeps the id of its transfer when it returns", () =>
    Effect.gen(function* () {
      const { chain, client } = yield* Permit2Rig
      const { find, proof } = yield* presented()
      const before = yield* Effect.promise(() => client.snapshot())
      const first = yield* send(chain.deployerKey, settlement(proof).to, settlement(proof).data)
      const [id] = candidateIds(yield* find())
      yield* Effect.promise(() => client.revert({ id: before }))
      assert.strictEqual((yield* find())._tag, "Unused")
      yield* Effect.promise(() => client.mine({ blocks: 2 }))
      const second = yield* send(chain.deployerKey, settlement(proof).to, settlement(proof).data)
      if (second.transactionHash === first.transactionHash) assert.deepStrictEqual(candidateIds(yield* find()), [id])
      assert.strictEqual(paidIn(yield* find()).transaction, second.transactionHash)
    })
  )

  it.effect("that was used before the given block was used otherwise", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { proof, rail, terms } = yield* presented()
      const { blockNumber } = yield* send(chain.deployerKey, settlement(proof).to, settlement(proof).data)
      const found = yield* rail.findSettlement(proof, terms, blockNumber)
      assert.strictEqual(found._tag, "UsedOtherwise")
      assert.notProperty(found, "block")
    })
  )

  const owner = (functionName: "setParams" | "addBlackList" | "removeBlackList", args: ReadonlyArray<unknown>) =>
    Effect.flatMap(Permit2Rig, ({ chain }) =>
      send(
        chain.deployerKey,
        chain.asset,
        encodeFunctionData({ abi: sandboxTetherAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0])
      )
    )

  it.effect("is refused while the token keeps a fee, and nothing moves", () =>
    Effect.gen(function* () {
      const { find, proof, rail, terms } = yield* presented()
      yield* owner("setParams", [10n, 1n])
      const error = yield* Effect.flip(rail.simulate(proof, terms))
      assert.include(error.message, "This token keeps a fee: of 250000 base units, 249750 would arrive")
      yield* owner("setParams", [0n, 0n])
      yield* rail.simulate(proof, terms)
      assert.strictEqual((yield* find())._tag, "Unused")
    })
  )

  it.effect("is short, and not lost, if the token keeps a fee after the simulation", () =>
    Effect.gen(function* () {
      const { find, proof, rail, terms } = yield* presented()
      yield* rail.simulate(proof, terms)
      yield* owner("setParams", [10n, 1n])
      yield* Effect.ensuring(rail.settle(proof, terms), owner("setParams", [0n, 0n]))
      yield* finalize
      const found = paidIn(yield* find())
      assert.isTrue(found.isShort)
      assert.deepStrictEqual(
        found.candidates?.map(({ transaction }) => transaction),
        [found.transaction]
      )
    })
  )

  it.effect("is not paid by a smaller authorization, whose call has its nonce too", () =>
    Effect.gen(function* () {
      const { chain } = yield* Permit2Rig
      const { find, proof, rail, terms, wallet } = yield* presented()
      const { data, to } = settlement(yield* pay(rail, wallet.privateKey, { ...terms, amount: 1n }))
      yield* sendTogether(
        { key: chain.deployerKey, to, data: `${data}${proof.nonce.slice(2)}` },
        { key: wallet.privateKey, ...invalidation(proof) }
      )
      yield* finalize
      assert.strictEqual((yield* find())._tag, "UsedOtherwise")
    })
  )

  it.effect("of a wallet that the token has blocked is refused by the simulation", () =>
    Effect.gen(function* () {
      const { proof, rail, terms, wallet } = yield* presented()
      yield* owner("addBlackList", [wallet.address])
      const error = yield* Effect.flip(rail.simulate(proof, terms))
      assert.strictEqual(error._tag, "ProofInvalid")
      yield* owner("removeBlackList", [wallet.address])
      yield* rail.simulate(proof, terms)
    })
  )

  it.effect("with a signature in another form is refused with the form that Permit2 needs", () =>
    Effect.gen(function* () {
      const { proof, rail } = yield* presented()
      const { signature } = (JSON.parse(proof.payload) as { readonly payload: { readonly signature: Hex } }).payload
      const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
      const fromZero = signature.slice(0, -2) + (signature.endsWith("1b") ? "00" : "01")
      const refusalOf = (other: string) =>
        Effect.flip(rail.authenticate({ ...proof, payload: proof.payload.replace(signature, other) }))
      assert.include((yield* refusalOf(fromZero)).message, "27 or 28, because Permit2 passes it to ecrecover unchanged")
      assert.include((yield* refusalOf(compact)).message, "Send its 65 bytes r, s and v: this server")
    })
  )

  it.effect("with a changed field is not signed by its payer", () =>
    Effect.gen(function* () {
      const { proof, rail } = yield* presented()
      const changes: ReadonlyArray<Partial<PaymentProof>> = [
        { value: price + 1n },
        { payTo: `0x${"12".repeat(20)}` },
        { nonce: `0x${"ab".repeat(32)}` },
        { validAfter: 1 },
        { validBefore: proof.validBefore + 1 },
        { payer: `0x${"12".repeat(20)}` }
      ]
      for (const change of changes) {
        assert.strictEqual((yield* Effect.flip(rail.authenticate({ ...proof, ...change })))._tag, "ProofInvalid")
      }
    })
  )
})
