import { readChallenge, signPayment } from "@agentos/client/internal"
import { Failure } from "@agentos/command-line"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { chooseTerms, type Quote } from "../../src/payment/Quote.ts"
import { accountOf } from "../../src/wallet/Account.ts"
import { PrivateKey } from "../../src/wallet/PrivateKey.ts"
import { ASSET, KEY, offer, PAY_TO, PAYER } from "../support/PaidAnswers.ts"

/** The first 24 bytes of SHA-256, in hex: printf "https://agentos.example\nabab…ab" | sha256sum */
const BINDING_HASH = "19859c40d2dfcc0c0017073ea638a941d939123927ebf506"
const BOUND = { ...offer().extra, binding: "ab".repeat(32), nonceTag: "0x6167656e746f7331" }
const NOW = Date.parse("2026-01-31T12:00:00.000Z")

const account = accountOf(PrivateKey.ofText(KEY, "the test"))
const SERVER = "https://agentos.example"

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOW }))
afterAll(() => void vi.useRealTimers())

const quoteOf = (...accepts: ReadonlyArray<unknown>): Quote => {
  const header = Buffer.from(JSON.stringify({ x402Version: 2, resource: { url: "x" }, accepts })).toString("base64")
  return { method: "POST", path: "/x", body: "{}", challenge: readChallenge(header) }
}

/** Signs an option and returns the payment in the header. */
const sign = async (accepted: ReturnType<typeof offer>) => {
  const { challenge } = quoteOf(accepted)
  const { header } = await signPayment(account, challenge, challenge.options[0]!, SERVER, NOW)
  return JSON.parse(Buffer.from(header, "base64").toString())
}

describe("signPayment", () => {
  it.each([
    ["a random nonce", offer({ extra: { name: "USDT0", version: "1" } })],
    ["a bound nonce", offer({ extra: BOUND })]
  ])("signs what the official library of x402 signs, with %s", async (_, accepted) => {
    const payment = await sign(accepted)
    const { nonce } = payment.payload.authorization
    const { address, signTypedData } = privateKeyToAccount(KEY)
    const scheme = new ExactEvmScheme({
      address,
      // The library chooses a random nonce.
      signTypedData: (typed) => {
        const bound = { ...typed, message: { ...typed.message, nonce } }
        return signTypedData(bound as Parameters<typeof signTypedData>[0])
      }
    })
    const { payload } = await scheme.createPaymentPayload(2, accepted as never)
    const authorization: object = { ...(payload["authorization"] as object), nonce }
    assert.deepStrictEqual(payment, {
      x402Version: 2,
      resource: { url: "x" },
      accepted,
      payload: { ...payload, authorization }
    })
    assert.deepInclude(authorization, { from: PAYER, to: PAY_TO, value: "250000" })
  })

  it("uses the nonce that binds the payment to the server and the challenge", async () => {
    const { payload } = await sign(offer({ extra: BOUND }))
    assert.strictEqual(payload.authorization.nonce, `0x6167656e746f7332${BINDING_HASH}`)
  })

  it("uses a random nonce that no server of this kind accepts if the challenge is not bound to the request", async () => {
    const unbound = offer({ extra: { name: "USDT0", version: "1" } })
    const [first, second] = await Promise.all([sign(unbound), sign(unbound)])
    const nonces = [first, second].map(({ payload }) => String(payload.authorization.nonce))
    assert.notStrictEqual(nonces[0], nonces[1])
    assert.isTrue(nonces.every((nonce) => nonce.startsWith("0x6167656e746f7332")))
  })
})

describe("chooseTerms", () => {
  const other = offer({ network: "eip155:988" })
  const networkOf = (quote: Quote, network: string | undefined, baseUrl: string): string => {
    try {
      return chooseTerms(quote, network, baseUrl).option.network
    } catch (error) {
      return error instanceof Failure ? error.parts.code : "another error"
    }
  }

  it("chooses the first supported option, or the one of the given network", () => {
    const quote = quoteOf(offer({ scheme: "upto", network: "eip155:14" }), offer(), other)
    assert.strictEqual(networkOf(quote, undefined, SERVER), "eip155:196")
    assert.strictEqual(networkOf(quote, "eip155:988", SERVER), "eip155:988")
  })

  it("accepts known tokens only, except from a local server on its own chain", () => {
    const quote = quoteOf(offer({ asset: PAY_TO }), offer({ network: "eip155:1" }))
    assert.strictEqual(networkOf(quote, undefined, SERVER), "PAYMENT_DECLINED")
    assert.strictEqual(networkOf(quote, undefined, "http://127.evil.example"), "PAYMENT_DECLINED")
    const local = "http://localhost:8402"
    assert.strictEqual(networkOf(quote, undefined, local), "eip155:1")
    assert.strictEqual(networkOf(quote, "eip155:196", local), "PAYMENT_DECLINED")
    assert.strictEqual(networkOf(quoteOf(offer({ asset: ASSET.toLowerCase() })), undefined, SERVER), "eip155:196")
  })

  it("never chooses a permit for the whole balance", () => {
    const permit = quoteOf(offer({ extra: { ...offer().extra, assetTransferMethod: "permit2" } }))
    assert.strictEqual(networkOf(permit, undefined, SERVER), "PAYMENT_DECLINED")
  })
})
