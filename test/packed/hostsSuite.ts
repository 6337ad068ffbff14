import { once } from "node:events"
import type { SandboxDescription } from "@agentos/sandbox"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { buyMailbox, freePort } from "./Client.ts"
import { type Installation, NODE_VERSIONS } from "./Installation.ts"
import { startForTest } from "./Running.ts"

/** The hosts of examples/hosts, and where each mounts the API. */
const HOSTS = ["node", "express", "fastify", "hono"] as const

export const hostsSuite = (
  installed: () => Installation,
  sandbox: () => SandboxDescription,
  sandboxFile: () => string
): void => {
  it.each(NODE_VERSIONS.flatMap((version) => HOSTS.map((host) => [host, version] as const)))(
    "%s serves the API beside its own routes to a stock client on Node %i",
    async (name, version) => {
      const host = startForTest(installed(), version, "node", [`hosts/${name}.ts`, sandboxFile()], {
        PORT: String(await freePort())
      })
      const url = await host.find(/listening on (\S+)/)
      expect(await (await fetch(new URL("/hello", url))).text()).toBe("the host's own route\n")
      const { address, token } = await buyMailbox(url, sandbox().wallets[0]!.privateKey, `${name}-${version}`)
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
