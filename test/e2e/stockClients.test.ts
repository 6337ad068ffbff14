import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { useSandbox } from "../support/useSandbox.ts"

const host = useSandbox()
const account = () => privateKeyToAccount(host.sandbox.wallets[0]!.privateKey)
const url = () => `${host.sandbox.baseUrl}/api/v1/email/mailboxes`

describe("clients of x402", () => {
  it("@x402/axios pays", async () => {
    const client = wrapAxiosWithPayment(
      axios.create(),
      new AxiosClient().register("eip155:*", new ExactEvmScheme(account()))
    )
    const { amount, result } = await host.chain.charged(account().address, () =>
      client.post(url(), { localPart: freshName() }, { headers: { "idempotency-key": randomUUID() } })
    )
    expect([result.status, amount]).toEqual([201, 250_000n])
    expect(result.headers["payment-response"]).toBeTruthy()
  })

  it("@x402/fetch pays if it is allowed to spend the asset", async () => {
    const wallet = new FetchClient().register("eip155:*", new ExactEvmScheme(account()))
    const { asset, network } = host.sandbox.chain
    wallet.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
    const paying = wrapFetchWithPayment(fetch, wallet)
    const { amount, result } = await host.chain.charged(account().address, () =>
      paying(url(), {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
        body: JSON.stringify({ localPart: freshName() })
      })
    )
    expect([result.status, amount]).toEqual([201, 250_000n])
  })
})

describe("a client of x402 with the extension sign-in-with-x", () => {
  const signing = (signer: ReturnType<typeof account>) =>
    wrapFetchWithPayment(fetch, new FetchClient().registerExtension(createSIWxClientExtension({ signers: [signer] })))

  it("gets the token of its wallet back, and replaces it, without payment", async () => {
    const agent = host.agent(1)
    await agent.createMailbox(freshName())
    const lost = agent.token!
    const post = async (path: string) => {
      const response = await signing(agent.account)(`${host.sandbox.baseUrl}${path}`, { method: "POST" })
      const body = (await response.json()) as { readonly data: { authentication: { readonly accessToken: string } } }
      return [response.status, body.data.authentication.accessToken]
    }
    const { amount } = await host.chain.charged(agent.account.address, async () => {
      expect(await post("/api/v1/auth/token")).toEqual([200, lost])
      const [status, replaced] = await post("/api/v1/auth/revoke")
      expect([status, replaced === lost]).toEqual([200, false])
      expect(await post("/api/v1/auth/token")).toEqual([200, replaced])
      expect((await agent.send({ path: "/api/v1/events" })).status).toBe(401)
      agent.token = String(replaced)
      expect((await agent.send({ path: "/api/v1/events" })).status).toBe(200)
    })
    expect(amount).toBe(0n)
  })

  it("gets 404 for a wallet that has bought nothing", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    const response = await signing(stranger)(`${host.sandbox.baseUrl}/api/v1/auth/token`, { method: "POST" })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: "RESOURCE_NOT_FOUND" } })
  })
})

describe("discovery", () => {
  it("lists the services with prices and the environment", async () => {
    const agent = host.agent(0)
    const index = await agent.send({ path: "/api/v1" })
    expect(index.body.data).toMatchObject({ name: "AgentOS", environment: "sandbox" })
    const services = await agent.send({ path: "/api/v1/services" })
    const items = services.body.data["items"] as unknown as ReadonlyArray<{
      readonly serviceId: string
      readonly available: boolean
      readonly extension?: true
      readonly price: { readonly amount: string } | null
    }>
    expect(items.filter(({ extension }) => extension === undefined)).toHaveLength(25)
    for (const { available, serviceId } of items) {
      expect({ serviceId, available }).toEqual({ serviceId, available: serviceId !== "domain.register" })
      const one = await agent.send({ path: `/api/v1/services/${serviceId}` })
      expect(one.body.data["service"]).toMatchObject({ serviceId, available })
    }
    for (const path of ["/openapi.json", "/llms.txt", "/docs", "/health/live", "/health/ready"]) {
      expect([path, (await agent.send({ path })).status]).toEqual([path, 200])
    }
    const document = (await agent.send({ path: "/openapi.json" })).body as unknown as { readonly openapi: string }
    expect(document.openapi).toMatch(/^3\.1\./)
  })
})
