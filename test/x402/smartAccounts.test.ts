import {
  type SandboxAccount,
  sandboxAccount,
  sandboxAccountAbi,
  sandboxAccountFactory,
  type SandboxSignature,
  usdt
} from "@agentos/sandbox"
import { assert, layer } from "@effect/vitest"
import type { ClientEvmSigner } from "@x402/evm"
import { Effect } from "effect"
import { encodeFunctionData, type Hex, serializeErc6492Signature } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { pay, PaymentRig, termsOf } from "./PaymentRig.ts"
import { ACCEPTS, ACCEPTS_IN_SIMULATIONS, balanceOf, codeAt, newAccount, newContract, send } from "./SmartAccounts.ts"

const accepting = { smartAccounts: true, smartAccountFactories: [sandboxAccountFactory] }

layer(PaymentRig.layer, { excludeTestServices: true, timeout: 300_000 })("A smart account", (it) => {
  /** A rail that accepts smart accounts, and a payment of one of them that it has authenticated. */
  const authenticated = Effect.fnUntraced(function* (signer: ClientEvmSigner) {
    const rail = yield* (yield* PaymentRig).railOf(accepting)
    const terms = termsOf(rail)
    const proof = yield* pay(rail, signer, terms)
    yield* rail.authenticate(proof)
    yield* rail.verify(proof, terms)
    const { block, used } = yield* rail.readNonce(proof)
    assert.isFalse(used)
    return { rail, terms, proof, block }
  })

  const kinds: ReadonlyArray<SandboxSignature> = ["account", "packed", "undeployed"]
  it.effect.each(kinds)("pays with a signature of the kind %s", (kind) =>
    Effect.gen(function* () {
      const { account } = yield* newAccount(kind)
      assert.strictEqual((yield* codeAt(account.address)) === undefined, kind === "undeployed")
      const { block, proof, rail, terms } = yield* authenticated(account)
      yield* rail.simulate(proof, terms)
      const answer = yield* rail.settle(proof, terms)
      assert.strictEqual(answer._tag, "Accepted", "message" in answer ? answer.message : "")
      const found = yield* rail.findSettlement(proof, terms, block)
      assert.strictEqual(found._tag, "Paid")
      assert.strictEqual((yield* rail.readNonce(proof)).used, true)
      assert.strictEqual(yield* balanceOf(account.address), usdt(10) - terms.amount)
      assert.isDefined(yield* codeAt(account.address))
    })
  )

  it.effect("pays again after its deployment, with a signature that still names its factory", () =>
    Effect.gen(function* () {
      const { account } = yield* newAccount("undeployed")
      yield* send(account.deployment.factory, account.deployment.factoryData)
      const { proof, rail, terms } = yield* authenticated(account)
      yield* rail.simulate(proof, terms)
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
    })
  )

  it.effect("is refused with the signature of another owner, another account, or for another payment", () =>
    Effect.gen(function* () {
      const rail = yield* (yield* PaymentRig).railOf(accepting)
      const { account } = yield* newAccount("account")
      const { account: other } = yield* newAccount("account")
      const { account: undeployed } = yield* newAccount("undeployed")
      const { account: stranger } = yield* newAccount("undeployed")
      const refusalOf = (signer: ClientEvmSigner, change: object = {}) =>
        Effect.gen(function* () {
          const proof = yield* pay(rail, signer)
          const error = yield* Effect.flip(rail.authenticate({ ...proof, ...change }))
          return `${error._tag} ${error.message}`
        })
      const forged = (own: SandboxAccount, foreign: SandboxAccount): ClientEvmSigner => ({
        ...foreign,
        address: own.address
      })
      const said = [
        yield* refusalOf(forged(account, other)),
        // The factory deploys another account than the payer.
        yield* refusalOf(forged(undeployed, stranger)),
        yield* refusalOf(account, { value: 1n }),
        yield* refusalOf(undeployed, { value: 1n })
      ]
      for (const message of said) assert.match(message, /^ProofInvalid .* did not accept the signature/)
    })
  )

  it.effect("that is not deployed is refused by server and facilitator if its factory is not accepted", () =>
    Effect.gen(function* () {
      const { client, railOf } = yield* PaymentRig
      const { account } = yield* newAccount("undeployed")
      const factory = privateKeyToAccount(generatePrivateKey()).address
      yield* Effect.promise(async () => {
        const bytecode = await client.getCode({ address: sandboxAccountFactory })
        await client.setCode({ address: factory, bytecode: bytecode ?? "0x" })
      })
      const own = sandboxAccount(account.owner)
      const signer: ClientEvmSigner = {
        address: account.address,
        signTypedData: async (typed) =>
          serializeErc6492Signature({
            address: factory,
            data: account.deployment.factoryData,
            signature: await own.signTypedData(typed)
          })
      }
      const rail = yield* railOf(accepting)
      const terms = termsOf(rail)
      const proof = yield* pay(rail, signer, terms)
      assert.include((yield* Effect.flip(rail.authenticate(proof))).message, "its factory is not accepted")
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Refused")
      assert.isUndefined(yield* codeAt(account.address))

      const closed = yield* railOf({ smartAccounts: true })
      const named = yield* Effect.flip(closed.authenticate(yield* pay(closed, account)))
      assert.include(named.message, "its factory is not accepted")
      assert.strictEqual(yield* balanceOf(account.address), usdt(10))
    })
  )

  it.effect("whose owner changes after its payment was accepted moves no money", () =>
    Effect.gen(function* () {
      const { account, ownerKey } = yield* newAccount("account")
      const { block, proof, rail, terms } = yield* authenticated(account)
      const next = privateKeyToAccount(generatePrivateKey()).address
      yield* send(
        account.address,
        encodeFunctionData({ abi: sandboxAccountAbi, functionName: "setOwner", args: [next] }),
        ownerKey
      )
      assert.strictEqual((yield* Effect.flip(rail.authenticate(proof)))._tag, "ProofInvalid")
      assert.strictEqual((yield* Effect.flip(rail.simulate(proof, terms)))._tag, "ProofInvalid")
      assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Refused")
      assert.deepStrictEqual(yield* rail.findSettlement(proof, terms, block), { _tag: "Unused", expired: false })
      assert.strictEqual(yield* balanceOf(account.address), usdt(10))
    })
  )

  const malicious: ReadonlyArray<readonly [what: string, code: Hex]> = [
    ["reverts", "0x60006000fd"],
    ["returns nothing", "0x00"],
    ["returns garbage", "0x7fabababababababababababababababababababababababababababababababab60005260206000f3"],
    ["never ends", "0x5b600056"],
    ["uses all gas on memory", "0x6000640fffffffff52"],
    ["executes an invalid opcode", "0xfe"],
    ["executes an unknown opcode", "0x0c"],
    ["jumps to nowhere", "0x60ff56"],
    ["underflows the stack", "0x01"],
    ["writes to its storage", "0x600160005500"]
  ]
  it.effect.each(malicious)("that %s is refused", ([, code]) =>
    Effect.gen(function* () {
      const rail = yield* (yield* PaymentRig).railOf(accepting)
      const proof = yield* pay(rail, yield* newContract(code))
      const error = yield* Effect.flip(rail.authenticate(proof))
      assert.strictEqual(error._tag, "ProofInvalid", error.message)
    })
  )

  it.effect("that accepts signatures only while nothing is at stake moves no money", () =>
    Effect.gen(function* () {
      const honest = yield* authenticated(yield* newContract(ACCEPTS))
      assert.strictEqual((yield* honest.rail.settle(honest.proof, honest.terms))._tag, "Accepted")
      const signer = yield* newContract(ACCEPTS_IN_SIMULATIONS)
      const { block, proof, rail, terms } = yield* authenticated(signer)
      yield* rail.simulate(proof, terms)
      assert.notStrictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
      assert.deepStrictEqual(yield* rail.findSettlement(proof, terms, block), { _tag: "Unused", expired: false })
      assert.strictEqual(yield* balanceOf(signer.address), usdt(10))
    })
  )
})
