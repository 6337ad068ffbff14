import { OPERATIONS } from "@agentos/api"
import { TOKEN_PRESETS } from "@agentos/x402"
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { x402Client } from "@x402/core/client"
import { decodePaymentResponseHeader, encodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentRequired } from "@x402/core/types"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { buyAll, exampleOf, type Ids, PAID, type Paid, type Pay, untilAnswered } from "../support/PaidServices.ts"
import type { PhoneCustomer } from "../support/PhoneCustomer.ts"
import { usePhone } from "../support/usePhone.ts"

/** Stock clients of x402 pay the real server with what its documents show. */
const host = usePhone()

const byFetch = ({ agent }: PhoneCustomer, prepare: (client: FetchClient) => void = () => {}): Pay => {
  const { asset, network } = host.sandbox.chain
  const client = new FetchClient().register("eip155:*", new ExactEvmScheme(agent.account))
  client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
  prepare(client)
  const paying = wrapFetchWithPayment(fetch, client)
  return async (path, body, headers) => {
    const response = await paying(host.sandbox.baseUrl + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
    const { data } = (await response.json()) as Pick<Paid, "data">
    return { status: response.status, receipt: response.headers.get("payment-response"), data }
  }
}

const byAxios = ({ agent }: PhoneCustomer, prepare: (client: AxiosClient) => void = () => {}): Pay => {
  const client = new AxiosClient().register("eip155:*", new ExactEvmScheme(agent.account))
  prepare(client)
  const paying = wrapAxiosWithPayment(axios.create({ baseURL: host.sandbox.baseUrl }), client)
  return async (path, body, headers) => {
    const response = await paying.post<Pick<Paid, "data">>(path, body, { headers })
    return { status: response.status, receipt: response.headers["payment-response"], data: response.data.data }
  }
}

const CLIENTS = [
  ["@x402/fetch", byFetch],
  ["@x402/axios", byAxios]
] as const

describe("a stock client", () => {
  it.each(CLIENTS)("%s pays for every paid service, with Idempotency-Key", async (_, clientOf) => {
    const customer = await host.customer()
    await buyAll(host.carrier, customer, clientOf(customer), () => ({ "Idempotency-Key": randomUUID() }))
  })

  it.each(CLIENTS)("%s pays with a payment identifier instead of Idempotency-Key", async (_, clientOf) => {
    const customer = await host.customer()
    const pay = clientOf(customer, (client: FetchClient | AxiosClient) =>
      client.onBeforePaymentCreation(async ({ paymentRequired: { extensions } }) => {
        if (extensions !== undefined) appendPaymentIdentifierToExtensions(extensions, generatePaymentId())
      })
    )
    const body = { ...exampleOf("createMailbox", {}), localPart: freshName() }
    const { receipt, status } = await pay(OPERATIONS.createMailbox.entry.path, body, {})
    expect([status, decodePaymentResponseHeader(receipt ?? "").success]).toEqual([201, true])
  })

  it("@x402/fetch pays only assets that its spend controls allow", async () => {
    const customer = await host.customer()
    const pay = byFetch(customer, (client) => client.setSpendControls({ allowedAssets: [] }))
    const body = { localPart: freshName() }
    await expect(pay(OPERATIONS.createMailbox.entry.path, body, { "Idempotency-Key": randomUUID() })).rejects.toThrow()
  })
})

describe("a payment identifier", () => {
  it("repeats the answer of its operation without Idempotency-Key, and buys nothing else", async () => {
    const { agent } = await host.customer()
    const id = generatePaymentId()
    const { path } = OPERATIONS.createMailbox.entry
    const request = { method: "POST", path, body: { localPart: freshName() } }
    const pay = async () => {
      const challenge = await agent.challenge(request)
      appendPaymentIdentifierToExtensions(challenge.extensions ?? {}, id)
      return { "payment-signature": encodePaymentSignatureHeader(await agent.sign(challenge)) }
    }
    const [first, second, without] = [await pay(), await pay(), { "payment-signature": await agent.payment(request) }]
    const bought = await agent.send({ ...request, headers: first })
    expect(bought.status).toBe(201)
    const again = await agent.send({ ...request, headers: first })
    expect([again.status, again.text]).toEqual([201, bought.text])
    expect(again.headers.get("payment-response")).toBe(bought.headers.get("payment-response"))
    const conflict = await agent.send({ ...request, headers: second })
    expect([conflict.status, conflict.body.error]).toMatchObject([
      409,
      { code: "IDEMPOTENCY_CONFLICT", paymentState: "none" }
    ])
    const keyless = await agent.send({ ...request, headers: without })
    expect([keyless.status, keyless.body.error]).toMatchObject([
      400,
      { code: "INVALID_REQUEST", paymentState: "none", issues: [{ path: "Idempotency-Key" }] }
    ])
  })
})

/** Half of what Node accepts for all headers of a message together, and the limit of some proxies for one. */
const HEADER_LENGTH_MAX = 8_192
const PUBLIC_URL = "https://agentos.production.eu-west.example.com"

/** Returns the challenge as a server at a longer URL with five networks sends it, refusing a payment. */
const enlarged = (challenge: PaymentRequired, baseUrl: string): PaymentRequired => {
  const [terms] = challenge.accepts
  if (terms === undefined) throw new Error("the challenge has no terms")
  const { celo, flare, plasma, stable, xLayer } = TOKEN_PRESETS
  const accepts = [xLayer, celo, stable, plasma, flare].map(({ asset, name, network, version }) => ({
    ...terms,
    network,
    asset,
    maxTimeoutSeconds: 120,
    extra: { ...terms.extra, name, version }
  }))
  const moved = JSON.stringify({ ...challenge, error: "e".repeat(100), accepts }).replaceAll(baseUrl, PUBLIC_URL)
  return JSON.parse(moved) as PaymentRequired
}

describe("the example of a paid service", () => {
  const ids: Ids = {}
  let customer: PhoneCustomer
  beforeAll(async () => {
    customer = await host.customer()
    const bought = await customer.buy()
    ids.phoneNumberId = bought.phoneNumberId
    ids.mailboxId = (await customer.agent.createMailbox(freshName())).mailboxId
    const { callId } = await customer.callOut(bought.phoneNumberId, await host.carrier.person({ seconds: 10_000 }))
    ids.callId = callId
    await untilAnswered(host.carrier, customer, callId)
  })

  it.each(PAID.map(({ name }) => name))(
    "%s is answered with a challenge, whose headers stay below 8 KiB with five networks",
    async (name) => {
      const { path, serviceId } = OPERATIONS[name].entry
      const challenge = await customer.agent.challenge({ path, body: exampleOf(name, ids) })
      expect(Object.keys(challenge.extensions ?? {})).toEqual(
        expect.arrayContaining(["bazaar", "payment-identifier", "offer-receipt"])
      )
      const client = new x402Client().register("eip155:*", new ExactEvmScheme(customer.agent.account))
      client.setSpendControls(false)
      const large = enlarged(challenge, host.sandbox.baseUrl)
      const required = encodePaymentRequiredHeader(large).length
      appendPaymentIdentifierToExtensions(large.extensions ?? {}, "x".repeat(128))
      const signature = encodePaymentSignatureHeader(await client.createPaymentPayload(large)).length
      process.stdout.write(`${serviceId}: PAYMENT-REQUIRED ${required}, PAYMENT-SIGNATURE ${signature}\n`)
      expect(required).toBeLessThan(HEADER_LENGTH_MAX)
      expect(signature).toBeLessThan(HEADER_LENGTH_MAX)
    }
  )
})
