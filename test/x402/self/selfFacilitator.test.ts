import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { parseGwei } from "viem"
import { PaymentRig } from "../PaymentRig.ts"
import { openOf, outcome, payment, purse, server, SharedStorage, storeOnly, takenOf, until } from "./SelfRig.ts"

const AUTHORIZATIONS = 50
/** Long timeouts: concurrent payments take long on a busy machine, and this test is not about time. */
const patience = [{ settleTimeoutMillis: 120_000 }, { rpcTimeoutMillis: 120_000, maxTimeoutSeconds: 600 }] as const

const rig = Layer.merge(PaymentRig.layer, SharedStorage.postgres)
layer(rig, { excludeTestServices: true, timeout: 300_000 })("Servers that share a gas wallet", (it) => {
  it.effect("settle concurrently, without a gap or a repeat of account nonces", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const servers = [yield* server(wallet, ...patience), yield* server(wallet, ...patience)] as const
      const payments = yield* Effect.forEach(Array.from({ length: AUTHORIZATIONS }), (_, index) =>
        payment(servers[0].rail, index)
      )
      const answers = yield* Effect.forEach(
        payments,
        ({ proof, terms }, index) => servers[index % 2 === 0 ? 0 : 1].rail.settle(proof, terms),
        { concurrency: "unbounded" }
      )
      for (const [index, answer] of answers.entries()) {
        assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
        const found = yield* outcome(servers[1].rail, payments[index]!)
        assert.strictEqual(found._tag, "Paid")
        if (found._tag === "Paid" && answer._tag === "Accepted") {
          assert.strictEqual(found.transaction, answer.transaction)
        }
      }
      assert.strictEqual(yield* takenOf(wallet), AUTHORIZATIONS)
      // Final transactions are removed from the store.
      assert.lengthOf(yield* until(openOf(wallet), (open) => open.length === 0), 0)
    })
  )

  it.effect("send a transaction that a killed server had stored", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const dying = yield* server(wallet)
      dying.node.behave("drop", "eth_sendRawTransaction")
      const paid = yield* payment(dying.rail)
      yield* storeOnly(wallet, dying.rail, paid)
      yield* dying.kill
      assert.lengthOf(yield* openOf(wallet), 1)
      assert.strictEqual(yield* takenOf(wallet), 0)

      const other = yield* server(wallet)
      const found = yield* until(outcome(other.rail, paid), ({ _tag }) => _tag !== "Unused")
      assert.strictEqual(found._tag, "Paid")
      assert.strictEqual(yield* takenOf(wallet), 1)
    })
  )

  it.effect("send a transaction again that a node has lost", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { node, rail } = yield* server(wallet)
      node.behave("lose", "eth_sendRawTransaction")
      const paid = yield* payment(rail)
      const settling = yield* Effect.forkChild(rail.settle(paid.proof, paid.terms))
      yield* until(
        Effect.sync(() => node.asked.get("eth_sendRawTransaction") ?? 0),
        (asked) => asked > 0
      )
      assert.strictEqual((yield* outcome(rail, paid))._tag, "Unused")
      node.behave("answer", "eth_sendRawTransaction")
      const answer = yield* Fiber.join(settling)
      assert.strictEqual(answer._tag, "Accepted")
    })
  )

  it.effect("raise the price of a stuck transaction", () =>
    Effect.gen(function* () {
      const { client } = yield* PaymentRig
      const wallet = yield* purse()
      const { node, rail } = yield* server(wallet, { repriceAfterMillis: 1_000, settleTimeoutMillis: 25_000 })
      node.behave("drop", "eth_sendRawTransaction")
      const paid = yield* payment(rail)
      const settling = yield* Effect.forkChild(rail.settle(paid.proof, paid.terms))
      const [first] = yield* until(openOf(wallet), (open) => open.length === 1)
      // Far above the signed price, and far below the ceiling.
      yield* Effect.promise(() => client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("20") }))
      yield* Effect.promise(() => client.mine({ blocks: 1 }))
      node.behave("answer", "eth_sendRawTransaction")
      const answer = yield* Fiber.join(settling)
      assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
      assert.isDefined(first)
      if (answer._tag !== "Accepted" || first === undefined) return
      assert.notInclude(
        first.versions.map(({ hash }) => hash),
        answer.transaction,
        "an older version was mined"
      )
      assert.strictEqual((yield* outcome(rail, paid))._tag, "Paid")
      assert.strictEqual(yield* takenOf(wallet), 1)
    })
  )

  it.effect("spend gas once on an authorization that is settled repeatedly", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const servers = [yield* server(wallet, ...patience), yield* server(wallet, ...patience)] as const
      const paid = yield* payment(servers[0].rail)
      const settle = (index: number) => servers[index % 2 === 0 ? 0 : 1].rail.settle(paid.proof, paid.terms)
      const answers = yield* Effect.forEach(Array.from({ length: 8 }), (_, index) => settle(index), {
        concurrency: "unbounded"
      })
      const found = yield* outcome(servers[0].rail, paid)
      assert.strictEqual(found._tag, "Paid")
      for (const answer of answers) {
        assert.notStrictEqual(answer._tag, "Refused")
        if (answer._tag === "Accepted" && found._tag === "Paid") {
          assert.strictEqual(answer.transaction, found.transaction)
        }
      }
      assert.include(
        answers.map(({ _tag }) => _tag),
        "Accepted"
      )
      assert.notStrictEqual((yield* settle(1))._tag, "Refused")
      yield* until(openOf(wallet), (open) => open.length === 0)
      assert.strictEqual((yield* settle(0))._tag, "Unknown", "the chain shows the user of the nonce")
      assert.strictEqual(yield* takenOf(wallet), 1)
    })
  )
})
