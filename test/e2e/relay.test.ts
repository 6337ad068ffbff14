import { AgentOs } from "@agentos/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { newWallets } from "../faults/client/Wallet.ts"
import { type Agent, freshName } from "../support/Agent.ts"
import { TRANSFER_METHODS } from "../support/Authorization.ts"
import { Chain } from "../support/Chain.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { startRelaySite } from "../support/RelaySite.ts"
import { Treasury } from "../support/Treasury.ts"

const LIST = "/api/v1/email/mailboxes/query"

describe.each(TRANSFER_METHODS)("paid by %s", (transferMethod) => {
  let cluster: Cluster
  let baseUrl: string
  beforeAll(async () => {
    cluster = await startCluster({ servers: 1, paymentMethod: transferMethod })
    baseUrl = cluster.servers[0]!.baseUrl
  })
  afterAll(() => cluster?.stop())

  /** An agent with a new wallet. */
  const newAgent = async (): Promise<Agent> => {
    const [wallet] = await newWallets(cluster, new Treasury(cluster.chain), 1, 1)
    return wallet!.on()
  }

  /** Buys the weather with the stock client for fetch, which signs whatever challenge it is shown. */
  const buyWeather = async (agent: Agent, site: string): Promise<unknown> => {
    const { asset, network } = cluster.chain
    const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(agent.account))
    wallet.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
    const response = await wrapFetchWithPayment(fetch, wallet)(`${site}/weather`, { method: "POST" })
    return response.json()
  }

  const listAs = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${baseUrl}${LIST}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }

  describe("a site that relays the challenge of this server as its own", () => {
    it("gets nothing for a payment of our client, which is bound to the site", async () => {
      const agent = await newAgent()
      await agent.createMailbox(freshName())
      const site = await startRelaySite(baseUrl)
      const client = await AgentOs.connect(site.url, { wallet: agent.account, spend: { perCall: "0.25" } })
      const { amount } = await new Chain(cluster).charged(agent.account.address, async () => {
        await expect(client.mailboxes.create({ localPart: "weather" })).rejects.toThrow()
      })
      expect(amount).toBe(0n)
      expect(site.loot.map(({ bought, status }) => [status, bought.error?.code, bought.error?.paymentState])).toEqual([
        [402, "PAYMENT_REQUIRED", "none"]
      ])
      expect(site.loot[0]?.bought.error?.message).toContain(`another server than ${baseUrl}`)
    })

    it("gets no token and no mail of a wallet that has a tenant, with a stock client", async () => {
      const agent = await newAgent()
      const own = await agent.createMailbox(freshName())
      const site = await startRelaySite(baseUrl)
      expect(await buyWeather(agent, site.url)).toEqual({ weather: "sunny" })
      const [taken] = site.loot
      expect(taken?.status).toBe(201)
      expect(taken?.bought.data?.authentication).toEqual({
        next: { method: "POST", path: "/api/v1/auth/token" },
        message: expect.stringContaining("sign in")
      })
      expect(taken?.text).not.toContain("at_v1_")
      // The bought goods belong to the customer.
      const list = await listAs(agent.token ?? "")
      expect(list.text).toContain(own.mailboxId)
      expect(list.text).toContain(taken?.bought.data?.mailbox.mailboxId)
    })

    it("gets a token for a wallet's very first payment, which is worth nothing once the wallet signs in", async () => {
      const agent = await newAgent()
      const site = await startRelaySite(baseUrl)
      await buyWeather(agent, site.url)
      const [taken] = site.loot
      const token = taken?.bought.data?.authentication.accessToken ?? ""
      expect((await listAs(token)).status).toBe(200)

      const owned = await agent.signIn()
      expect(owned).not.toBe(token)
      expect((await listAs(token)).status).toBe(401)
      expect((await listAs(owned)).text).toContain(taken?.bought.data?.mailbox.mailboxId)
      // The payment returns the bytes that it returned before, and no other token.
      const again = await site.presentAgain()
      expect(again.text).toBe(taken?.text)
      expect(again.text).not.toContain(owned)
    })
  })
})
