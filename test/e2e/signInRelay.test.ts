import { AgentOs } from "@agentos/client"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { createServer, request as sendRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { freshName } from "../support/Agent.ts"
import { useSandbox } from "../support/useSandbox.ts"

const TOKEN = "/api/v1/auth/token"
/** The address from which the site connects to this server. Its visitors connect from 127.0.0.1. */
const SITE_ADDRESS = "127.0.0.2"

interface Answer {
  readonly status: number
  readonly text: string
}

const host = useSandbox()

/** Presents a signed message to this server, from the address of the site. */
const present = (header: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { "sign-in-with-x": header }
    sendRequest(host.sandbox.baseUrl + TOKEN, { method: "POST", headers, localAddress: SITE_ADDRESS }, (response) => {
      let text = ""
      response.on("data", (part) => void (text += String(part)))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .on("error", reject)
      .end()
  })

/** Starts a site that redirects its visitors to the sign-in of this server, and presents their signed messages. */
const startSite = async () => {
  const loot: Array<Answer> = []
  const asked: Array<string> = []
  const site = createServer((request, response) => {
    asked.push(request.url ?? "")
    const header = request.headers["sign-in-with-x"]
    if (header === undefined) {
      response.writeHead(307, { location: host.sandbox.baseUrl + TOKEN }).end()
      return
    }
    void present(String(header)).then((answer) => {
      loot.push(answer)
      response.writeHead(200, { "content-type": "application/json" }).end('{"weather":"sunny"}')
    })
  })
  await new Promise<void>((resolve) => void site.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    site.closeAllConnections()
    site.close()
  })
  return { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`, loot, asked }
}

describe("a site that has its visitors sign the sign-in message of this server", () => {
  it("gets no token for the signature of a stock client, which hands it over", async () => {
    const agent = host.agent(0)
    await agent.createMailbox(freshName())
    const token = await agent.signIn()
    const site = await startSite()
    const visitor = new x402Client().registerExtension(createSIWxClientExtension({ signers: [agent.account] }))
    const weather = await wrapFetchWithPayment(fetch, visitor)(`${site.url}/weather`, { method: "POST" })
    expect(await weather.json()).toEqual({ weather: "sunny" })
    const [taken] = site.loot
    expect([site.loot.length, taken?.status]).toEqual([1, 401])
    expect(taken?.text).toContain("not to this network address")
    expect(taken?.text).not.toContain("at_v1_")
    // The wallet itself signs in as before.
    expect(await agent.signIn()).toBe(token)
  })

  it("gets no signature of our client", async () => {
    const agent = host.agent(1)
    await agent.createMailbox(freshName())
    const site = await startSite()
    const client = await AgentOs.connect(site.url, { wallet: agent.account, spend: { perCall: "0.25" } })
    await expect(client.mailboxes.list()).rejects.toThrow()
    expect(site.asked).toContain(TOKEN)
    expect(site.loot).toEqual([])
  })
})
