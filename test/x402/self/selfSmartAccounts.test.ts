import { sandboxAccountFactory } from "@agentos/sandbox"
import { TRANSFER_GAS_MAX } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { PaymentRig } from "../PaymentRig.ts"
import { ACCEPTS, ACCEPTS_IN_SIMULATIONS, codeAt, newAccount, newContract } from "../SmartAccounts.ts"
import { openOf, outcome, payment, purse, server, SharedStorage, takenOf, until } from "./SelfRig.ts"

const accepting = { smartAccounts: true, smartAccountFactories: [sandboxAccountFactory] }

const rig = Layer.merge(PaymentRig.layer, SharedStorage.memory)
layer(rig, { excludeTestServices: true, timeout: 300_000 })("A self-hosted facilitator", (it) => {
  it.effect("settles the payment of a smart account with one transaction", () =>
    Effect.gen(function* () {
      for (const kind of ["account", "packed"] as const) {
        const wallet = yield* purse()
        const { rail } = yield* server(wallet, {}, accepting)
        const paid = yield* payment(rail, (yield* newAccount(kind)).account)
        yield* rail.authenticate(paid.proof)
        const answer = yield* rail.settle(paid.proof, paid.terms)
        assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
        assert.strictEqual((yield* outcome(rail, paid))._tag, "Paid")
        assert.strictEqual(yield* takenOf(wallet), 1)
      }
    })
  )

  it.effect("deploys a smart account once for several payments, on several servers", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const servers = [yield* server(wallet, {}, accepting), yield* server(wallet, {}, accepting)] as const
      const { account } = yield* newAccount("undeployed")
      const payments = yield* Effect.forEach([0, 1, 2, 3], () => payment(servers[0].rail, account))
      const answers = yield* Effect.forEach(
        payments,
        ({ proof, terms }, index) => servers[index % 2 === 0 ? 0 : 1].rail.settle(proof, terms),
        { concurrency: "unbounded" }
      )
      for (const answer of answers) {
        assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
      }
      assert.strictEqual(yield* takenOf(wallet), 1 + payments.length)
    })
  )

  it.effect("adds the transfer to a deployment after which a server died", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const dying = yield* server(wallet, {}, accepting)
      const { account } = yield* newAccount("undeployed")
      const paid = yield* payment(dying.rail, account)
      dying.node.behave("drop", "eth_sendRawTransaction")
      const settling = yield* Effect.forkChild(dying.rail.settle(paid.proof, paid.terms))
      const [deployment] = yield* until(openOf(wallet), (open) => open.length > 0)
      assert.match(deployment?.reference ?? "", /^deployment:/)
      yield* Fiber.interrupt(settling)
      yield* dying.kill
      assert.isUndefined(yield* codeAt(account.address))

      const { rail } = yield* server(wallet, {}, accepting)
      yield* until(codeAt(account.address), (code) => code !== undefined)
      assert.strictEqual((yield* outcome(rail, paid))._tag, "Unused")
      const answer = yield* rail.settle(paid.proof, paid.terms)
      assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
      assert.strictEqual(yield* takenOf(wallet), 2)
    })
  )

  it.effect("spends nothing for a factory that is not accepted, or whose call does not deploy the payer", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { account } = yield* newAccount("undeployed")
      const { account: other } = yield* newAccount("undeployed")
      const closed = yield* server(wallet, {}, { smartAccounts: true })
      const refused = yield* payment(closed.rail, account)
      assert.strictEqual((yield* closed.rail.settle(refused.proof, refused.terms))._tag, "Refused")
      const { rail } = yield* server(wallet, {}, accepting)
      const wrong = yield* payment(rail, { ...other, address: account.address })
      assert.strictEqual((yield* Effect.flip(rail.simulate(wrong.proof, wrong.terms)))._tag, "ProofInvalid")
      assert.notStrictEqual((yield* rail.settle(wrong.proof, wrong.terms))._tag, "Accepted")
      assert.strictEqual(yield* takenOf(wallet), 0)
      assert.lengthOf(yield* openOf(wallet), 0)
      assert.isUndefined(yield* codeAt(account.address))
    })
  )

  it.effect("refuses an account that accepts in simulations only, after one transaction", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet, {}, accepting)
      const paid = yield* payment(rail, yield* newContract(ACCEPTS_IN_SIMULATIONS))
      yield* rail.authenticate(paid.proof)
      yield* rail.simulate(paid.proof, paid.terms)
      assert.deepStrictEqual(yield* rail.settle(paid.proof, paid.terms), {
        _tag: "Refused",
        message: "The facilitator refused the payment: transaction_reverted."
      })
      assert.deepStrictEqual(yield* outcome(rail, paid), { _tag: "Unused", expired: false })
      assert.strictEqual(yield* takenOf(wallet), 1, "the reverted transaction")
    })
  )

  it.effect("refuses a payer without spending gas after three of its transfers reverted, and no other payer", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet, {}, accepting)
      const signer = yield* newContract(ACCEPTS_IN_SIMULATIONS)
      const messages: Array<string> = []
      for (let times = 0; times < 5; times++) {
        const paid = yield* payment(rail, signer)
        const answer = yield* rail.settle(paid.proof, paid.terms)
        messages.push(answer._tag === "Refused" ? answer.message : answer._tag)
      }
      const reverted = "The facilitator refused the payment: transaction_reverted."
      const refused = "The facilitator refused the payment: payer_transactions_reverted_too_often_retry_later."
      assert.deepStrictEqual(messages, [reverted, reverted, reverted, refused, refused])
      assert.strictEqual(yield* takenOf(wallet), 3, "the reverted transactions")
      const other = yield* payment(rail)
      assert.strictEqual((yield* rail.settle(other.proof, other.terms))._tag, "Accepted")
    })
  )

  it.effect("submits no more than ten payments of a payer at once", () =>
    Effect.gen(function* () {
      const wallet = yield* purse()
      const { rail } = yield* server(wallet, {}, accepting)
      const signer = yield* newContract(ACCEPTS_IN_SIMULATIONS)
      const payments = yield* Effect.forEach(Array.from({ length: 20 }), () => payment(rail, signer))
      const settle = ({ proof, terms }: (typeof payments)[number]) => rail.settle(proof, terms)
      const answers = yield* Effect.forEach(payments, settle, { concurrency: "unbounded" })
      const counted = (tag: string) => answers.filter(({ _tag }) => _tag === tag).length
      assert.deepStrictEqual([counted("Refused"), counted("Unknown")], [10, 10])
      assert.strictEqual(yield* takenOf(wallet), 10, "the reverted transactions")
      const later = yield* Effect.forEach(payments.slice(10), settle)
      assert.isTrue(later.every(({ _tag }) => _tag === "Refused"))
      assert.strictEqual(yield* takenOf(wallet), 10)
    })
  )

  it.effect("spends nothing on an account that needs more gas than the limit", () =>
    Effect.gen(function* () {
      const { client } = yield* PaymentRig
      const wallet = yield* purse()
      const { rail } = yield* server(wallet, {}, accepting)
      const signer = yield* newContract(ACCEPTS)
      const paid = yield* payment(rail, signer)
      yield* rail.authenticate(paid.proof)
      // Reverts unless more gas than the limit is left.
      const limit = TRANSFER_GAS_MAX.toString(16).padStart(8, "0")
      const bytecode = `0x63${limit}5a11600f5760006000fd5b${ACCEPTS.slice(2)}` as const
      yield* Effect.promise(() => client.setCode({ address: signer.address, bytecode }))
      const answer = yield* rail.settle(paid.proof, paid.terms)
      assert.notStrictEqual(answer._tag, "Accepted")
      assert.strictEqual((yield* outcome(rail, paid))._tag, "Unused")
      assert.strictEqual(yield* takenOf(wallet), 0)
    })
  )
})
