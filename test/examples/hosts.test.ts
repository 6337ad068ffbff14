import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SandboxDescription } from "@agentos/sandbox"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { Realtime } from "../support/Realtime.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { type Example, freePort, sourceOf, startExample } from "./Example.ts"

const EMBED = new URL("../../packages/site/content/embed.md", import.meta.url)

const directory = mkdtempSync(join(tmpdir(), "agentos-hosts-"))
let sandbox: Sandbox
let description: SandboxDescription

beforeAll(async () => {
  sandbox = await startSandbox()
  description = await sandbox.describe()
})

afterAll(async () => {
  await sandbox.stop()
  rmSync(directory, { recursive: true })
})

const HOSTS = [
  ["hosts/src/node.ts", ""],
  ["hosts/src/express.ts", "/agents"],
  ["hosts/src/fastify.ts", "/agents"],
  ["hosts/src/hono.ts", "/agents"]
] as const

/** Opens the WebSocket of a tenant at a host, and returns it once its session is ready. */
const openSocket = async (url: string, accessToken: string): Promise<Realtime> => {
  const reply = await fetch(`${url}/api/v1/events/realtime-token`, {
    headers: { authorization: `Bearer ${accessToken}` }
  })
  const { data } = (await reply.json()) as { data: { realtime: { token: string; websocketUrl: string } } }
  const socket = await Realtime.connect({ url: data.realtime.websocketUrl, token: data.realtime.token })
  expect((await socket.next()).type).toBe("session.ready")
  return socket
}

/** Ends a host while a socket is open. Nothing of its process group may stay. */
const endHost = async (host: Example, socket: Realtime) => {
  const closed = socket.closed()
  process.kill(host.pid, "SIGTERM")
  expect({ exit: await host.exit, printed: host.printed() }).toMatchObject({ exit: [0, null] })
  expect(await closed).toBe(1012)
  expect(() => process.kill(-host.pid, 0)).toThrow("ESRCH")
}

/** Pays a host by a stock client, asks for its own route, and ends it while a socket is open. */
const tryHost = async (host: Example, port: number, prefix: string) => {
  const url = `http://localhost:${port}${prefix}`
  expect(await host.find(/listening on (\S+)/)).toBe(url)
  const account = privateKeyToAccount(description.wallets[2]!.privateKey)
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(account))
  const { asset, network } = description.chain
  client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "250000" }] })
  const bought = await wrapFetchWithPayment(fetch, client)(`${url}/api/v1/email/mailboxes`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify({ localPart: "host" })
  })
  const { data } = (await bought.json()) as {
    data: { authentication: { accessToken: string }; mailbox: { address: string } }
  }
  expect([bought.status, data.mailbox.address]).toEqual([201, "host@sandbox.agentos.test"])

  expect(await (await fetch(`http://localhost:${port}/hello`)).text()).toMatch(/own route\n$/)
  expect((await fetch(`${url}/api/v1/nothing`)).status).toBe(404)
  await endHost(host, await openSocket(url, data.authentication.accessToken))
}

it.each(HOSTS)("%s serves AgentOS to a stock client, beside a route of its own", async (path, prefix) => {
  const port = await freePort()
  const host = startExample(path, [`${sandbox.directory}/sandbox.json`], { PORT: `${port}` })
  await tryHost(host, port, prefix)
  expect(readFileSync(sourceOf(path), "utf8").split("\n").length).toBeLessThanOrEqual(40)
})

it("the page on embedding shows a host that works as it stands, in fewer than 40 lines", async () => {
  const code = /```js\n([^]*?)```/.exec(readFileSync(EMBED, "utf8"))?.[1] ?? ""
  expect(code.split("\n").length).toBeLessThan(40)
  // Beside the hosts, so that its imports resolve; in a folder with the data of the sandbox, as the page says.
  const file = `hosts/embed-${process.pid}.mjs`
  writeFileSync(sourceOf(file), code)
  onTestFinished(() => rmSync(sourceOf(file)))
  symlinkSync(sandbox.directory, join(directory, ".agentos"))
  const port = await freePort()
  await tryHost(startExample(file, [], { PORT: `${port}` }, directory), port, "")
})

it("the embedded host sells for its own credits, and delivers its own mail", async () => {
  const port = await freePort()
  const host = startExample("embedded/src/main.ts", [], { PORT: `${port}` })
  const url = await host.find(/listening on (\S+)/)
  const post = (path: string, body: object) => fetch(url + path, { method: "POST", body: JSON.stringify(body) })

  const bought = await post("/buy", { localPart: "lab" })
  expect(bought.status).toBe(201)
  const { authentication } = (await bought.json()) as { authentication: { accessToken: string } }
  expect((await post("/buy", { localPart: "lab" })).status).toBe(409)
  expect(await (await fetch(`${url}/hello`)).text()).toBe("the host's own route\n")

  const mail = { id: "1@house.test", from: "boss@house.test", to: ["lab@house.test"], subject: "News", text: "Good." }
  expect((await post("/mail", mail)).status).toBe(202)
  expect((await post("/mail", { ...mail, to: ["unknown@house.test"] })).status).toBe(404)
  const socket = await openSocket(url, authentication.accessToken)
  const delivered = [await socket.next("event.delivery"), await socket.next("event.delivery")]
  expect(delivered.map(({ event }) => [event?.type, event?.payload["subject"]])).toEqual([
    ["payment.completed", undefined],
    ["email.received", "News"]
  ])
  await endHost(host, socket)
})
