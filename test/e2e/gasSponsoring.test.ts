import type { SandboxDescription } from "@agentos/sandbox"
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http"
import { createPublicClient, http } from "viem"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { BUY_US, PRICES } from "../support/PhoneCustomer.ts"
import { fundedAccount, STOCK_PAYERS } from "../support/StockPayers.ts"
import { usePhone } from "../support/usePhone.ts"

/** Stock clients pay in a third token, on the chain of the second, from wallets that have nothing but the token. */
const host = usePhone(async () => ({ networks: 3 }))

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n

const usdc = (): SandboxDescription["chains"][number] => host.sandbox.chains[2]!
const balances = () => new Chain({ chain: usdc() })
const node = () => createPublicClient({ transport: http(usdc().rpcUrl), cacheTime: 0 })
const funded = () => fundedAccount(host.sandbox, usdc())

describe("the server of a sandbox with two tokens on one network", () => {
  it("announces the extension, and which of its terms have it", async () => {
    const response = await fetch(host.sandbox.baseUrl + CREATE, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Accept-Payment": usdc().network },
      body: JSON.stringify({ localPart: freshName() })
    })
    expect(response.status).toBe(402)
    const { accepts, extensions } = decodePaymentRequiredHeader(response.headers.get("payment-required") ?? "")
    expect(accepts.map(({ asset, extra, network }) => [network, asset, extra["gasSponsoring"]])).toEqual([
      [usdc().network, host.sandbox.chains[1]!.asset, undefined],
      [usdc().network, usdc().asset, "eip2612"]
    ])
    expect(extensions).toMatchObject({ eip2612GasSponsoring: { info: { version: "1" } } })
  })

  it.each(STOCK_PAYERS)("sells to %s from a wallet without gas and without an allowance", async (_, payerOf) => {
    const account = await funded()
    const pay = payerOf(host.sandbox, usdc(), account, true)
    for (const _purchase of [1, 2]) {
      const { amount, result } = await balances().charged(account.address, () =>
        pay(CREATE, { localPart: freshName() })
      )
      expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
      const { network, payer, success } = decodePaymentResponseHeader(result.receipt ?? "")
      expect([network, payer, success]).toEqual([usdc().network, account.address.toLowerCase(), true])
    }
    expect(await node().getBalance({ address: account.address })).toBe(0n)
    expect(await node().getTransactionCount({ address: account.address })).toBe(0)
  })

  it("says how to pay to a client that can't read the chain, and so signs no permit", async () => {
    const account = await funded()
    const { body, status } = await STOCK_PAYERS[0][1](host.sandbox, usdc(), account)(CREATE, { localPart: freshName() })
    expect([status, body.error?.code, body.error?.paymentState]).toEqual([412, "PERMIT2_ALLOWANCE_REQUIRED", "none"])
    expect(body.error?.message).toContain("eip2612GasSponsoring")
  })

  it("refunds in the token that was paid", async () => {
    const account = await funded()
    const pay = STOCK_PAYERS[0][1](host.sandbox, usdc(), account, true)
    const treasury = () => balances().balanceOf(usdc().payTo)
    const before = await Promise.all([balances().balanceOf(account.address), treasury()])
    await host.carrier.fault({ operation: "buy", mode: "reject", times: 5 })
    const rejected = await pay(BUY_US, { agentName: "Ada", agentWebhookUrl: host.sandbox.agentWebhookUrl })
    expect([rejected.status, rejected.body.error?.code]).toEqual([502, "PROVIDER_REJECTED"])
    await host.carrier.until(
      () => balances().balanceOf(account.address),
      (balance) => balance === before[0]
    )
    expect(await treasury()).toBe(before[1]! + PRICES[BUY_US])
    for (const chain of host.sandbox.chains.slice(0, 2)) {
      expect(await new Chain({ chain }).balanceOf(chain.payTo)).toBe(0n)
    }
  })
})
