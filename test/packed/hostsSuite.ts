import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import type { SandboxDescription } from "@agentos/sandbox"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { WebSocket } from "ws"
import { type Installation, NODE_VERSIONS } from "./Installation.ts"
import { type Running, start, startForTest } from "./Running.ts"

/** The hosts of examples/hosts, and where each mounts the API. */
const HOSTS = ["node", "express", "fastify", "hono"] as const

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

/** Buys a mailbox with a stock x402 client and returns the access token and the address. */
const buyMailbox = async (baseUrl: string, privateKey: `0x${string}`, localPart: string) => {
  const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
  const api = wrapAxiosWithPayment(axios.create({ baseURL: baseUrl }), wallet)
  const { data } = await api.post<{
    data: { mailbox: { address: string }; authentication: { accessToken: string } }
  }>("/api/v1/email/mailboxes", { localPart }, { headers: { "Idempotency-Key": crypto.randomUUID() } })
  return { address: data.data.mailbox.address, token: data.data.authentication.accessToken }
}

export const hostsSuite = (installed: () => Installation): void => {
  let sandbox: Running
  let sandboxFile: string
  beforeAll(async () => {
    const data = join(installed().folder, ".agentos")
    sandbox = start(installed(), 24, "npx", ["agentos-sandbox", "--no-tour", "--port", "0", "--data", data])
    await sandbox.find(/^ready (\S+)/m)
    sandboxFile = join(data, "sandbox.json")
  })
  afterAll(async () => void (await sandbox?.stop()))

  it.each(NODE_VERSIONS.flatMap((version) => HOSTS.map((host) => [host, version] as const)))(
    "%s serves the API beside its own routes to a stock client on Node %i",
    async (name, version) => {
      const { wallets } = JSON.parse(readFileSync(sandboxFile, "utf8")) as SandboxDescription
      const host = startForTest(installed(), version, "node", [`hosts/${name}.ts`, sandboxFile], {
        PORT: String(await freePort())
      })
      const url = await host.find(/listening on (\S+)/)
      expect(await (await fetch(new URL("/hello", url))).text()).toBe("the host's own route\n")
      const { address, token } = await buyMailbox(url, wallets[0]!.privateKey, `${name}-${version}`)
      expect(address).toMatch(new RegExp(`^${name}-${version}@`))

      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${url}/api/v1/events/realtime-token`, { headers })
      const { data } = (await response.json()) as { data: { realtime: { token: string; websocketUrl: string } } }
      const socket = new WebSocket(data.realtime.websocketUrl)
      await once(socket, "open")
      socket.send(JSON.stringify({ type: "session.authenticate", token: data.realtime.token }))
      const [message] = (await once(socket, "message")) as [Buffer]
      expect(JSON.parse(message.toString())).toMatchObject({ type: "session.ready" })
      socket.close()
      expect(await host.stop()).toBe(0)
    }
  )

  it.each(NODE_VERSIONS)("examples/embedded sells a mailbox for its own credits on Node %i", async (version) => {
    const host = startForTest(installed(), version, "node", ["embedded/main.ts"], { PORT: String(await freePort()) })
    const url = await host.find(/(http:\S+)/)
    const bought = await fetch(`${url}/buy`, { method: "POST", body: JSON.stringify({ localPart: "lab" }) })
    expect(bought.status).toBe(201)
  })
}
