import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { hashTypedData, type Hex, numberToHex, pad } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { digest } from "../../../src/method/eip3009/TransferAuthorization.ts"
import type { AuthorizedTransfer } from "../../../src/network/AuthorizedTransfer.ts"
import { addressOf, signer } from "../../../src/network/Signer.ts"
import { domainSeparator } from "../../../src/network/TypedDomain.ts"
import { asset, payer, payTo, SEED, stranger } from "../../support/Sample.ts"

/** USDC on Ethereum, with the DOMAIN_SEPARATOR that its contract returns. */
const usdc = {
  name: "USD Coin",
  version: "2",
  chainId: 1n,
  verifyingContract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
} as const
const usdcSeparator = "0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335"

const domain = { name: "USD₮0", version: "1", chainId: 402402n, verifyingContract: asset } as const
const separator = domainSeparator(domain)
const message: AuthorizedTransfer = {
  from: payer.address,
  to: payTo,
  value: 250_000n,
  validAfter: 0n,
  validBefore: 1_763_712_345n,
  nonce: `0x${"ab".repeat(32)}`
}
const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const
const primaryType = "TransferWithAuthorization"

const { recoverSigner, sign } = await Effect.runPromise(signer)

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const Uint = (bits: bigint) => Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** bits - 1n }))
const bytes32 = (value: bigint): Hex => numberToHex(value, { size: 32 })

describe("TransferAuthorization", () => {
  it("computes the domain separator of a contract", () => {
    assert.strictEqual(domainSeparator(usdc), usdcSeparator)
  })

  it.prop(
    "hashes like typed data",
    {
      value: Uint(256n),
      validAfter: Uint(64n),
      validBefore: Uint(64n),
      nonce: Uint(256n),
      name: Schema.String,
      chainId: Uint(48n)
    },
    ({ chainId, name, nonce, validAfter, validBefore, value }) => {
      const other = { ...domain, name, chainId }
      const changed = { ...message, value, validAfter, validBefore, nonce: bytes32(nonce) }
      assert.strictEqual(
        digest(domainSeparator(other), changed),
        hashTypedData({ domain: other, types, primaryType, message: changed })
      )
    },
    { arbitrary: { seed: SEED } }
  )

  it.effect.prop(
    "recovers the signer",
    { secret: Uint(250n), value: Uint(128n) },
    ({ secret, value }) =>
      Effect.gen(function* () {
        const account = privateKeyToAccount(bytes32(secret + 1n))
        const changed = { ...message, from: account.address, value }
        const signature = yield* Effect.promise(() =>
          account.signTypedData({ domain, types, primaryType, message: changed })
        )
        assert.strictEqual(recoverSigner(digest(separator, changed), signature), account.address.toLowerCase())
      }),
    { arbitrary: { seed: SEED } }
  )

  it.effect.prop(
    "signs like a wallet",
    { secret: Uint(250n), value: Uint(128n) },
    ({ secret, value }) =>
      Effect.gen(function* () {
        const key = bytes32(secret + 1n)
        const account = privateKeyToAccount(key)
        assert.strictEqual(addressOf(key), account.address.toLowerCase())
        const changed = { ...message, from: account.address, value }
        assert.strictEqual(
          sign(key, digest(separator, changed)),
          yield* Effect.promise(() => account.signTypedData({ domain, types, primaryType, message: changed }))
        )
      }),
    { arbitrary: { seed: SEED } }
  )

  const signed = Effect.promise(() => payer.signTypedData({ domain, types, primaryType, message }))
  const signerOf = (signature: Hex) => recoverSigner(digest(separator, message), signature)

  it.effect("does not recover the payer from a changed signature", () =>
    Effect.gen(function* () {
      const signature = yield* signed
      assert.strictEqual(signerOf(signature), payer.address.toLowerCase())
      for (let index = 2; index < signature.length; index++) {
        const digit = signature[index] === "0" ? "1" : "0"
        const changed: Hex = `0x${signature.slice(2, index)}${digit}${signature.slice(index + 1)}`
        assert.notStrictEqual(signerOf(changed), payer.address.toLowerCase(), `digit ${index}`)
      }
    })
  )

  it.effect("refuses other spellings of a signature", () =>
    Effect.gen(function* () {
      const signature = yield* signed
      const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)]
      const twin: Hex = `0x${r}${bytes32(order - s).slice(2)}${v === "1b" ? "1c" : "1b"}`
      const zeroBased: Hex = `0x${signature.slice(2, 130)}${v === "1b" ? "00" : "01"}`
      const compact: Hex = `0x${r}${bytes32(v === "1b" ? s : s | (1n << 255n)).slice(2)}`
      const others: ReadonlyArray<Hex> = [twin, zeroBased, compact, `${signature}00`, "0x", "0x00", "0x0"]
      for (const other of others) assert.strictEqual(signerOf(other), undefined, other)
    })
  )

  it("recovers no signer from numbers that are not a signature", () => {
    const numbers = [0n, 1n, order / 2n, order, order + 1n, 2n ** 256n - 1n]
    for (const r of numbers) {
      for (const s of [0n, 2n ** 256n - 1n]) {
        assert.strictEqual(signerOf(`0x${bytes32(r).slice(2)}${bytes32(s).slice(2)}1b`), undefined)
      }
    }
    assert.strictEqual(signerOf(pad("0x1b", { size: 65 })), undefined)
  })

  it.effect("does not recover the payer for another message or domain", () =>
    Effect.gen(function* () {
      const signature = yield* signed
      const changes: ReadonlyArray<Partial<AuthorizedTransfer>> = [
        { to: stranger },
        { value: 250_001n },
        { validAfter: 1n },
        { validBefore: 1_763_712_346n },
        { nonce: `0x${"ac".repeat(32)}` }
      ]
      for (const change of changes) {
        assert.notStrictEqual(
          recoverSigner(digest(separator, { ...message, ...change }), signature),
          payer.address.toLowerCase()
        )
      }
      for (const change of [
        { name: "USDT0" },
        { version: "2" },
        { chainId: 196n },
        { verifyingContract: stranger } as const
      ]) {
        const other = domainSeparator({ ...domain, ...change })
        assert.notStrictEqual(recoverSigner(digest(other, message), signature), payer.address.toLowerCase())
      }
    })
  )
})
