import type { PaymentProof, PaymentRail } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { sandboxTetherAbi } from "@agentos/sandbox"
import { PaymentRailX402, selfFacilitator } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { PERMIT2_ADDRESS } from "@x402/evm"
import { Effect, Layer, Redacted } from "effect"
import { encodeFunctionData, type Hex, maxUint256, parseGwei, type TransactionSerializable } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { pay, price, railOver, termsOf } from "../PaymentRig.ts"
import { recorder } from "../Recorder.ts"
import { Permit2Rig, send } from "./Permit2Rig.ts"

const abi = sandboxTetherAbi
const approve = (spender: Hex, amount: bigint) =>
  encodeFunctionData({ abi, functionName: "approve", args: [spender, amount] })
const UNPRICED = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
const ELSEWHERE = "0x00000000000000000000000000000000000000aa"

interface Info {
  readonly amount: string
  readonly signedTransaction: Hex
}
const infoOf = ({ payload }: Pick<PaymentProof, "payload">): Info =>
  JSON.parse(payload).extensions.erc20ApprovalGasSponsoring.info

/** Returns the proof with another approval, as if the client had sent it so. */
const withInfo = (rail: PaymentRail["Service"], proof: PaymentProof, change: object) => {
  const payment = JSON.parse(proof.payload)
  Object.assign(payment.extensions.erc20ApprovalGasSponsoring.info, change)
  return rail.decodeProof(Buffer.from(JSON.stringify(payment)).toString("base64"))
}

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })(
  "A payment that brings the signed transaction of its allowance",
  (it) => {
    const SPONSORED = { gasSponsoring: "erc20Approval" } as const

    /** A new wallet that has only tokens, as a client that reads the chain and signs transactions. */
    const payer = Effect.gen(function* () {
      const { chain, client } = yield* Permit2Rig
      const account = privateKeyToAccount(generatePrivateKey())
      const data = encodeFunctionData({ abi, functionName: "transfer", args: [account.address, 4n * price] })
      yield* send(chain.faucetKey, chain.asset, data)
      const { estimateFeesPerGas, getTransactionCount, readContract } = client
      return { ...account, estimateFeesPerGas, getTransactionCount, readContract }
    })

    const presented = Effect.fnUntraced(function* (rail: PaymentRail["Service"]) {
      const account = yield* payer
      return { account, rail, terms: termsOf(rail), proof: yield* pay(rail, account as never) }
    })

    const allowanceOf = Effect.fnUntraced(function* (owner: Hex) {
      const { chain, client } = yield* Permit2Rig
      return yield* Effect.promise(() =>
        client.readContract({ address: chain.asset, abi, functionName: "allowance", args: [owner, PERMIT2_ADDRESS] })
      )
    })

    /** Sends the approval of a wallet, as it could do itself. */
    const approveOwn = Effect.fnUntraced(function* (address: Hex, amount: bigint) {
      const { chain, client } = yield* Permit2Rig
      yield* Effect.promise(async () => {
        await client.setBalance({ address, value: parseGwei("1000000") })
        await client.impersonateAccount({ address })
        const params = [{ from: address, to: chain.asset, data: approve(PERMIT2_ADDRESS, amount) }] as const
        const hash = (await client.request({ method: "eth_sendTransaction", params } as never)) as Hex
        await client.waitForTransactionReceipt({ hash })
      })
    })

    /** Signs an approval as the client of x402 does, with changes. */
    const signed = (
      { signTransaction }: { readonly signTransaction: (transaction: TransactionSerializable) => Promise<Hex> },
      asset: Hex,
      change: object = {}
    ) =>
      Effect.promise(() =>
        signTransaction({
          type: "eip1559",
          chainId: 402_403,
          to: asset,
          data: approve(PERMIT2_ADDRESS, maxUint256),
          nonce: 0,
          gas: 70_000n,
          maxFeePerGas: parseGwei("1"),
          maxPriorityFeePerGas: parseGwei("0.1"),
          ...change
        } as TransactionSerializable)
      )

    it.effect("settles from a wallet without coins, and shows the transaction to no one before", () =>
      Effect.gen(function* () {
        const rig = yield* Permit2Rig
        const bodies: Array<string> = []
        const watched = yield* recorder("node", rig.chain.rpcUrl, async ({ body }) => void bodies.push(body))
        const rail = yield* rig.railOf({ ...SPONSORED, rpcUrl: Redacted.make(watched) })
        const { account, proof, terms } = yield* presented(rail)
        const { signature } = JSON.parse(proof.payload).payload as { readonly signature: Hex }
        const isShown = (text: string) => bodies.some((body) => body.includes(text.slice(2, 66)))
        yield* rail.authenticate(proof)
        yield* rail.verify(proof, terms)
        const { block } = yield* rail.readNonce(proof)
        assert.isFalse(isShown(signature))
        yield* rail.simulate(proof, terms)
        assert.deepStrictEqual([isShown(signature), isShown(infoOf(proof).signedTransaction)], [true, false])
        assert.strictEqual(yield* allowanceOf(account.address), 0n)
        const answer = yield* rail.settle(proof, terms)
        const found = yield* rail.findSettlement(proof, terms, block)
        if (found._tag !== "Paid") return assert.fail(found._tag)
        assert.deepStrictEqual<unknown>(answer, { _tag: "Accepted", transaction: found.transaction })
        assert.strictEqual(yield* allowanceOf(account.address), maxUint256)
        // The next payment needs no approval.
        assert.notInclude((yield* pay(rail, account as never)).payload, '"signedTransaction":')
      })
    )

    it.effect("is refused before anything is shown, if its transaction could do anything else or cost more", () =>
      Effect.gen(function* () {
        const { chain, railOf } = yield* Permit2Rig
        const { account, proof, rail, terms } = yield* presented(yield* railOf(SPONSORED))
        const flaw = Effect.fnUntraced(function* (signedTransaction: Hex, amount: bigint = maxUint256) {
          const changed = yield* withInfo(rail, proof, { signedTransaction, amount: amount.toString() })
          return (yield* Effect.flip(rail.verify(changed, terms))).message
        })
        const cases: ReadonlyArray<readonly [object, string]> = [
          [{ chainId: 1 }, "is for chain 1, not 402403"],
          [{ to: ELSEWHERE }, "must be sent to the token"],
          [{ to: undefined }, "must be sent to the token"],
          [{ value: 1n }, "must have no value"],
          [{ accessList: [{ address: ELSEWHERE, storageKeys: [] }] }, "no access list"],
          [{ data: approve(ELSEWHERE, maxUint256) }, "must call approve with Permit2"],
          [{ data: `${approve(PERMIT2_ADDRESS, maxUint256)}00` }, "must call approve with Permit2"],
          [{ data: approve(PERMIT2_ADDRESS, price) }, "the stated amount"],
          [{ gas: 100_001n }, "has a gas limit of 100001"],
          [{ maxFeePerGas: parseGwei("1000") }, "offers 1000000000000 wei"],
          [{ nonce: 1 }, "has the nonce 1, and the next one of the wallet is 0"],
          [{ type: "eip2930", gasPrice: parseGwei("1"), ...UNPRICED }, "must be a signed one of type 2"],
          [{ type: "legacy", gasPrice: parseGwei("1"), ...UNPRICED }, "must be a signed one of type 2"]
        ]
        for (const [change, expected] of cases) {
          assert.include(yield* flaw(yield* signed(account, chain.asset, change)), expected)
        }
        assert.include(
          yield* flaw(yield* signed(account, chain.asset, { data: approve(PERMIT2_ADDRESS, 1n) }), 1n),
          "must be at least the price"
        )
        const stranger = privateKeyToAccount(generatePrivateKey())
        assert.include(yield* flaw(yield* signed(stranger, chain.asset)), "is not signed by the payer")
        const good = yield* signed(account, chain.asset)
        assert.include(yield* flaw(`${good}00`), "in its canonical form")
        yield* rail.verify(yield* withInfo(rail, proof, { signedTransaction: good }), terms)
      })
    )

    it.effect("is malformed if it is for another payer, token, spender or version, or comes with a permit", () =>
      Effect.gen(function* () {
        const { proof, rail } = yield* presented(yield* Effect.flatMap(Permit2Rig, ({ railOf }) => railOf(SPONSORED)))
        for (const field of ["from", "asset", "spender", "version"]) {
          const { message } = yield* Effect.flip(withInfo(rail, proof, { [field]: ELSEWHERE }))
          assert.include(message, `erc20ApprovalGasSponsoring.info.${field}`)
        }
        const payment = JSON.parse(proof.payload)
        payment.extensions.eip2612GasSponsoring = { info: { signature: "0x" } }
        const both = rail.decodeProof(Buffer.from(JSON.stringify(payment)).toString("base64"))
        assert.include((yield* Effect.flip(both)).message, "two allowances")
      })
    )

    it.effect("is not submitted if the token would keep a fee, or the transfer fail, after the approval", () =>
      Effect.gen(function* () {
        const { chain, railOf } = yield* Permit2Rig
        const { account, proof, rail, terms } = yield* presented(yield* railOf(SPONSORED))
        const refusal = Effect.map(Effect.flip(rail.simulate(proof, terms)), (error) => error.message)
        const owner = (functionName: "setParams" | "addBlackList" | "removeBlackList", args: ReadonlyArray<unknown>) =>
          send(chain.deployerKey, chain.asset, encodeFunctionData({ abi, functionName, args } as never))
        yield* owner("setParams", [10n, 10n])
        assert.include(yield* Effect.ensuring(refusal, owner("setParams", [0n, 0n])), "This token keeps a fee")
        yield* owner("addBlackList", [account.address])
        assert.include(
          yield* Effect.ensuring(refusal, owner("removeBlackList", [account.address])),
          "The simulated transfer failed"
        )
        yield* rail.simulate(proof, terms)
      })
    )

    it.effect("settles when its approval is on the chain already, and the facilitator could not send it again", () =>
      Effect.gen(function* () {
        const { client, railOf } = yield* Permit2Rig
        const { account, proof, rail, terms } = yield* presented(yield* railOf(SPONSORED))
        yield* rail.verify(proof, terms)
        const { block } = yield* rail.readNonce(proof)
        yield* Effect.promise(async () => {
          await client.setBalance({ address: account.address, value: parseGwei("1000000") })
          const hash = await client.sendRawTransaction({ serializedTransaction: infoOf(proof).signedTransaction })
          await client.waitForTransactionReceipt({ hash })
        })
        yield* rail.verify(proof, terms)
        yield* rail.simulate(proof, terms)
        assert.strictEqual((yield* rail.settle(proof, terms))._tag, "Accepted")
        assert.strictEqual((yield* rail.findSettlement(proof, terms, block))._tag, "Paid")
      })
    )

    it.effect("has no other transaction sent, if its payer takes back the allowance that it was verified with", () =>
      Effect.gen(function* () {
        const { chain, client, railOf } = yield* Permit2Rig
        const { account, proof, rail, terms } = yield* presented(yield* railOf(SPONSORED))
        yield* approveOwn(account.address, maxUint256)
        // The facilitator would send the payer the coins for it.
        const costly = yield* signed(account, chain.asset, { nonce: 2, gas: 100_000n, maxFeePerGas: parseGwei("1000") })
        const changed = yield* withInfo(rail, proof, { signedTransaction: costly })
        yield* rail.verify(changed, terms)
        yield* approveOwn(account.address, 0n)
        yield* Effect.promise(() => client.setBalance({ address: account.address, value: 0n }))
        yield* rail.simulate(changed, terms)
        assert.strictEqual((yield* rail.settle(changed, terms))._tag, "Refused")
        const { getBalance, getTransactionCount } = client
        assert.deepStrictEqual(
          yield* Effect.promise(() => Promise.all([getBalance(account), getTransactionCount(account)])),
          [0n, 2]
        )
      })
    )

    it.effect("is asked for an allowance where the network does not accept it, and refused with one", () =>
      Effect.gen(function* () {
        const { railOf } = yield* Permit2Rig
        const plain = yield* railOf()
        const { account, proof } = yield* presented(yield* railOf(SPONSORED))
        const error = Effect.flip(plain.verify(proof, termsOf(plain)))
        assert.strictEqual((yield* error)._tag, "AllowanceRequired")
        yield* approveOwn(account.address, maxUint256)
        assert.include((yield* error).message, "brings an allowance, which this server does not submit")
      })
    )

    it.effect("is not offered unless the facilitator submits it, and the node can simulate it", () =>
      Effect.gen(function* () {
        const { chain, networkOf } = yield* Permit2Rig
        const own = selfFacilitator({ kind: "self", privateKey: Redacted.make(generatePrivateKey()) })
        const built = Layer.build(
          Layer.provide(
            PaymentRailX402.layer({ networks: [{ ...networkOf(SPONSORED), facilitator: own }] }),
            Memory.layer
          )
        )
        assert.include((yield* Effect.flip(built)).message, "does not list the extension erc20ApprovalGasSponsoring")
        const message = (other: Partial<PaymentRailX402.RailNetwork>) =>
          Effect.map(Effect.flip(railOver(networkOf({ ...SPONSORED, ...other }))), (error) => error.message)
        assert.include(
          yield* message({ transferMethod: "eip3009", version: "1" }),
          "gasSponsoring requires transferMethod permit2"
        )
        const simple = yield* recorder(
          "node",
          chain.rpcUrl,
          async () => undefined,
          (body) => {
            const { params, ...request } = JSON.parse(body) as {
              readonly method: string
              readonly params?: Array<unknown>
            }
            return JSON.stringify({ ...request, params: request.method === "eth_call" ? params?.slice(0, 2) : params })
          }
        )
        assert.include(yield* message({ rpcUrl: Redacted.make(simple) }), "requires a node that overrides state")
      })
    )
  }
)
