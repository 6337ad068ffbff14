import { Failure } from "@agentos/command-line"
import { recoverTypedDataAddress } from "viem"
import { assert, describe, it } from "vitest"
import { chooseTerms, type PaymentOption, readChallenge, type Terms } from "../../src/payment/Quote.ts"
import { signTerms } from "../../src/payment/Signing.ts"
import { validUntil } from "../../src/payment/JournalEntry.ts"
import { PrivateKey } from "../../src/wallet/PrivateKey.ts"
import { ASSET, KEY, offer, PAY_TO, PAYER } from "../support/PaidAnswers.ts"

/** The first 24 bytes of SHA-256 over "ab" 32 times, in hex. */
const BINDING_HASH = "271a413bd339c5709fdceaec41f14f11e9fbfb5042d72d33"
/** EIP-3009. */
const AUTHORIZATION = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" }
] as const

const key = PrivateKey.ofText(KEY, "the test")
const SERVER = "https://agentos.example"

const quoteOf = (...accepts: ReadonlyArray<unknown>) => {
  const challenge = Buffer.from(JSON.stringify({ x402Version: 2, resource: { url: "x" }, accepts })).toString("base64")
  return { method: "POST", path: "/x", body: "{}", challenge, options: readChallenge(challenge) }
}

const termsOf = (shown: Partial<PaymentOption> = {}, asked: Readonly<Record<string, unknown>> = {}): Terms => {
  const quote = quoteOf(offer(asked))
  return { quote, index: 0, option: { ...quote.options[0]!, ...shown } }
}

const codeOf = async (use: () => unknown): Promise<string> => {
  try {
    await use()
    return "done"
  } catch (error) {
    return error instanceof Failure ? error.parts.code : "another error"
  }
}

describe("signTerms", () => {
  it("signs the confirmed terms for the validity of the challenge", async () => {
    const before = Date.now()
    const header = await signTerms(termsOf(), key)
    const { accepted, payload } = JSON.parse(Buffer.from(header, "base64").toString())
    assert.deepStrictEqual(accepted, offer())
    assert.deepInclude(payload.authorization, { from: PAYER, to: PAY_TO, value: "250000" })
    assert.closeTo(validUntil(header)! - before, offer().maxTimeoutSeconds * 1_000, 5_000)
  })

  it("signs nothing if the challenge differs from the confirmed terms", async () => {
    const drifts: ReadonlyArray<readonly [string, Terms]> = [
      ["amount", termsOf({ baseUnits: 249_999n })],
      ["more", termsOf({ baseUnits: 250_001n })],
      ["payee", termsOf({ payTo: PAYER })],
      ["token", termsOf({ asset: PAY_TO })],
      ["network", termsOf({ network: "eip155:988" })],
      ["option", { ...termsOf(), index: 1 }]
    ]
    for (const [what, terms] of drifts) assert.notStrictEqual(await codeOf(() => signTerms(terms, key)), "done", what)
  })

  it("uses the nonce that binds the payment to the challenge", async () => {
    const extra = { ...offer().extra, binding: "ab".repeat(32), nonceTag: "0x6167656e746f7331" }
    const header = await signTerms(termsOf({}, { extra }), key)
    const { authorization, signature } = JSON.parse(Buffer.from(header, "base64").toString()).payload
    // printf %s abab…ab | sha256sum
    assert.strictEqual(authorization.nonce, `0x6167656e746f7331${BINDING_HASH}`)
    const { asset, network } = offer()
    const signer = await recoverTypedDataAddress({
      domain: {
        name: extra.name,
        version: extra.version,
        chainId: Number(network.split(":")[1]),
        verifyingContract: `0x${asset.slice(2)}`
      },
      types: { TransferWithAuthorization: AUTHORIZATION },
      primaryType: "TransferWithAuthorization",
      message: authorization,
      signature
    })
    assert.strictEqual(signer, PAYER)
  })

  it("uses a random nonce if the challenge has no tag", async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const header = await signTerms(termsOf(), key)
        return JSON.parse(Buffer.from(header, "base64").toString()).payload.authorization.nonce
      })
    )
    assert.notStrictEqual(nonces[0], nonces[1])
    assert.isFalse(nonces.some((nonce: string) => nonce.startsWith("0x6167656e746f7331")))
  })

  it("never signs a permit for the whole balance", async () => {
    const permit = termsOf({}, { extra: { ...offer().extra, assetTransferMethod: "permit2" } })
    assert.notStrictEqual(await codeOf(() => signTerms(permit, key)), "done")
  })
})

describe("chooseTerms", () => {
  const other = offer({ network: "eip155:988" })

  it("chooses the first supported option, or the one of the given network", () => {
    const quote = quoteOf(offer({ scheme: "upto" }), offer(), other)
    assert.strictEqual(chooseTerms(quote, undefined, SERVER).index, 1)
    assert.strictEqual(chooseTerms(quote, "eip155:988", SERVER).index, 2)
  })

  it("accepts known tokens only, except from a local server on its own chain", async () => {
    const quote = quoteOf(offer({ asset: PAY_TO }), offer({ network: "eip155:1" }))
    assert.strictEqual(await codeOf(() => chooseTerms(quote, undefined, SERVER)), "PAYMENT_DECLINED")
    assert.strictEqual(await codeOf(() => chooseTerms(quote, undefined, "http://127.evil.example")), "PAYMENT_DECLINED")
    const local = "http://localhost:8402"
    assert.strictEqual(chooseTerms(quote, undefined, local).index, 1)
    assert.strictEqual(await codeOf(() => chooseTerms(quote, "eip155:196", local)), "PAYMENT_DECLINED")
    assert.strictEqual(chooseTerms(quoteOf(offer({ asset: ASSET.toLowerCase() })), undefined, SERVER).index, 0)
  })
})
