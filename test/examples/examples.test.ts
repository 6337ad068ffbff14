import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openCertificateAuthority, type SandboxDescription, type ServerCertificate } from "@agentos/sandbox"
import { createTransport } from "nodemailer"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { Agent } from "../support/Agent.ts"
import { Realtime } from "../support/Realtime.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { TokenLog } from "../support/TokenLog.ts"

const README = new URL("../../README.md", import.meta.url)
const EMBED = new URL("../../packages/site/content/embed.md", import.meta.url)
/** Beside this file, so that its imports resolve. */
const PROGRAM = fileURLToPath(new URL(`readme-${process.pid}.mjs`, import.meta.url))

const sourceOf = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url))

const directory = mkdtempSync(join(tmpdir(), "agentos-examples-"))
/** Port and certificate of the example that answers calls. */
let agentPort = 0
let certificate: ServerCertificate
let sandbox: Sandbox
let description: SandboxDescription
let sandboxArgs: ReadonlyArray<string> = []

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

beforeAll(async () => {
  agentPort = await freePort()
  certificate = await openCertificateAuthority(directory)
  const allow = ["--allow-webhook", `127.0.0.1:${agentPort}`, "--allow-webhook-ca", certificate.caFile]
  sandbox = await startSandbox({ arguments: ["--no-tour", ...allow] })
  description = await sandbox.describe()
  sandboxArgs = ["--sandbox", `${sandbox.directory}/sandbox.json`]
})

afterAll(async () => {
  await sandbox.stop()
  rmSync(directory, { recursive: true })
})

/** Starts an example; `find` waits for output that matches and returns the first group. */
const startExample = (
  path: string,
  args: ReadonlyArray<string>,
  environment: Record<string, string> = {},
  cwd = process.cwd()
) => {
  const child: ChildProcess = spawn(process.execPath, [sourceOf(path), ...args], {
    cwd,
    env: { ...process.env, ...environment },
    detached: true
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (printed += text))
  }
  const find = (expression: RegExp) =>
    vi.waitFor(
      () => {
        const found = expression.exec(printed)?.[1]
        if (found === undefined) throw new Error(`no match for ${String(expression)} in: ${printed}`)
        return found
      },
      { timeout: 60_000, interval: 50 }
    )
  return { find, printed: () => printed, exit: once(child, "close"), pid: child.pid! }
}

it("the README shows a first paid request that works as it stands", async () => {
  const code = /```js\n([^]*?)```/.exec(readFileSync(README, "utf8"))?.[1] ?? ""
  writeFileSync(PROGRAM, code)
  onTestFinished(() => rmSync(PROGRAM))
  for (const _ of ["once", "again"]) {
    const { stderr, stdout } = spawnSync(process.execPath, [PROGRAM, `${sandbox.directory}/sandbox.json`], {
      cwd: tmpdir(),
      encoding: "utf8",
      timeout: 30_000
    })
    expect(stderr).toBe("")
    expect(stdout).toMatch(/^grace-\d+@sandbox\.agentos\.test\nat_v1_\w+\n$/)
  }
})

it("receive-mail pays for a mailbox, receives mail and acknowledges it", async () => {
  const { baseUrl, mail, wallets } = description
  const transport = createTransport({ host: mail.host, port: mail.port, tls: { rejectUnauthorized: false } })
  const send = (to: string, text: string) =>
    transport.sendMail({ from: "you@outside.example", to, subject: "Hi", text })
  const example = "receive-mail/src/main.ts"
  const address = /waiting for mail to (\S+)/

  const byFile = startExample(example, ["--max", "2", ...sandboxArgs])
  const to = await byFile.find(address)
  await send(to, "the first")
  await send(to, "the second")
  expect(await byFile.exit).toEqual([0, null])
  expect(byFile.printed()).toMatch(/from you@outside\.example: Hi\nthe first\n[^]*the second/)

  const { privateKey } = wallets[1]!
  const environment = { AGENTOS_BASE_URL: baseUrl, AGENTOS_PRIVATE_KEY: privateKey }
  const byEnvironment = startExample(example, ["--max", "1"], environment)
  await send(await byEnvironment.find(address), "the third")
  expect(await byEnvironment.exit).toEqual([0, null])
  expect(byEnvironment.printed()).toMatch(/the third/)

  // Every event was acknowledged.
  const agent = new Agent(description, wallets[0]!.privateKey)
  await agent.createMailbox("onlooker")
  const events = await agent.send({ path: "/api/v1/events" })
  const items = events.body.data["items"] as unknown as ReadonlyArray<{ readonly type: string }>
  expect(items.filter(({ type }) => type === "email.received")).toEqual([])
})

/** Sends a callback with an invalid signature and returns the status. */
const askUnsigned = async (): Promise<number | undefined> => {
  const body = JSON.stringify({ type: "agent.message", from: "+14155550199", turn: { text: "Let me in." } })
  const headers = {
    "Content-Length": Buffer.byteLength(body),
    "X-Service-Timestamp": Math.floor(Date.now() / 1_000),
    "X-Service-Signature": `v1=${"0".repeat(64)}`
  }
  const ca = readFileSync(certificate.caFile)
  const sent = request({ host: "127.0.0.1", port: agentPort, method: "POST", ca, headers })
  sent.end(body)
  const [response] = await once(sent, "response")
  response.resume()
  return response.statusCode
}

it("answer-call buys a number and talks to a caller until the caller says bye", async () => {
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
  writeFileSync(key, certificate.privateKey)
  writeFileSync(cert, certificate.certificate)
  const args = ["--port", `${agentPort}`, "--key", key, "--cert", cert, ...sandboxArgs]
  const agent = startExample("answer-call/src/main.ts", args)
  const number = await agent.find(/waiting for calls to (\+\d+)/)

  const lines = ["What can you do?", "Very well. Bye.", "Still there?"]
  const caller = startExample("answer-call/src/callMain.ts", [...sandboxArgs, number, ...lines])
  expect(await caller.exit).toEqual([0, null])
  expect(
    caller
      .printed()
      .split("\n")
      .map((line) => line.trim())
  ).toEqual([
    "Hello, this is an agent.",
    "You said: What can you do? Say bye when that is all.",
    "Goodbye.",
    "completed, ended by agent",
    ""
  ])

  expect(await askUnsigned()).toBe(401)
  expect(agent.printed()).toMatch(/\n\+14155550150: What can you do\?\n\+14155550150: Very well\. Bye\.\n$/)
})

/** The mails that the service sent to an address, oldest first. */
const mailsTo = (address: string) => {
  const { outboxDir } = description.mail
  const envelopes = readdirSync(outboxDir).filter((name) => name.endsWith(".json"))
  const sent = envelopes.toSorted().filter((name) => readFileSync(join(outboxDir, name), "utf8").includes(address))
  return Promise.all(sent.map((name) => PostalMime.parse(readFileSync(join(outboxDir, name.replace(/json$/, "eml"))))))
}

it("journey signs up with a code, answers mail and a call without a public address, and recovers its token", async () => {
  const { baseUrl, carrier, chain, wallets } = description
  const log = new TokenLog(chain)
  const { length: earlier } = await log.read()
  const journey = startExample("journey/src/main.ts", sandboxArgs)
  expect({ exit: await journey.exit, printed: journey.printed() }).toEqual({
    exit: [0, null],
    printed: expect.stringMatching(/\nsigned up with the code \d{6}\n/) as string
  })

  // The chain: the prices of a mailbox, a message, another message, a number and minutes, and nothing else.
  const paid = (await log.read()).slice(earlier).filter(({ from }) => from === wallets[0]!.address.toLowerCase())
  expect(paid.map(({ to, value }) => [to, value])).toEqual(
    [250_000n, 20_000n, 20_000n, 5_000_000n, 3_000_000n].map((price) => [chain.payTo.toLowerCase(), price])
  )

  // The token: the recovered one is the one that was lost, and gives access to the mail.
  const [, lost] = /and the token (\S+)/.exec(journey.printed()) ?? []
  const [, recovered] = /recovered the token (\S+)/.exec(journey.printed()) ?? []
  expect(lost).toMatch(/^at_v1_/)
  expect(recovered).toBe(lost)
  const query = "/api/v1/email/messages/query?direction=inbound&from=bob@outside.example"
  const answer = await fetch(`${baseUrl}${query}`, { headers: { Authorization: `Bearer ${String(recovered)}` } })
  const { data } = (await answer.json()) as { data: { items: ReadonlyArray<{ messageIdHeader: string }> } }
  const [fromBob] = data.items

  // The outbox: the answer continues Bob's thread, and its file arrived byte for byte.
  const [offer, reply] = (await mailsTo("bob@outside.example")).slice(-2)
  expect(reply?.inReplyTo).toBe(fromBob?.messageIdHeader)
  expect(reply?.references?.split(/\s+/)).toEqual([offer?.messageId, fromBob?.messageIdHeader])
  expect(reply?.attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual([
    ["price-list.csv", "text/csv"]
  ])
  const file = readFileSync(sourceOf("journey/price-list.csv"))
  expect(file.equals(Buffer.from(reply?.attachments[0]?.content as ArrayBuffer))).toBe(true)

  // The carrier: Bob heard the answers that the agent gave over its socket.
  const { calls } = (await (await fetch(`${carrier.url}/sandbox/calls`)).json()) as {
    calls: ReadonlyArray<{ to: string; heard: ReadonlyArray<string>; state: string }>
  }
  const [, number] = /(\+\d+) was called/.exec(journey.printed()) ?? []
  expect(calls.filter(({ to }) => to === number)).toMatchObject([
    { heard: ["Hello, this is an agent.", "You said: Did you send the prices?", "Goodbye."], state: "completed" }
  ])
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
const endHost = async (host: ReturnType<typeof startExample>, socket: Realtime) => {
  const closed = socket.closed()
  process.kill(host.pid, "SIGTERM")
  expect({ exit: await host.exit, printed: host.printed() }).toMatchObject({ exit: [0, null] })
  expect(await closed).toBe(1012)
  expect(() => process.kill(-host.pid, 0)).toThrow("ESRCH")
}

/** Pays a host by a stock client, asks for its own route, and ends it while a socket is open. */
const tryHost = async (host: ReturnType<typeof startExample>, port: number, prefix: string) => {
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
