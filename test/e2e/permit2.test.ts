import { AgentOs, AgentOsError } from "@agentos/client"
import { type SandboxDescription, tetherNetwork } from "@agentos/sandbox"
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http"
import { createPermit2ApprovalTx } from "@x402/evm"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { BUY_US, PRICES } from "../support/PhoneCustomer.ts"
import { fundedAccount, STOCK_PAYERS, type StockPayer } from "../support/StockPayers.ts"
import { usePhone } from "../support/usePhone.ts"

/** Stock clients pay on the second network of a sandbox, where Permit2 moves the token. */
const host = usePhone(async () => ({ networks: 2 }))

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n

/** The second network. */
const tether = (): SandboxDescription["chains"][number] => host.sandbox.chains[1]!
const balances = () => new Chain({ chain: tether() })

const byFetch = STOCK_PAYERS[0][1]
const paying = (clientOf: StockPayer, account: PrivateKeyAccount) => clientOf(host.sandbox, tether(), account)
const funded = () => fundedAccount(host.sandbox, tether())

/** Sends a transaction of an account on the second chain, without value. */
const send = async (account: PrivateKeyAccount, { data, to }: { readonly to: Hex; readonly data: Hex }) => {
  const wallet = createWalletClient({ account, transport: http(tether().rpcUrl) }).extend(publicActions)
  const hash = await wallet.sendTransaction({ chain: null, to, data })
  expect((await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20 })).status).toBe("success")
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

  it.each(STOCK_PAYERS)("sells to %s by Permit2, after the approval that its error asks for", async (_, clientOf) => {
    const account = await funded()
    const pay = paying(clientOf, account)
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

  it("sells to @agentos/client where its wallet has money, once it has sent the one transaction", async () => {
    const account = await funded()
    const agent = await AgentOs.connect(host.sandbox.baseUrl, { wallet: account, spend: { perCall: "1.00" } })
    const buy = () => agent.call("createMailbox", { localPart: freshName() })
    const error: unknown = await buy().catch((reason: unknown) => reason)
    if (!(error instanceof AgentOsError) || error.code !== "PERMIT2_ALLOWANCE_REQUIRED") throw error
    const { details, status } = error
    expect([status, agent.payments.spent().lastDay]).toEqual([null, "0.00"])
    const { data, network, to } = details.transaction!
    expect(network).toBe(tether().network)
    await send(account, { to: to as Hex, data: data as Hex })
    const { amount } = await balances().charged(account.address, buy)
    expect(amount).toBe(MAILBOX_PRICE)
    const [own, other] = await agent.payments.funds()
    expect([own?.network, own?.balance]).toEqual([host.sandbox.chain.network, "0.00"])
    expect([other?.network, other?.transferMethod, other?.reason]).toEqual([network, "permit2", null])
    expect(Number(other?.balance)).toBeGreaterThan(0)
  })

  it("delivers a settled purchase when the facilitator's answer is lost, and charges once", async () => {
    const account = await funded()
    await send(account, createPermit2ApprovalTx(tether().asset))
    const pay = paying(byFetch, account)
    await fetch(`${host.sandbox.facilitatorUrl}/sandbox/faults`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ operation: "settle", mode: "after" })
    })
    const { amount, result } = await balances().charged(account.address, () => pay(CREATE, { localPart: freshName() }))
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })

  it("sells to a funded wallet of sandbox.json, and refunds a rejected purchase by Permit2", async () => {
    const account = privateKeyToAccount(host.sandbox.wallets[0]!.privateKey)
    const pay = paying(byFetch, account)
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
