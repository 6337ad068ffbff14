import { type PaymentProof, PaymentRail, type SettleAnswer } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { startFacilitator } from "@agentos/sandbox"
import { httpFacilitator, PaymentRailX402, selfFacilitator } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import {
  type ExactPermit2Payload,
  PERMIT2_ADDRESS,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress
} from "@x402/evm"
import type { Eip2612GasSponsoringInfo } from "@x402/extensions"
import { Context, Effect, Layer, Redacted } from "effect"
import { encodeFunctionData, type Hex, parseAbi, parseEther, parseSignature } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { pay, price, railOver, termsOf } from "../PaymentRig.ts"
import { recorder } from "../Recorder.ts"
import { Permit2Rig, type Rig, send } from "./Permit2Rig.ts"

type Rail = PaymentRail["Service"]

const abi = parseAbi([
  "function transfer(address to, uint256 value)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)"
])

const infoOf = ({ payload }: Pick<PaymentProof, "payload">): Eip2612GasSponsoringInfo =>
  JSON.parse(payload).extensions.eip2612GasSponsoring.info

/** Returns the proof with changes of its permit, as if the client had sent it so. */
const withInfo = (rail: Rail, proof: PaymentProof, change: Partial<Eip2612GasSponsoringInfo>) => {
  const payment = JSON.parse(proof.payload)
  Object.assign(payment.extensions.eip2612GasSponsoring.info, change)
  return rail.decodeProof(Buffer.from(JSON.stringify(payment)).toString("base64"))
}

const signPermit = (
  { address, signTypedData }: PrivateKeyAccount,
  { asset, name, version }: Rig["usdc"],
  message: { readonly value: bigint; readonly nonce: bigint; readonly deadline: bigint }
) =>
  Effect.promise(() =>
    signTypedData({
      domain: { name: name!, version: version!, chainId: 402_403, verifyingContract: asset },
      types: {
        Permit: [
          { name: "owner", type: "address" },
          { name: "spender", type: "address" },
          { name: "value", type: "uint256" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" }
        ]
      },
      primaryType: "Permit",
      message: { owner: address, spender: PERMIT2_ADDRESS, ...message }
    })
  )

/** The transaction that uses the permit of a proof alone, or one with changes. */
const permitCall = (proof: PaymentProof, change: Partial<Eip2612GasSponsoringInfo> = {}) => {
  const { amount, deadline, from, signature } = { ...infoOf(proof), ...change }
  const { r, s, v } = parseSignature(signature as Hex)
  return encodeFunctionData({
    abi,
    functionName: "permit",
    args: [from as Hex, PERMIT2_ADDRESS, BigInt(amount), BigInt(deadline), Number(v), r, s]
  })
}

/** The transaction of the proxy that settles a proof with its permit. */
const sponsoredSettlement = (proof: PaymentProof): Hex => {
  const { permit2Authorization: signed, signature } = (JSON.parse(proof.payload) as { payload: ExactPermit2Payload })
    .payload
  const info = infoOf(proof)
  const { r, s, v } = parseSignature(info.signature as Hex)
  return encodeFunctionData({
    abi: x402ExactPermit2ProxyABI,
    functionName: "settleWithPermit",
    args: [
      { value: BigInt(info.amount), deadline: BigInt(info.deadline), r, s, v: Number(v) },
      {
        permitted: { token: signed.permitted.token, amount: BigInt(signed.permitted.amount) },
        nonce: BigInt(signed.nonce),
        deadline: BigInt(signed.deadline)
      },
      signed.from,
      { to: signed.witness.to, validAfter: BigInt(signed.witness.validAfter) },
      signature as Hex
    ]
  })
}

layer(Permit2Rig.layer, { excludeTestServices: true, timeout: 120_000 })(
  "A payment that brings its allowance",
  (it) => {
    /** A rail in the token that has permits. */
    const sponsoring = Effect.flatMap(Permit2Rig, ({ railOf, usdc }) => railOf(usdc))

    /** A new wallet that has only tokens, as a client that reads the chain. */
    const payer = Effect.gen(function* () {
      const { chain, client, usdc } = yield* Permit2Rig
      const account = privateKeyToAccount(generatePrivateKey())
      const data = encodeFunctionData({ abi, functionName: "transfer", args: [account.address, 4n * price] })
      yield* send(chain.faucetKey, usdc.asset, data)
      return { ...account, readContract: client.readContract } as typeof account & Pick<typeof client, "readContract">
    })

    const presented = Effect.fnUntraced(function* (rail: Rail) {
      const account = yield* payer
      const [terms, proof] = [termsOf(rail), yield* pay(rail, account)]
      return { account, rail, terms, proof }
    })

    const paidFor = Effect.fnUntraced(function* ({ proof, rail, terms }: Effect.Success<ReturnType<typeof presented>>) {
      yield* rail.authenticate(proof)
      yield* rail.verify(proof, terms)
      const { block } = yield* rail.readNonce(proof)
      yield* rail.simulate(proof, terms)
      return { find: rail.findSettlement(proof, terms, block) }
    })

    it.effect("settles by the stock facilitator, from a wallet without gas", () =>
      Effect.gen(function* () {
        const { client } = yield* Permit2Rig
        const payment = yield* presented(yield* sponsoring)
        const permitNonce = Effect.map(
          payment.rail.readFunds(payment.terms, payment.proof.payer),
          (funds) => funds.permitNonce
        )
        assert.strictEqual(yield* permitNonce, 0n)
        const { find } = yield* paidFor(payment)
        const answer = yield* payment.rail.settle(payment.proof, payment.terms)
        const found = yield* find
        if (found._tag !== "Paid") return assert.fail(found._tag)
        assert.deepStrictEqual<unknown>(answer, { _tag: "Accepted", transaction: found.transaction })
        assert.strictEqual(yield* Effect.promise(() => client.getBalance(payment.account)), 0n)
        assert.strictEqual(yield* permitNonce, 1n)
      })
    )

    it.effect("is refused before anything is shown, if its permit can't be the allowance", () =>
      Effect.gen(function* () {
        const { proof, rail, terms } = yield* presented(yield* sponsoring)
        const other = yield* presented(rail)
        const message = (changed: Effect.Effect<PaymentProof, { readonly message: string }>) =>
          changed.pipe(
            Effect.flatMap((one) => rail.verify(one, terms)),
            Effect.flip,
            Effect.map((error) => error.message)
          )
        const { deadline, signature } = infoOf(proof)
        const cases: ReadonlyArray<readonly [Partial<Eip2612GasSponsoringInfo>, string]> = [
          [{ spender: x402ExactPermit2ProxyAddress }, `info.spender must be Permit2, ${PERMIT2_ADDRESS}`],
          [{ amount: (2n ** 256n - 1n).toString() }, `info.amount must be the amount of the payment, ${price}`],
          [{ from: other.account.address }, "info.from must be the payer"],
          [{ asset: PERMIT2_ADDRESS }, "info.asset must be the asset"],
          [{ nonce: "0x0" }, "eip2612GasSponsoring.info.nonce"],
          [{ signature: `${signature}00` }, "eip2612GasSponsoring.info.signature"],
          [{ signature: infoOf(other.proof).signature }, "A smart account cannot sign one: pay without a permit"],
          [{ deadline: `${Number(deadline) + 1}` }, "is not signed by the payer"],
          [{ nonce: "1" }, "is not signed by the payer"]
        ]
        for (const [change, expected] of cases) assert.include(yield* message(withInfo(rail, proof, change)), expected)
      })
    )

    it.effect("is refused if its permit expires before it, or has another nonce than the wallet's next", () =>
      Effect.gen(function* () {
        const { usdc } = yield* Permit2Rig
        const { account, proof, rail, terms } = yield* presented(yield* sponsoring)
        const signed = Effect.fnUntraced(function* (nonce: bigint, deadline: bigint) {
          const signature = yield* signPermit(account, usdc, { value: price, nonce, deadline })
          return yield* withInfo(rail, proof, { nonce: `${nonce}`, deadline: `${deadline}`, signature })
        })
        const lasting = 2n ** 256n - 1n
        const flaw = (nonce: bigint, deadline: bigint) =>
          signed(nonce, deadline).pipe(
            Effect.flatMap((one) => rail.verify(one, terms)),
            Effect.flip,
            Effect.map((error) => error.message)
          )
        assert.include(yield* flaw(0n, BigInt(proof.validBefore) - 1n), "expires before the payment")
        assert.include(yield* flaw(1n, lasting), "has the nonce 1, and the next one of the wallet is 0")
        yield* rail.verify(yield* signed(0n, lasting), terms)
      })
    )

    it.effect("shows neither of its signatures to the node before it is simulated", () =>
      Effect.gen(function* () {
        const rig = yield* Permit2Rig
        const bodies: Array<string> = []
        const watched = yield* recorder("node", rig.chain.rpcUrl, async ({ body }) => void bodies.push(body))
        const rail = yield* rig.railOf({ ...rig.usdc, rpcUrl: Redacted.make(watched) })
        const { proof, terms } = yield* presented(rail)
        const shown = () =>
          [
            infoOf(proof).signature,
            (JSON.parse(proof.payload) as { payload: ExactPermit2Payload }).payload.signature
          ].map((signature) => bodies.some((body) => body.includes(signature.slice(2, 66))))
        yield* rail.authenticate(proof)
        yield* rail.verify(proof, terms)
        yield* rail.readNonce(proof)
        assert.deepStrictEqual(shown(), [false, false])
        yield* rail.simulate(proof, terms)
        assert.deepStrictEqual(shown(), [true, true])
      })
    )

    it.effect("settles although a stranger used its permit alone first", () =>
      Effect.gen(function* () {
        const { chain, usdc } = yield* Permit2Rig
        const payment = yield* presented(yield* sponsoring)
        const { find } = yield* paidFor(payment)
        yield* send(chain.deployerKey, usdc.asset, permitCall(payment.proof))
        // The wallet has the allowance now: a retry is not refused for the nonce of its permit.
        yield* payment.rail.verify(payment.proof, payment.terms)
        assert.strictEqual((yield* payment.rail.settle(payment.proof, payment.terms))._tag, "Accepted")
        assert.strictEqual((yield* find)._tag, "Paid")
      })
    )

    it.effect("has paid if a stranger settles it", () =>
      Effect.gen(function* () {
        const { chain } = yield* Permit2Rig
        const payment = yield* presented(yield* sponsoring)
        const { find } = yield* paidFor(payment)
        yield* send(chain.deployerKey, x402ExactPermit2ProxyAddress, sponsoredSettlement(payment.proof))
        assert.strictEqual((yield* find)._tag, "Paid")
        assert.notStrictEqual((yield* payment.rail.settle(payment.proof, payment.terms))._tag, "Accepted")
      })
    )

    it.effect("pays for one of two purchases whose permits have one nonce, and leaves the other unused", () =>
      Effect.gen(function* () {
        const rail = yield* sponsoring
        const { account, proof, terms } = yield* presented(rail)
        const payments = [proof, yield* pay(rail, account)]
        const found = yield* Effect.forEach(
          payments,
          (each) => Effect.map(paidFor({ account, rail, terms, proof: each }), ({ find }) => find),
          { concurrency: 1 }
        )
        yield* Effect.forEach(payments, (each) => rail.settle(each, terms), { concurrency: "unbounded" })
        const tags = yield* Effect.forEach(found, (find) => Effect.map(find, ({ _tag }) => _tag))
        assert.sameMembers(tags, ["Paid", "Unused"])
        const unused = payments[tags.indexOf("Unused")]!
        assert.include(
          (yield* Effect.flip(rail.verify(unused, terms))).message,
          "has the nonce 0, and the next one of the wallet is 1"
        )
        // With another permit, the same wallet buys.
        const again = yield* pay(rail, account)
        const { find } = yield* paidFor({ account, rail, terms, proof: again })
        yield* rail.settle(again, terms)
        assert.strictEqual((yield* find)._tag, "Paid")
      })
    )

    /** A rail that submits from a new gas wallet, and the number of transactions that the wallet has sent. */
    const submitting = Effect.fnUntraced(function* (other: Partial<PaymentRailX402.RailNetwork> = {}) {
      const { client, networkOf, usdc } = yield* Permit2Rig
      const privateKey = generatePrivateKey()
      const address = privateKeyToAddress(privateKey)
      yield* Effect.promise(() => client.setBalance({ address, value: parseEther("1") }))
      const facilitator = selfFacilitator({ kind: "self", privateKey: Redacted.make(privateKey) })
      const layerOf = PaymentRailX402.layer({ networks: [{ ...networkOf({ ...usdc, ...other }), facilitator }] })
      const context = yield* Effect.orDie(Layer.build(Layer.provide(layerOf, Memory.layer)))
      const sent = Effect.promise(() => client.getTransactionCount({ address, blockTag: "pending" }))
      return { rail: Context.get(context, PaymentRail), sent }
    })

    it.effect("settles by the facilitator of the server, in one transaction, however often it is asked", () =>
      Effect.gen(function* () {
        const { rail, sent } = yield* submitting()
        const payment = yield* presented(rail)
        const { find } = yield* paidFor(payment)
        const settle = payment.rail.settle(payment.proof, payment.terms)
        const answers = yield* Effect.all([settle, settle, settle], { concurrency: "unbounded" })
        const found = yield* find
        if (found._tag !== "Paid") return assert.fail(found._tag)
        for (const answer of answers) {
          assert.deepStrictEqual<unknown>(answer, { _tag: "Accepted", transaction: found.transaction })
        }
        assert.strictEqual(yield* sent, 1)
      })
    )

    it.effect("waits, then is refused without gas, if its payer outruns the permits that are submitted", () =>
      Effect.gen(function* () {
        const { chain, usdc } = yield* Permit2Rig
        const run = Effect.runPromiseWith(yield* Effect.context<Permit2Rig>())
        let beforeBroadcast: Effect.Effect<unknown, never, Permit2Rig> = Effect.void
        const watched = yield* recorder("node", chain.rpcUrl, async ({ body }) => {
          if (!body.includes("eth_sendRawTransaction")) return
          const now = beforeBroadcast
          beforeBroadcast = Effect.void
          await run(now)
        })
        const { rail, sent } = yield* submitting({ rpcUrl: Redacted.make(watched) })
        const { account, terms } = yield* presented(rail)
        const reason = (answer: SettleAnswer) =>
          answer._tag === "Accepted" ? answer._tag : answer.message.split(": ").at(-1)
        /** Settles a payment. Before its transaction reaches the chain, another permit of the payer does, and another payment waits. */
        const outrun = Effect.fnUntraced(function* (nonce: bigint) {
          const [proof, other] = [yield* pay(rail, account), yield* pay(rail, account)]
          const deadline = BigInt(infoOf(proof).deadline)
          const signature = yield* signPermit(account, usdc, { value: 0n, nonce, deadline })
          let meanwhile: string | undefined
          beforeBroadcast = Effect.gen(function* () {
            if (nonce > 0n) meanwhile = reason(yield* rail.settle(other, terms))
            yield* send(chain.deployerKey, usdc.asset, permitCall(proof, { amount: "0", signature }))
          })
          const answer = yield* rail.settle(proof, terms)
          return [meanwhile, reason(answer)]
        })
        const reverted = "transaction_reverted."
        const busy = "Other payments of this wallet are being settled."
        assert.deepStrictEqual(
          [yield* outrun(0n), yield* outrun(1n), yield* outrun(2n)],
          [
            [undefined, reverted],
            [busy, reverted],
            [busy, reverted]
          ]
        )
        const refused = reason(yield* rail.settle(yield* pay(rail, account), terms))
        assert.strictEqual(refused, "payer_transactions_reverted_too_often_retry_later.")
        assert.strictEqual(yield* sent, 3, "the reverted transactions")
        const other = yield* presented(rail)
        assert.strictEqual((yield* rail.settle(other.proof, terms))._tag, "Accepted")
      })
    )

    it.effect("is refused where the network does not accept permits, or no longer", () =>
      Effect.gen(function* () {
        const { railOf, usdc } = yield* Permit2Rig
        const { proof } = yield* presented(yield* sponsoring)
        const { gasSponsoring: _, ...without } = usdc
        const plain = yield* railOf(without)
        assert.strictEqual((yield* Effect.flip(plain.verify(proof, termsOf(plain))))._tag, "AllowanceRequired")
        const { extra } = termsOf(plain)
        assert.notProperty(extra, "version")
        // Its terms have no version, without which the stock client signs no permit.
        assert.notInclude((yield* pay(plain, yield* payer)).payload, "eip2612GasSponsoring")
      })
    )

    it.effect("is not offered unless the token has permits of this domain and the facilitator submits them", () =>
      Effect.gen(function* () {
        const { chain, networkOf, usdc } = yield* Permit2Rig
        const message = (other: Partial<PaymentRailX402.RailNetwork>) =>
          Effect.map(Effect.flip(railOver(networkOf({ ...usdc, ...other }))), (error) => error.message)
        assert.include(yield* message({ version: "1" }), 'version "1" do not match the EIP-712 domain')
        assert.include(yield* message({ asset: chain.asset }), "is not a token with DOMAIN_SEPARATOR")
        assert.include(yield* message({ transferMethod: "eip3009" }), "gasSponsoring requires transferMethod permit2")
        const plain = yield* Effect.acquireRelease(
          Effect.promise(() => startFacilitator({ ...chain, privateKey: chain.facilitatorKey, port: 0 })),
          ({ close }) => Effect.promise(close)
        )
        assert.include(
          yield* message({ facilitator: httpFacilitator({ url: plain.url }) }),
          "its facilitator does not list the extension eip2612GasSponsoring"
        )
      })
    )
  }
)
