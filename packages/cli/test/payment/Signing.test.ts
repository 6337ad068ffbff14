import { AgentOs } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { failureOf } from "../../src/server/ApiFailure.ts"
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

type Quote = ReadonlyArray<unknown>
const quoteOf = (...accepts: Quote): Quote => accepts

/** Pays for a call of a server that accepts these options, and returns the payment in the header and its network. */
const payFor = async (accepts: Quote, baseUrl: string, network: string | undefined) => {
  const header = Buffer.from(JSON.stringify({ x402Version: 2, resource: { url: "x" }, accepts })).toString("base64")
  let payment = ""
  const fetch = (_url: string, { headers }: RequestInit) => {
    const sent = new Headers(headers).get("payment-signature")
    if (sent === null)
      return Promise.resolve(new Response("", { status: 402, headers: { "PAYMENT-REQUIRED": header } }))
    payment = sent
    return Promise.resolve(Response.json({ data: { mailbox: {} } }))
  }
  const options = network === undefined ? {} : { network }
  const agent = await AgentOs.connect(baseUrl, { ...options, wallet: account, onPayment: () => true, fetch })
  await agent.call("createMailbox", { localPart: "ada" })
  return JSON.parse(Buffer.from(payment, "base64").toString())
}

/** Signs an option and returns the payment in the header. */
const sign = (accepted: ReturnType<typeof offer>) => payFor([accepted], SERVER, undefined)

describe("the signature of a payment", () => {
  it.each([
    ["a random nonce", offer({ extra: { name: "USDT0", version: "1" } })],
    ["a bound nonce", offer({ extra: BOUND })]
  ])("signs the same data as the official library of x402, with %s", async (_, accepted) => {
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

describe("the options of a challenge", () => {
  const other = offer({ network: "eip155:988" })
  const networkOf = async (quote: Quote, network: string | undefined, baseUrl: string): Promise<string> => {
    try {
      return (await payFor(quote, baseUrl, network)).accepted.network
    } catch (error) {
      const failure = failureOf(error, baseUrl)
      return failure instanceof Failure ? failure.parts.code : "another error"
    }
  }

  it("chooses the first supported option, or the one of the given network", async () => {
    const quote = quoteOf(offer({ scheme: "upto", network: "eip155:14" }), offer(), other)
    assert.strictEqual(await networkOf(quote, undefined, SERVER), "eip155:196")
    assert.strictEqual(await networkOf(quote, "eip155:988", SERVER), "eip155:988")
  })

  it("accepts known tokens only, except from a local server on its own chain", async () => {
    const quote = quoteOf(offer({ asset: PAY_TO }), offer({ network: "eip155:31337" }))
    assert.strictEqual(await networkOf(quote, undefined, SERVER), "PAYMENT_DECLINED")
    assert.strictEqual(await networkOf(quote, undefined, "https://127.evil.example"), "PAYMENT_DECLINED")
    const local = "http://localhost:8402"
    assert.strictEqual(await networkOf(quote, undefined, local), "eip155:31337")
    assert.strictEqual(await networkOf(quote, "eip155:196", local), "PAYMENT_DECLINED")
    assert.strictEqual(await networkOf(quoteOf(offer({ asset: ASSET.toLowerCase() })), undefined, SERVER), "eip155:196")
  })
})
