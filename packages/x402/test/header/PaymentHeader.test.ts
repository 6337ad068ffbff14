import { createHash } from "node:crypto"
import type { ChallengeBinding, PaymentProof, PaymentTerms } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { decodePaymentRequiredHeader, decodePaymentResponseHeader, encodePaymentRequiredHeader } from "@x402/core/http"
import { Effect, Exit, Schema } from "effect"
import * as PaymentHeader from "../../src/header/PaymentHeader.ts"
import { asset, payer, payTo, price, SEED, signatureHeader, terms } from "../support/Sample.ts"

/** The example payment of the specification (x402-specification-v2.md, section 5.2.1). */
const example = {
  x402Version: 2,
  resource: {
    url: "https://api.example.com/premium-data",
    description: "Access to premium market data",
    mimeType: "application/json"
  },
  accepted: {
    scheme: "exact",
    network: "eip155:84532",
    amount: "10000",
    asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
    maxTimeoutSeconds: 60,
    extra: { name: "USDC", version: "2" }
  },
  payload: {
    signature:
      "0x2d6a7588d6acca505cbf0d9a4a227e0c52c6c34008c8e8986a1283259764173608a2ce6496642e377d6da8dbbf5836e9bd15092f9ecab05ded3d6293af148b571c",
    authorization: {
      from: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
      to: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
      value: "10000",
      validAfter: "1740672089",
      validBefore: "1740672154",
      nonce: "0xF3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480"
    }
  },
  extensions: {}
}

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64")
const encode = (value: unknown): string => base64(JSON.stringify(value))
/** Returns the example with fields of its payload or authorization changed. */
const withPayload = (change: object) => encode({ ...example, payload: { ...example.payload, ...change } })
const withAuthorization = (change: object) =>
  withPayload({ authorization: { ...example.payload.authorization, ...change } })
const withAccepted = (change: object) => encode({ ...example, accepted: { ...example.accepted, ...change } })

const messageOf = (header: string) =>
  Effect.map(Effect.flip(PaymentHeader.decodeProof(header)), (error) => error.message)

describe("PaymentHeader.decodeProof", () => {
  it.effect("reads the specification's example", () =>
    Effect.gen(function* () {
      const header = encode(example)
      const proof = yield* PaymentHeader.decodeProof(header)
      const expected: PaymentProof = {
        digest: createHash("sha256").update(header).digest("hex"),
        network: "eip155:84532",
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        payer: "0x857b06519e91e3a54538791bdbb0e22373e36b66",
        payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        value: 10_000n,
        nonce: "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480",
        validAfter: 1_740_672_089,
        validBefore: 1_740_672_154,
        accepted: example.accepted,
        payload: JSON.stringify(example)
      }
      assert.deepStrictEqual(proof, expected)
      assert.strictEqual(PaymentHeader.signatureOf(proof), example.payload.signature)
    })
  )

  it.effect("reads the header of the stock client, with our keys in extra unchanged", () =>
    Effect.gen(function* () {
      const accepted = terms()
      const proof = yield* PaymentHeader.decodeProof(yield* signatureHeader(accepted))
      assert.strictEqual(proof.payer, payer.address.toLowerCase())
      assert.strictEqual(proof.asset, asset)
      assert.strictEqual(proof.value, price)
      assert.deepStrictEqual(proof.accepted, { ...accepted, amount: price.toString() })
    })
  )

  const strange = JSON.parse('{"__proto__": {"a": 1}, "constructor": [], "₮": null, "nested": {"b": [1, {}]}}')
  it.effect("keeps any content of extra", () =>
    Effect.gen(function* () {
      const proof = yield* PaymentHeader.decodeProof(withAccepted({ extra: strange }))
      assert.strictEqual(JSON.stringify(proof.accepted.extra), JSON.stringify(strange))
      assert.strictEqual(JSON.parse(proof.payload).accepted.extra["₮"], null)
    })
  )

  it.effect("refuses a payment in which readers may find two amounts", () =>
    Effect.gen(function* () {
      const twice = JSON.stringify(example).replace('"value":"10000"', '"value":"1","value":"10000"')
      assert.include(yield* messageOf(base64(twice)), "payload.authorization.value appears twice in one object")
    })
  )

  it.effect("refuses a payment with too many values before decoding it", () =>
    Effect.gen(function* () {
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 0]))
      assert.include(yield* messageOf(withAccepted({ extra: many })), "more than 256 properties")
      assert.include(
        yield* messageOf(withAccepted({ extra: { a: Array(300).fill(0) } })),
        "more than 256 array elements"
      )
      const deep = JSON.parse(`${"[".repeat(20)}${"]".repeat(20)}`)
      assert.include(yield* messageOf(withAccepted({ extra: { deep } })), "nested more than 16 levels deep")
    })
  )

  const permit2 = { ...example.payload, permit2Authorization: { from: "0x", permitted: {} } }
  const malformed: ReadonlyArray<readonly [what: string, header: string, message: string]> = [
    ["nothing", "", "must be base64 (RFC 4648"],
    ["no base64", "!!!!", "must be base64 (RFC 4648"],
    ["base64 without its padding", "e30", "must be base64 (RFC 4648"],
    [
      "base64 of the other alphabet",
      base64(">>>???").replaceAll("/", "_").replaceAll("+", "-"),
      "must be base64 (RFC 4648"
    ],
    ["white space in base64", ` ${encode(example)}`, "must be base64 (RFC 4648"],
    ["bits that mean nothing", "e30=".replace("0", "1"), "must be base64 (RFC 4648"],
    ["no JSON", base64("{"), "must be base64 of JSON in UTF-8"],
    ["bytes that are no UTF-8", base64(new Uint8Array([0x22, 0xff, 0x22])), "must be base64 of JSON in UTF-8"],
    ["a byte order mark", base64(`\ufeff${JSON.stringify(example)}`), "must be base64 of JSON in UTF-8"],
    ["nesting without end", base64(`${"[".repeat(12_000)}`), "has an invalid field: 0.0.0"],
    ["nesting that ends", base64(`${"[".repeat(6_000)}${"]".repeat(6_000)}`), ""],
    ["too much", "A".repeat(16_388), "must have at most 16384 characters"],
    ["a number", encode(1), "must be base64 of a JSON object"],
    ["null", encode(null), "must be base64 of a JSON object"],
    ["a list", encode([]), "must be of x402 version 2"],
    ["version 1", encode({ x402Version: 1, scheme: "exact", payload: {} }), "must be of x402 version 2"],
    ["no accepted terms", encode({ ...example, accepted: undefined }), "has an invalid field: accepted"],
    ["no extra", withAccepted({ extra: undefined }), "has an invalid field: accepted.extra"],
    ["extra that is a list", withAccepted({ extra: [] }), "has an invalid field: accepted.extra"],
    ["an amount that is a number", withAccepted({ amount: 10_000 }), "has an invalid field: accepted.amount"],
    [
      "a token of another kind of chain",
      withAccepted({ asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" }),
      "has an invalid field: accepted.asset"
    ],
    ["no payload", encode({ ...example, payload: undefined }), "has an invalid field: payload"],
    [
      "a Permit2 payment",
      encode({ ...example, payload: { ...permit2, authorization: undefined } }),
      "contains a Permit2 payment"
    ],
    [
      "a Permit2 payment beside the authorization",
      encode({ ...example, payload: permit2 }),
      "contains a Permit2 payment"
    ],
    [
      "something beside the authorization",
      withPayload({ transaction: "0x" }),
      "has an invalid field: payload.transaction"
    ],
    [
      "something in the authorization",
      withAuthorization({ deadline: "1" }),
      "has an invalid field: payload.authorization.deadline"
    ],
    ["a signature that is no hex", withPayload({ signature: "0xzz" }), "has an invalid field: payload.signature"],
    ["no signature", withPayload({ signature: undefined }), "has an invalid field: payload.signature"],
    [
      "an address that is too short",
      withAuthorization({ from: "0x857b" }),
      "has an invalid field: payload.authorization.from"
    ],
    [
      "a payer in capitals, which facilitators refuse",
      withAuthorization({ from: `0x${"857b06519E91e3A54538791bDbb0E22373e36b66".toUpperCase()}` }),
      "has an invalid field: payload.authorization.from"
    ],
    [
      "a payer with a wrong checksum",
      withAuthorization({ from: "0x857B06519E91e3A54538791bDbb0E22373e36b66" }),
      "has an invalid field: payload.authorization.from"
    ],
    [
      "an address with a line after it",
      withAuthorization({ to: `${payTo}\n` }),
      "has an invalid field: payload.authorization.to"
    ],
    [
      "a nonce without its prefix",
      withAuthorization({ nonce: "ab".repeat(33) }),
      "has an invalid field: payload.authorization.nonce"
    ],
    [
      "a value that is a number",
      withAuthorization({ value: 10_000 }),
      "has an invalid field: payload.authorization.value"
    ],
    [
      "a value in hexadecimal",
      withAuthorization({ value: "0x2710" }),
      "has an invalid field: payload.authorization.value"
    ],
    ["a negative value", withAuthorization({ value: "-1" }), "has an invalid field: payload.authorization.value"],
    [
      "a value with a zero before it",
      withAuthorization({ value: "010000" }),
      "has an invalid field: payload.authorization.value"
    ],
    [
      "a value of 257 bits",
      withAuthorization({ value: (2n ** 256n).toString() }),
      "has an invalid field: payload.authorization.value"
    ],
    [
      "a time beyond exact numbers",
      withAuthorization({ validBefore: "9007199254740992" }),
      "has an invalid field: payload.authorization.validBefore"
    ],
    [
      "a time that is a number",
      withAuthorization({ validAfter: 0 }),
      "has an invalid field: payload.authorization.validAfter"
    ],
    ["a zero character", withAccepted({ extra: { name: "US\0DC" } }), "contains invalid Unicode"],
    ["half a character", withAccepted({ extra: { "\ud83d": 1 } }), "contains invalid Unicode"]
  ]
  it.effect.each(malformed)("refuses %s", ([, header, message]) =>
    Effect.gen(function* () {
      const said = yield* messageOf(header)
      assert.include(said, `PAYMENT-SIGNATURE ${message}`)
      assert.isBelow(said.length, 200)
    })
  )

  it.effect("does not repeat the input in errors", () =>
    Effect.gen(function* () {
      const key = "<script>".repeat(200)
      assert.isBelow((yield* messageOf(withAuthorization({ [key]: 1 }))).length, 200)
    })
  )

  it.effect("accepts a header of the maximum length, and the largest numbers", () =>
    Effect.gen(function* () {
      const most = (2n ** 256n - 1n).toString()
      const padding = (length: number) => withAccepted({ extra: { padding: "x".repeat(length) } })
      const length = 3 * Math.floor((PaymentHeader.HEADER_LENGTH_MAX - padding(0).length) / 4)
      assert.strictEqual(padding(length).length, PaymentHeader.HEADER_LENGTH_MAX)
      yield* PaymentHeader.decodeProof(padding(length))
      const proof = yield* PaymentHeader.decodeProof(withAuthorization({ value: most, validBefore: "9".repeat(15) }))
      assert.strictEqual(proof.value, 2n ** 256n - 1n)
      assert.strictEqual(proof.validBefore, 999_999_999_999_999)
    })
  )

  it.effect.prop(
    "reads any text as a proof or fails",
    { header: Schema.String, json: Schema.Json },
    ({ header, json }) =>
      Effect.gen(function* () {
        for (const text of [header, base64(header), encode(json), encode({ ...example, payload: json })]) {
          const exit = yield* Effect.exit(PaymentHeader.decodeProof(text))
          assert.isTrue(Exit.isFailure(exit) && !Exit.hasDies(exit))
        }
      }),
    { arbitrary: { seed: SEED } }
  )

  it.effect.prop(
    "gives a header with one changed character another digest",
    {
      position: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })),
      character: Schema.Literals([..."AZaz09+/= "])
    },
    ({ character, position }) =>
      Effect.gen(function* () {
        const header = encode(example)
        const index = position % header.length
        const changed = header.slice(0, index) + character + header.slice(index + 1)
        if (changed === header) return
        const exit = yield* Effect.exit(PaymentHeader.decodeProof(changed))
        assert.isFalse(Exit.hasDies(exit))
        const before = yield* PaymentHeader.decodeProof(header)
        if (Exit.isSuccess(exit)) assert.notStrictEqual(exit.value.digest, before.digest)
      }),
    { arbitrary: { seed: SEED } }
  )
})

/** The extension as each challenge declares it. */
const DECLARED = {
  info: { required: false },
  schema: {
    type: "object",
    properties: { required: { type: "boolean" }, id: { type: "string", pattern: "^[a-zA-Z0-9_-]{16,128}$" } },
    required: ["required"]
  }
}

describe("the payment identifier of a header", () => {
  const identifierOf = (extensions: unknown) =>
    Effect.map(PaymentHeader.decodeProof(encode({ ...example, extensions })), ({ identifier }) => identifier)
  const identified = (id: unknown) => ({ "payment-identifier": { ...DECLARED, info: { required: false, id } } })

  it.effect("is that of the extension", () =>
    Effect.gen(function* () {
      for (const id of ["pay_7d5d747be160e280504c099d984bcfe0", "0123456789abcdef", "-".repeat(128)]) {
        assert.strictEqual(yield* identifierOf(identified(id)), id)
      }
    })
  )

  it.effect("is empty if it is malformed", () =>
    Effect.gen(function* () {
      for (const id of ["", "0123456789abcde", "x".repeat(129), "0123456789abcde ", "0123456789abcde\n", 1, null, {}]) {
        assert.strictEqual(yield* identifierOf(identified(id)), "", JSON.stringify(id))
      }
    })
  )

  it.effect("is absent if the client sends none", () =>
    Effect.gen(function* () {
      for (const extensions of [
        {},
        null,
        [],
        "x",
        { "payment-identifier": DECLARED },
        { "payment-identifier": null }
      ]) {
        assert.isUndefined(yield* identifierOf(extensions), JSON.stringify(extensions))
      }
    })
  )
})

describe("PaymentHeader.challengeEncoder", () => {
  const resource = {
    url: "https://agentos.test/api/v1/email/mailboxes",
    description: "A mailbox at ₮",
    mimeType: "application/json",
    serviceName: "AgentOS",
    tags: ["email"],
    iconUrl: "https://agentos.test/icon.svg"
  }
  const extensions = { bazaar: { info: { input: { type: "http" } }, schema: {} } }
  const bindingOf = (text: string): ChallengeBinding => ({
    challengeNonce: text,
    issuedAt: 1_763_712_345_678,
    expiresAt: 1_763_713_245_678,
    keyId: 1,
    binding: "f".repeat(64)
  })
  const unbound = (other: Partial<PaymentTerms> = {}) => terms({ extra: { name: "USD₮0", version: "1" }, ...other })
  const only = bindingOf("00ff")
  const Length = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))

  it("encodes the fields of the specification, as stock clients read them", () => {
    const bindings = [bindingOf("00ff"), bindingOf("ff00")]
    const header = PaymentHeader.challengeEncoder({
      error: "Pay first.",
      resource,
      accepts: [unbound(), unbound({ amount: 1n })],
      extensions
    })(bindings)
    assert.deepStrictEqual(decodePaymentRequiredHeader(header), {
      x402Version: 2,
      error: "Pay first.",
      resource,
      extensions: { ...extensions, "payment-identifier": DECLARED },
      accepts: [
        { ...unbound(), network: "eip155:402402", amount: "250000", extra: { ...unbound().extra, ...bindings[0]! } },
        { ...unbound(), network: "eip155:402402", amount: "1", extra: { ...unbound().extra, ...bindings[1]! } }
      ]
    })
  })

  it.prop(
    "encodes the same bytes as the stock server, for parts of any length",
    {
      description: Schema.String,
      names: Schema.Array(Schema.String).check(Schema.isMaxLength(4)),
      lengths: Schema.Tuple([Length, Length, Length, Length]),
      keyId: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 255 }))
    },
    ({ description, keyId, lengths, names }) => {
      const encode = PaymentHeader.challengeEncoder({
        error: undefined,
        resource: { ...resource, description },
        accepts: names.map((name) => unbound({ extra: name === "" ? {} : { name } })),
        extensions
      })
      for (const again of [lengths, lengths.toReversed()]) {
        const header = encode(names.map((_, place) => ({ ...bindingOf("f".repeat(again[place]!)), keyId })))
        assert.strictEqual(header, encodePaymentRequiredHeader(decodePaymentRequiredHeader(header)))
      }
    }
  )

  it("shortens a long error, which the body of the response has in full", () => {
    const header = PaymentHeader.challengeEncoder({
      error: "x".repeat(200),
      resource,
      accepts: [unbound()],
      extensions
    })([only])
    assert.strictEqual(decodePaymentRequiredHeader(header).error, "x".repeat(100))
  })

  it("leaves out a missing error", () => {
    const header = PaymentHeader.challengeEncoder({ error: undefined, resource, accepts: [unbound()], extensions })([
      only
    ])
    assert.notProperty(decodePaymentRequiredHeader(header), "error")
  })
})

describe("PaymentHeader.encodeReceipt", () => {
  it("is the same for the same payment", () => {
    const receipt = {
      network: "eip155:196",
      transaction: `0x${"7a".repeat(32)}`,
      payer: payer.address,
      amount: 250_000n,
      isRefunded: false,
      extensions: {}
    }
    const header = PaymentHeader.encodeReceipt(receipt)
    assert.strictEqual(PaymentHeader.encodeReceipt({ ...receipt }), header)
    assert.strictEqual(
      Buffer.from(header, "base64").toString(),
      `{"success":true,"transaction":"0x${"7a".repeat(32)}","network":"eip155:196","payer":"${payer.address}","amount":"250000"}`
    )
    assert.isTrue(decodePaymentResponseHeader(header).success)
  })

  it("reports a refunded payment as failed, with its extensions", () => {
    const transaction = `0x${"7a".repeat(32)}`
    const extensions = { "offer-receipt": { info: { receipt: { format: "jws", signature: "a.b.c" } } } }
    const payment = { network: "eip155:196", transaction, payer: payer.address, amount: 250_000n }
    assert.deepStrictEqual(
      decodePaymentResponseHeader(PaymentHeader.encodeReceipt({ ...payment, isRefunded: true, extensions })),
      { ...payment, network: "eip155:196", amount: "250000", success: false, errorReason: "refunded", extensions }
    )
  })
})
