import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import { SERVICES } from "@agentos/core"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { type Agent, freshName } from "../support/Agent.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  type CallFields,
  EXTEND,
  type PhoneCustomer,
  RENEW
} from "../support/PhoneCustomer.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()

interface Answer {
  readonly status: number
  readonly receipt: string | null
  readonly body: { readonly data: never }
}

/** A request as a quickstart sends it: with an Idempotency-Key, and with the access token once there is one. */
type Post = (path: string, body: object, headers: Readonly<Record<string, string>>) => Promise<Answer>

const withFetch = ({ account }: Agent): Post => {
  const { asset, network } = host.sandbox.chain
  const wallet = new FetchClient()
    .register("eip155:*", new ExactEvmScheme(account))
    .setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
  const paying = wrapFetchWithPayment(fetch, wallet)
  return async (path, body, headers) => {
    const answer = await paying(`${host.sandbox.baseUrl}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
    const receipt = answer.headers.get("PAYMENT-RESPONSE")
    return { status: answer.status, receipt, body: (await answer.json()) as Answer["body"] }
  }
}

const withAxios = ({ account }: Agent): Post => {
  const wallet = new AxiosClient().register("eip155:*", new ExactEvmScheme(account))
  const api = wrapAxiosWithPayment(axios.create({ baseURL: host.sandbox.baseUrl }), wallet)
  return async (path, body, headers) => {
    const answer = await api.post<Answer["body"]>(path, body, { headers: { ...headers } })
    return {
      status: answer.status,
      receipt: String(answer.headers["payment-response"] as unknown),
      body: answer.data
    }
  }
}

/** Buys with one client, and keeps the token and the list of what was bought. */
class Buyer {
  readonly bought: Array<string> = []
  readonly #customer: PhoneCustomer
  readonly #post: Post

  constructor(customer: PhoneCustomer, clientOf: (agent: Agent) => Post) {
    this.#customer = customer
    this.#post = clientOf(customer.agent)
  }

  async buy<Data>(path: string, body: object): Promise<Data> {
    const { agent } = this.#customer
    const token = agent.token === undefined ? {} : { Authorization: `Bearer ${agent.token}` }
    const {
      body: answer,
      receipt,
      status
    } = await this.#post(path, body, {
      "Idempotency-Key": randomUUID(),
      ...token
    })
    expect([200, 201]).toContain(status)
    expect(JSON.parse(Buffer.from(receipt ?? "", "base64").toString())).toMatchObject({ success: true })
    this.bought.push(path)
    const data: Data & { readonly authentication?: { readonly accessToken: string } } = answer.data
    agent.token ??= data.authentication?.accessToken
    return data
  }
}

const MAIL = "/api/v1/email"

describe.each([
  ["@x402/fetch", withFetch],
  ["@x402/axios", withAxios]
] as const)("%s", (_name, clientOf) => {
  it("pays for every paid service, each with its price and a receipt", async () => {
    const { carrier, chain } = host
    const customer = await host.customer()
    const buyer = new Buyer(customer, clientOf)
    const { amount } = await chain.charged(customer.address, async () => {
      const { mailbox } = await buyer.buy<{ readonly mailbox: { readonly mailboxId: string } }>(`${MAIL}/mailboxes`, {
        localPart: freshName()
      })
      const { mailboxId } = mailbox
      await buyer.buy(`${MAIL}/mailboxes/update`, { mailboxId, displayName: "Ada" })
      await buyer.buy(`${MAIL}/messages/send`, { mailboxId, to: ["grace@else.test"], subject: "Hi", text: "Hello" })
      await buyer.buy(`${MAIL}/mailboxes/delete`, { mailboxId })
      const { phoneNumberId } = await buyer.buy<{ readonly phoneNumberId: string }>(BUY_US, customer.order())
      await buyer.buy(BUY_CANADA, customer.order())
      await buyer.buy(RENEW, { phoneNumberId })
      await buyer.buy(ADD_MINUTES, { phoneNumberId })
      const placed = await buyer.buy<{ readonly call: CallFields }>(CALL_ONE, {
        phoneNumberId,
        toNumber: await carrier.person({ seconds: 40 })
      })
      const { callId } = placed.call
      await carrier.until(
        () => customer.call(callId),
        ({ status }) => status === "in_progress"
      )
      await buyer.buy(EXTEND, { callId })
      await buyer.buy(CALL_FIVE, { phoneNumberId, toNumber: await carrier.person({ lines: [{ hangup: true }] }) })
    })
    const sold = SERVICES.filter(({ price }) => price !== null)
    expect(buyer.bought.toSorted()).toEqual(sold.map(({ path }) => path).toSorted())
    expect(amount).toBe(sold.reduce((sum, { price }) => sum + (price ?? 0n), 0n))
  })
})
