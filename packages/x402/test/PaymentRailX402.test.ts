import { type PaymentProof, type PaymentTerms, Timestamp, Usdt } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Hex, parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { hexOf } from "../src/network/AuthorizedTransfer.ts"
import * as PaymentHeader from "../src/header/PaymentHeader.ts"
import { PaymentRailX402 } from "../src/index.ts"
import { prepare, railOf } from "./support/RailFake.ts"
import * as Sample from "./support/Sample.ts"
import { SEED } from "./support/Sample.ts"

describe("PaymentRailX402 terms", () => {
  it.effect("are the same each time, in one spelling, with the fields that stock clients need", () =>
    Effect.gen(function* () {
      const { rail } = yield* railOf({ asset: Sample.asset.toLowerCase(), payTo: Sample.payTo.toLowerCase() })
      const expected: PaymentTerms = {
        scheme: "exact",
        network: "eip155:402402",
        asset: Sample.asset,
        amount: 250_000n,
        payTo: Sample.payTo,
        maxTimeoutSeconds: 120,
        extra: {
          name: "USD₮0",
          version: "1",
          assetTransferMethod: "eip3009",
          primaryType: "TransferWithAuthorization",
          decimals: 6,
          nonceTag: "0x6167656e746f7331",
          signatures: "eoa"
        }
      }
      assert.deepStrictEqual(rail.terms(Sample.price), [expected])
      assert.deepStrictEqual(rail.terms(Sample.price), rail.terms(Sample.price))
    })
  )

  it.effect("name another token than USDT, at par", () =>
    Effect.gen(function* () {
      const { build, configured, state } = yield* prepare({ symbol: "USDC" })
      state.symbol = "USDC"
      const [terms] = (yield* build(configured)).terms(Sample.price)
      assert.deepInclude(terms?.extra, { symbol: "USDC" })
      assert.strictEqual(terms?.amount, Sample.price)
    })
  )

  it.effect.prop(
    "convert every amount to the token's units exactly",
    {
      amount: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 15n })),
      decimals: Schema.Literals([6, 8, 18])
    },
    ({ amount, decimals }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { build, configured, state } = yield* prepare({ decimals })
          state.decimals = decimals
          const [terms] = (yield* build(configured)).terms(amount)
          assert.strictEqual(terms?.amount, amount * 10n ** BigInt(decimals - 6))
        })
      ),
    { arbitrary: { seed: SEED, runs: 20 } }
  )

  it.effect("are returned by a stock client with the binding intact", () =>
    Effect.gen(function* () {
      const { rail } = yield* railOf()
      const offered = rail.terms(Sample.price)
      const accepted: PaymentTerms = {
        ...offered[0]!,
        extra: { ...offered[0]!.extra, keyId: 1, binding: "ff", issuedAt: 5 }
      }
      const proof = yield* rail.decodeProof(yield* Sample.signatureHeader(accepted))
      assert.deepStrictEqual(proof.accepted.extra, accepted.extra)
      yield* rail.authenticate(proof)
    })
  )
})

describe("PaymentRailX402.authenticate", () => {
  it.effect("accepts only the signer", () =>
    Effect.gen(function* () {
      const { rail } = yield* railOf()
      const proof = yield* Sample.proof()
      yield* rail.authenticate(proof)
      const other = privateKeyToAccount(generatePrivateKey())
      const changes = [
        { payer: other.address.toLowerCase() },
        { value: proof.value + 1n },
        { payTo: Sample.stranger },
        { validBefore: proof.validBefore + 1 },
        { nonce: `0x${"00".repeat(32)}` },
        { network: "eip155:196" },
        { asset: Sample.stranger }
      ]
      for (const change of changes) {
        assert.strictEqual((yield* Effect.flip(rail.authenticate({ ...proof, ...change })))._tag, "ProofInvalid")
      }
      const spelled = { ...proof, asset: proof.asset.toLowerCase(), payTo: proof.payTo.toLowerCase() }
      yield* rail.authenticate(spelled)
    })
  )
})

/** The name of the token as `atob` decodes it. */
const GARBLED = "USD\u00e2\u0082\u00ae0"

const withSignature = (proof: PaymentProof, changed: (signature: Hex) => Hex): PaymentProof => {
  const signature = PaymentHeader.signatureOf(proof)
  return { ...proof, payload: proof.payload.replace(signature, changed(hexOf(signature))) }
}

describe("PaymentRailX402.authenticate names the mistake of", () => {
  const proofOf = (extra: Readonly<Record<string, string>> = {}) =>
    Sample.proof(Sample.terms({ extra: { ...Sample.terms().extra, ...extra } }))
  const endingWith = (end: string) => (signature: Hex) => hexOf(signature.slice(0, -2) + end)
  const recoveryId = (signature: Hex) => (signature.endsWith("1b") ? "00" : "01")

  const CASES: ReadonlyArray<readonly [string, Effect.Effect<PaymentProof>, RegExp]> = [
    ["a client that decodes the token's name as Latin-1", proofOf({ name: GARBLED }), /Latin-1, for example by atob/],
    [
      "a signer that counts the recovery id from 0",
      Effect.map(proofOf(), (proof) => withSignature(proof, (all) => endingWith(recoveryId(all))(all))),
      /It must end with 27 or 28/
    ],
    [
      "a signer that sends the 64 bytes of EIP-2098",
      Effect.map(proofOf(), (proof) =>
        withSignature(proof, (all) => serializeCompactSignature(signatureToCompactSignature(parseSignature(all))))
      ),
      /Send its 65 bytes r, s and v/
    ],
    [
      "a signer that takes typed data without EIP712Domain for a domain without fields",
      Sample.proof(Sample.terms(), {
        ...Sample.payer,
        signTypedData: (typed) => Sample.payer.signTypedData({ ...typed, domain: {} } as typeof typed)
      }),
      /has no types\.EIP712Domain/
    ],
    ["no known client", proofOf({ name: "USDC" }), /not the 65-byte signature of the payer/],
    [
      "no known client, for 64 other bytes",
      Effect.map(proofOf(), (proof) => withSignature(proof, () => `0x${"11".repeat(64)}`)),
      /not the 65-byte signature of the payer/
    ]
  ]
  it.effect.each(CASES)("%s, without a question to the chain", ([, proof, expected]) =>
    Effect.gen(function* () {
      const { chainSeen, rail } = yield* railOf()
      const before = chainSeen.length
      const { message } = yield* Effect.flip(rail.authenticate(yield* proof))
      assert.match(message, expected)
      assert.lengthOf(chainSeen, before)
    })
  )

  it.effect("a client that decodes the name as Latin-1, where smart accounts can pay", () =>
    Effect.gen(function* () {
      const { rail } = yield* railOf({ smartAccounts: true })
      const { message } = yield* Effect.flip(rail.authenticate(yield* proofOf({ name: GARBLED })))
      assert.match(message, /Latin-1/)
    })
  )
})

describe("PaymentRailX402.verify", () => {
  const now = 1_763_712_345
  const verifying = Effect.gen(function* () {
    const { chainSeen, facilitator, rail, state } = yield* railOf()
    yield* TestClock.setTime(now * 1_000)
    state.balances.set(Sample.unsignedProof().payer, Sample.terms().amount)
    const [before, asked] = [chainSeen.length, facilitator.seen.length]
    /**
     * Returns the methods requested from the chain since the last call, and checks that the facilitator got no
     * request.
     */
    const questions = () => {
      assert.lengthOf(facilitator.seen, asked)
      return chainSeen.slice(before).map(({ body }) => body)
    }
    return { rail, state, questions }
  })

  const { CLOCK_TOLERANCE_SECONDS: tolerance, VALIDITY_MARGIN_SECONDS: margin } = PaymentRailX402
  const windows: ReadonlyArray<readonly [validAfter: number, validBefore: number, refused: string | undefined]> = [
    [0, now + 120, undefined],
    [now, now + 120, undefined],
    [now + 1, now + 120, "not valid yet"],
    [0, now + margin + 1, undefined],
    [0, now + margin, "about to expire"],
    [0, now - 1_000, "about to expire"],
    [0, now + 120 + tolerance, undefined],
    [0, now + 120 + tolerance + 1, "valid for longer than 120 s"],
    [0, 999_999_999_999_999, "valid for longer than 120 s"]
  ]
  it.effect.each(windows)("checks validity from %s to %s against the clock", ([validAfter, validBefore, refused]) =>
    Effect.gen(function* () {
      const { questions, rail } = yield* verifying
      const proof = Sample.unsignedProof({ validAfter, validBefore })
      const said = yield* Effect.match(rail.verify(proof, Sample.terms()), {
        onSuccess: () => undefined,
        onFailure: (error) => error.message
      })
      if (refused === undefined) assert.strictEqual(said, undefined)
      else assert.include(said, refused)
      assert.lengthOf(questions(), refused === undefined ? 1 : 0)
    })
  )

  it.effect("refuses a payment for other terms without any request", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* verifying
      const good = Sample.unsignedProof({ validBefore: now + 120 })
      const changes: ReadonlyArray<readonly [Partial<typeof good>, string]> = [
        [{ network: "eip155:196" }, "a network that the challenge does not offer"],
        [{ asset: Sample.stranger }, "a token that the challenge does not offer"],
        [{ value: 249_999n }, "amount of the payment is not that of the challenge"],
        [{ value: 250_001n }, "amount of the payment is not that of the challenge"],
        [{ payTo: Sample.stranger }, "recipient of the payment is not that of the challenge"]
      ]
      for (const [change, message] of changes) {
        const error = yield* Effect.flip(rail.verify({ ...good, ...change }, Sample.terms()))
        assert.strictEqual(error._tag, "ProofInvalid")
        assert.include(error.message, message)
      }
      assert.lengthOf(questions(), 0)
      yield* rail.verify({ ...good, payTo: good.payTo.toLowerCase() }, Sample.terms())
      assert.lengthOf(questions(), 1)
    })
  )

  it.effect("reads the payer's balance, without revealing the signature", () =>
    Effect.gen(function* () {
      const { questions, rail, state } = yield* verifying
      const signed = yield* Sample.proof()
      yield* TestClock.setTime((signed.validBefore - 100) * 1_000)
      state.balances.set(signed.payer, 250_000n)
      yield* rail.verify(signed, Sample.terms())
      state.balances.set(signed.payer, 249_999n)
      const error = yield* Effect.flip(rail.verify(signed, Sample.terms()))
      if (error._tag !== "ProofInvalid") return assert.fail(error._tag)
      const { asset: _, ...sample } = Sample.terms()
      const name = String(sample.extra["name"])
      assert.strictEqual(
        error.message,
        `The wallet ${signed.payer} has 0.249999 ${name}, and the price is 0.25 ${name} on ${sample.network}.`
      )
      assert.match(error.remedy ?? "", /^Fund it, then repeat the identical request\./)
      yield* rail.readNonce(signed)
      const signature: string = JSON.parse(signed.payload).payload.signature
      for (const question of questions()) assert.notInclude(question, signature.slice(2, 66))
    })
  )
})

describe("PaymentRailX402.readFunds", () => {
  it.effect("reads a balance from the chain of the token", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* railOf()
      const wallet = `0x${"a1".repeat(20)}`
      state.balances.set(wallet, 4_750_000n)
      assert.deepStrictEqual(yield* rail.readFunds(Sample.terms(), wallet), { balance: 4_750_000n, allowance: null })
      state.status = 503
      const failed = yield* Effect.flip(rail.readFunds(Sample.terms(), wallet))
      assert.deepInclude(failed, { reason: "Temporary", message: "The chain eip155:402402 could not be read." })
    })
  )
})

describe("PaymentRailX402.simulate", () => {
  const simulating = Effect.gen(function* () {
    const { rail, state } = yield* railOf()
    return { rail, state, proof: yield* Sample.proof() }
  })

  it.effect("reports whether the transfer would fail", () =>
    Effect.gen(function* () {
      const { proof, rail, state } = yield* simulating
      yield* rail.simulate(proof, Sample.terms())
      state.transfersFail = true
      assert.strictEqual((yield* Effect.flip(rail.simulate(proof, Sample.terms())))._tag, "ProofInvalid")
    })
  )

  it.effect("does not treat an outage as a failed transfer", () =>
    Effect.gen(function* () {
      const { proof, rail, state } = yield* simulating
      state.status = 503
      const error = yield* Effect.flip(rail.simulate(proof, Sample.terms()))
      assert.strictEqual(error._tag === "ProviderError" && error.reason, "Temporary")
    })
  )

  it.effect("decides nothing from a block older than the authorization", () =>
    Effect.gen(function* () {
      const { proof, rail, state } = yield* simulating
      state.transfersFail = true
      const young = { ...proof, validAfter: state.timeOf(state.latest) }
      assert.strictEqual((yield* Effect.flip(rail.simulate(young, Sample.terms())))._tag, "ProviderError")
      const old = { ...proof, validAfter: state.timeOf(state.latest) - 1 }
      assert.strictEqual((yield* Effect.flip(rail.simulate(old, Sample.terms())))._tag, "ProofInvalid")
    })
  )
})

describe("PaymentRailX402.settle", () => {
  it.effect("sends the facilitator the client's payload and the terms as rebuilt by the server", () =>
    Effect.gen(function* () {
      const { facilitator, rail } = yield* railOf()
      const proof = yield* Sample.proof()
      assert.strictEqual((yield* rail.settle(proof, Sample.terms()))._tag, "Accepted")
      const [settlement, ...more] = facilitator.seen.slice(1)
      assert.lengthOf(more, 0)
      assert.deepStrictEqual(JSON.parse(settlement?.body ?? ""), {
        x402Version: 2,
        paymentPayload: JSON.parse(proof.payload),
        paymentRequirements: { ...Sample.terms(), amount: "250000" }
      })
    })
  )
})

describe("PaymentRailX402.blockBefore", () => {
  it.effect.prop(
    "finds the newest block before a moment, whatever the block times",
    {
      latest: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 })),
      interval: Schema.Literals([1, 2, 12]),
      offset: Schema.Int.check(Schema.isBetween({ minimum: -20, maximum: 4_000 }))
    },
    ({ interval, latest, offset }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { rail, state } = yield* railOf()
          state.latest = latest
          state.timeOf = (block) => 1_000_000 + block * interval
          const moment = 1_000_000 + offset
          const expected = Math.min(latest, Math.max(0, Math.ceil(offset / interval) - 1))
          const found = yield* rail.blockBefore(Sample.terms(), Timestamp.Timestamp.make(moment * 1_000))
          assert.strictEqual(found, BigInt(expected))
        })
      ),
    { arbitrary: { seed: SEED, runs: 60 } }
  )
})

describe("PaymentRailX402 on the chain", () => {
  it.effect("reads a nonce and the newest block in one request", () =>
    Effect.gen(function* () {
      const { chainSeen, rail, state } = yield* railOf()
      const proof = Sample.unsignedProof({ nonce: Sample.nonce.toUpperCase().replace("0X", "0x") })
      const before = chainSeen.length
      assert.deepStrictEqual(yield* rail.readNonce(proof), { used: false, block: 100n })
      assert.strictEqual(chainSeen.length, before + 1)
      state.usedFrom.set(Sample.nonce, 101)
      assert.deepStrictEqual(yield* rail.readNonce(proof), { used: false, block: 100n })
      state.latest = 101
      assert.deepStrictEqual(yield* rail.readNonce(proof), { used: true, block: 101n })
    })
  )

  it.effect("returns a block that a reorganization as deep as the confirmations does not remove", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* railOf({ confirmations: 3 })
      const proof = Sample.unsignedProof()
      const { block, used } = yield* rail.readNonce(proof)
      assert.deepStrictEqual({ block, used }, { block: 97n, used: false })
      // Block 100 is replaced by one that contains our settlement.
      state.usedFrom.set(Sample.nonce, 100)
      state.logs.push(...Sample.useLogs(100))
      state.latest = 110
      assert.strictEqual((yield* rail.findSettlement(proof, Sample.terms(), block))._tag, "Paid")
      state.latest = 101
      assert.deepStrictEqual(yield* rail.readNonce(proof), { used: true, block: 98n })
    })
  )

  it.effect("finds a settlement with the network's confirmations", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* railOf({ confirmations: 2 })
      state.usedFrom.set(Sample.nonce, 99)
      state.logs.push(...Sample.useLogs(99))
      const find = rail.findSettlement(Sample.unsignedProof(), Sample.terms(), 50n)
      assert.deepStrictEqual(yield* find, { _tag: "Unsettled" })
      state.latest = 101
      assert.deepStrictEqual(yield* find, { _tag: "Paid", transaction: Sample.transaction, block: 99n })
    })
  )

  it.effect("requires the confirmations of the payment's own price", () =>
    Effect.gen(function* () {
      const { amount } = Sample.terms()
      const from = (price: bigint) => [
        { from: "0", blocks: 0 },
        { from: Usdt.toDecimal(price), blocks: 2 }
      ]
      for (const [confirmations, tag] of [
        [from(amount), "Unsettled"],
        [from(amount + 1n), "Paid"]
      ] as const) {
        const { rail, state } = yield* railOf({ confirmations })
        state.usedFrom.set(Sample.nonce, 99)
        state.logs.push(...Sample.useLogs(99))
        assert.strictEqual((yield* rail.findSettlement(Sample.unsignedProof(), Sample.terms(), 50n))._tag, tag)
      }
    })
  )

  it.effect("fails for an operation on a network that was removed", () =>
    Effect.gen(function* () {
      const { rail } = yield* railOf()
      const gone = Sample.unsignedProof({ network: "eip155:196" })
      const terms = Sample.terms({ network: "eip155:196" })
      assert.strictEqual((yield* Effect.flip(rail.readNonce(gone))).reason, "Misconfigured")
      assert.strictEqual((yield* Effect.flip(rail.findSettlement(gone, terms, 1n))).reason, "Misconfigured")
      assert.strictEqual((yield* rail.settle(gone, terms))._tag, "Unknown")
    })
  )
})
