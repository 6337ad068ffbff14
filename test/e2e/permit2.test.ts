import { type SandboxDescription, tetherNetwork } from "@agentos/sandbox"
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http"
import { createPermit2ApprovalTx } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { BUY_US, PRICES } from "../support/PhoneCustomer.ts"
import { usePhone } from "../support/usePhone.ts"

/** Stock clients pay on the second network of a sandbox, where Permit2 moves the token. */
const host = usePhone(async () => ({ networks: 2 }))

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n

/** The second network. */
const tether = (): SandboxDescription["chains"][number] => host.sandbox.chains[1]!
const balances = () => new Chain({ chain: tether() })

interface Answer {
  readonly status: number
  readonly receipt: string | null
  readonly body: {
    readonly error?: { readonly code: string; readonly paymentState: string; readonly transaction?: Transaction }
  }
}
interface Transaction {
  readonly to: Hex
  readonly data: Hex
}
type Pay = (path: string, body: unknown) => Promise<Answer>

/** It pays on the networks that it has a scheme for: the second one alone. */
const byFetch = (account: PrivateKeyAccount): Pay => {
  const { asset, network } = tether()
  const client = new FetchClient().register(network, new ExactEvmScheme(account))
  client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
  const paying = wrapFetchWithPayment(fetch, client)
  return async (path, body) => {
    const response = await paying(host.sandbox.baseUrl + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
      body: JSON.stringify(body)
    })
    const receipt = response.headers.get("payment-response")
    return { status: response.status, receipt, body: (await response.json()) as Answer["body"] }
  }
}

const byAxios = (account: PrivateKeyAccount): Pay => {
  const client = new AxiosClient().register(tether().network, new ExactEvmScheme(account))
  const paying = wrapAxiosWithPayment(
    axios.create({ baseURL: host.sandbox.baseUrl, validateStatus: (status) => status !== 402 }),
    client
  )
  return async (path, body) => {
    const { data, headers, status } = await paying.post<Answer["body"]>(path, body, {
      headers: { "Idempotency-Key": randomUUID() }
    })
    return { status, receipt: (headers["payment-response"] as string | undefined) ?? null, body: data }
  }
}

const CLIENTS = [
  ["@x402/fetch", byFetch],
  ["@x402/axios", byAxios]
] as const

/** Sends a transaction of an account on the second chain, without value. */
const send = async (account: PrivateKeyAccount, { data, to }: Transaction) => {
  const wallet = createWalletClient({ account, transport: http(tether().rpcUrl) }).extend(publicActions)
  const hash = await wallet.sendTransaction({ chain: null, to, data })
  expect((await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20 })).status).toBe("success")
}

/** Gives a new wallet tokens of the second network, and gas for its approval. */
const fundedAccount = async (): Promise<PrivateKeyAccount> => {
  const account = privateKeyToAccount(generatePrivateKey())
  const response = await fetch(`${host.sandbox.facilitatorUrl}/sandbox/faucet`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address: account.address, network: tether().network })
  })
  expect(response.status).toBe(200)
  return account
}

describe("the server of a sandbox with two networks", () => {
  it("offers both in its challenges, the first network first", async () => {
    const response = await fetch(host.sandbox.baseUrl + CREATE, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ localPart: freshName() })
    })
    expect(response.status).toBe(402)
    const { accepts } = decodePaymentRequiredHeader(response.headers.get("payment-required") ?? "")
    const { asset, assetName, payTo } = tether()
    expect(accepts.map(({ network }) => network)).toEqual([host.sandbox.chain.network, tetherNetwork.network])
    expect(accepts[1]).toMatchObject({
      scheme: "exact",
      asset,
      amount: MAILBOX_PRICE.toString(),
      payTo,
      extra: { assetTransferMethod: "permit2", name: assetName, decimals: 6 }
    })
  })

  it.each(CLIENTS)("sells to %s by Permit2, after the approval that its error asks for", async (_, clientOf) => {
    const account = await fundedAccount()
    const pay = clientOf(account)
    const localPart = freshName()
    const unallowed = await pay(CREATE, { localPart })
    expect([unallowed.status, unallowed.body.error]).toMatchObject([
      412,
      { code: "PERMIT2_ALLOWANCE_REQUIRED", paymentState: "none" }
    ])
    await send(account, unallowed.body.error!.transaction!)
    const { amount, result } = await balances().charged(account.address, () => pay(CREATE, { localPart }))
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
    const { network, payer, success } = decodePaymentResponseHeader(result.receipt ?? "")
    expect([network, payer, success]).toEqual([tether().network, account.address.toLowerCase(), true])
  })

  it("delivers what was settled when the facilitator's answer is lost, and charges once", async () => {
    const account = await fundedAccount()
    await send(account, createPermit2ApprovalTx(tether().asset))
    const pay = byFetch(account)
    await fetch(`${host.sandbox.facilitatorUrl}/sandbox/faults`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ operation: "settle", mode: "after" })
    })
    const { amount, result } = await balances().charged(account.address, () => pay(CREATE, { localPart: freshName() }))
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })

  it("sells to a funded wallet of sandbox.json, and refunds by Permit2 what a provider rejects", async () => {
    const account = privateKeyToAccount(host.sandbox.wallets[0]!.privateKey)
    const pay = byFetch(account)
    const body = { agentName: "Ada", agentWebhookUrl: host.sandbox.agentWebhookUrl }
    const unallowed = await pay(BUY_US, body)
    await send(account, unallowed.body.error!.transaction!)
    const before = await Promise.all([account.address, tether().payTo].map((one) => balances().balanceOf(one)))
    await host.carrier.fault({ operation: "buy", mode: "reject", times: 5 })
    const rejected = await pay(BUY_US, body)
    expect([rejected.status, rejected.body.error?.code]).toEqual([502, "PROVIDER_REJECTED"])
    await host.carrier.until(
      () => balances().balanceOf(account.address),
      (balance) => balance === before[0]
    )
    expect(await balances().balanceOf(tether().payTo)).toBe(before[1]! + PRICES[BUY_US])
    expect(await new Chain(host.sandbox).balanceOf(host.sandbox.chain.payTo)).toBe(0n)
  })
})
