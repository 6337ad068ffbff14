import { generateCertificate } from "@agentos/provider-smtp/Certificate"
import { Effect, Redacted } from "effect"
import { once } from "node:events"
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server
} from "node:http"
import { request } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { CHALLENGE_LENGTH_MAX } from "../faults/server/LongestChallenges.ts"
import { testServer } from "../faults/server/TestServer.ts"
import { freePort } from "../peers/support/MailRig.ts"
import { installPeer } from "../peers/support/PeerRoot.ts"
import { Agent, freshName } from "../support/Agent.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { buyAll } from "../support/PaidServices.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { PhoneCustomer } from "../support/PhoneCustomer.ts"
import { Realtime } from "../support/Realtime.ts"
import { Treasury } from "../support/Treasury.ts"
import { type Place, type Prepare, PROXIES } from "./Proxies.ts"

const { root, title } = await installPeer("nginx-light", "haproxy", "apache2", "caddy", "varnish")

/** The time after which a proxy closes a silent connection, and for which a socket is held. Pings arrive every 20 s. */
const SILENCE_SECONDS = 30
const HELD_MILLIS = 1_000 * Number(process.env["TEST_HELD_SECONDS"] ?? 40)
/** The longest header of a payment. */
const PAYMENT_LENGTH = 8_191
const MIB = 1024 * 1024
const WALLETS_EACH = 8
/** Whole USDT; buying every service costs 20.65. */
const FUNDS = 50
const GREETING = "Hello from behind a proxy."

/** The text of a message that is as long as it may be in each field, with every character of text and html escaped. */
const longestMessage = (mailboxId: string): string => {
  const contentBase64 = Buffer.alloc(10 * MIB, "x").toString("base64")
  const body = JSON.stringify({
    mailboxId,
    to: ["bob@example.com"],
    subject: "The longest",
    text: "@",
    html: "@",
    attachments: [{ filename: "long.txt", contentType: "text/plain", contentBase64 }]
  })
  return body.replaceAll('"@"', `"${String.raw`\u0061`.repeat(MIB)}"`)
}

/** The spellings by which an outsider may try to reach the routes of the operator. */
const OPERATOR_PATHS = [
  "/internal/metrics",
  "//internal/metrics",
  "/internal//metrics",
  "/INTERNAL/metrics",
  "/%69nternal/metrics",
  "/internal%2Fmetrics",
  "/api/../internal/metrics",
  "/api/v1/%2e%2e/%2e%2e/internal/metrics",
  "/health/..;/internal/metrics",
  "/.//internal/metrics"
]

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request with its path as it is. */
const ask = async (
  port: number,
  path: string,
  {
    body,
    headers = {}
  }: {
    readonly body?: string | Buffer
    readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  } = {}
): Promise<Answer> => {
  const sent = request({
    host: "localhost",
    port,
    path,
    headers: headers as OutgoingHttpHeaders,
    method: body === undefined ? "GET" : "POST",
    maxHeaderSize: 64 * 1024
  })
  // The connection may be closed before the whole body is sent.
  const failed = new Promise<never>((_, reject) => sent.once("error", reject))
  sent.on("error", () => undefined).end(body)
  const [response] = (await Promise.race([once(sent, "response"), failed])) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

const JSON_TYPE = { "content-type": "application/json" }

/** A server that answers with a header as long as that of the longest challenge, and with the headers that reached it. */
const startEcho = async (): Promise<Server> => {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, response) => {
    if (incoming.url === "/health/ready") return void response.end()
    response.writeHead(402, { "payment-required": "x".repeat(CHALLENGE_LENGTH_MAX) })
    response.end(JSON.stringify(incoming.headers))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

describe.skipIf(root === undefined)(`proxies: ${title} and others of this version of Debian`, () => {
  const wallets = Array.from({ length: PROXIES.length * WALLETS_EACH }, generatePrivateKey)
  let cluster: Cluster
  let echo: Server
  let certificate: string
  const trusted = getCACertificates("default")
  /** The port of each proxy, in front of the server with its index. */
  let ports: ReadonlyArray<number>
  beforeAll(async () => {
    const made = await Effect.runPromise(generateCertificate("localhost"))
    setDefaultCACertificates([...trusted, made.certificate])
    const pem = `${made.certificate.trim()}\n${Redacted.value(made.privateKey).trim()}\n`
    certificate = await root!.write("certificate.pem", pem)
    // For the carrier, which calls the public URLs.
    process.env["NODE_EXTRA_CA_CERTS"] = join(root!.shared, "certificate.pem")
    ports = await Promise.all(PROXIES.map(freePort))
    const { environment, serverModule } = testServer({ longestChallenges: true })
    cluster = await startCluster({
      servers: PROXIES.length,
      serverModule,
      telephones: true,
      environment: { ...environment, AGENTOS_TRUSTED_PROXIES: "127.0.0.1/32" },
      environmentOf: (server) => ({ AGENTOS_PUBLIC_URL: `https://localhost:${ports[server]}` })
    })
    await new Treasury(cluster.chain).fund(wallets.map(privateKeyToAddress), FUNDS)
    echo = await startEcho()
  })
  afterAll(async () => {
    delete process.env["NODE_EXTRA_CA_CERTS"]
    setDefaultCACertificates(trusted)
    echo?.close()
    await cluster?.stop()
    await root?.close()
  })

  describe.concurrent.each(PROXIES.map((proxy, index) => ({ ...proxy, index })))("$name", ({ index, ...proxy }) => {
    /** Starts the proxy in front of a server and returns its port. */
    const start = async (server: number, prepare: Prepare, more: Partial<Place> = {}): Promise<number> => {
      const port = more.own ?? (await freePort())
      root!.start(await prepare(root!, { ...more, own: port, server }, certificate))
      await vi.waitFor(async () => {
        const { status } = await ask(port, "/health/ready")
        if (status >= 500) throw new Error(`status ${status}: ${root!.log()}`)
      }, 60_000)
      return port
    }
    let server: number
    let port: number
    beforeAll(async () => {
      server = Number(new URL(cluster.servers[index]!.baseUrl).port)
      port = await start(server, proxy.prepare, { own: ports[index]! })
    })

    /** An agent with a wallet of its own. */
    const buyer = (at = port, fetcher?: typeof fetch): Agent =>
      new Agent({ baseUrl: `https://localhost:${at}` }, wallets.pop()!, undefined, fetcher)

    it("passes on the purchases of all services with the longest challenge, and calls", async () => {
      const challenges = new Set<number>()
      const agent = buyer(port, async (...sent) => {
        const response = await fetch(...sent)
        if (response.status === 402) challenges.add(response.headers.get("payment-required")?.length ?? 0)
        return response
      })
      const customer = new PhoneCustomer(agent, cluster.phones.agentWebhookUrl)
      const carrier = new PhoneCarrier(cluster.phones)
      await buyAll(carrier, customer, async (path, body) => {
        const reply = await agent.pay({ path, body })
        return { status: reply.status, receipt: reply.headers.get("payment-response"), data: reply.body.data }
      })
      expect([...challenges]).toEqual([CHALLENGE_LENGTH_MAX])
      // The carrier reaches the server through the proxy: its webhooks, and the socket of the relay.
      const [number] = await customer.numbers()
      const person = await carrier.person({ seconds: 10_000 })
      await customer.callOut(number!.phoneNumberId, person, GREETING)
      const { heard } = await carrier.until(
        () => carrier.playTo(person),
        ({ heard }) => heard.length > 0
      )
      expect(heard[0]).toContain(GREETING)
    })

    it("passes on the longest message, and the refusal of a larger body", async () => {
      const agent = buyer()
      const { mailboxId } = await agent.createMailbox(freshName())
      const body = longestMessage(mailboxId)
      expect(body.length).toBeGreaterThan(25 * MIB)
      const sent = await agent.pay({ path: "/api/v1/email/messages/send", body })
      expect([sent.status, sent.body.error]).toEqual([201, undefined])
      const headers = { ...JSON_TYPE, authorization: `Bearer ${agent.token}` }
      for (const bytes of [27.5 * MIB, 64 * MIB]) {
        const { status } = await ask(port, "/api/v1/email/messages/send", { headers, body: Buffer.alloc(bytes, " ") })
        expect([bytes, status]).toEqual([bytes, 413])
      }
      const early = await ask(port, "/api/v1/email/mailboxes", {
        headers: JSON_TYPE,
        body: Buffer.alloc(27 * MIB, " ")
      })
      expect([early.status, early.headers["content-type"]]).toEqual([413, expect.stringContaining("json")])
    })

    it("passes on the longest payment, and the client's address", async () => {
      const headers = {
        "payment-signature": "y".repeat(PAYMENT_LENGTH),
        "x-forwarded-for": ["203.0.113.9", "203.0.113.10"]
      }
      const { port: server } = echo.address() as AddressInfo
      const { body, headers: answered, status } = await ask(await start(server, proxy.prepare), "/", { headers })
      expect([status, String(answered["payment-required"]).length]).toEqual([402, CHALLENGE_LENGTH_MAX])
      const reached = JSON.parse(body) as IncomingHttpHeaders
      expect(String(reached["payment-signature"]).length).toBe(PAYMENT_LENGTH)
      expect(String(reached["x-forwarded-for"]).split(/, */).at(-1)).toBe("127.0.0.1")
    })

    it("answers each wallet for itself, and does not serve the operator's routes", async () => {
      const agents = [buyer(), buyer()]
      for (const agent of agents) await agent.createMailbox(freshName())
      for (const agent of [...agents, ...agents]) {
        const { body } = await agent.send({ path: "/api/v1/limits" })
        expect(String(body.data["wallet"]).toLowerCase()).toBe(agent.account.address.toLowerCase())
      }
      const found = await Promise.all(
        OPERATOR_PATHS.map(async (path) => [path, (await ask(port, path)).status] as const)
      )
      expect(found.filter(([, status]) => status !== 400 && status !== 404)).toEqual([])
    })

    it.skipIf(proxy.cached === undefined)("answers from a cache only what any caller may see", async () => {
      const at = await start(server, proxy.cached!)
      const agents = [buyer(at), buyer(at)]
      for (const agent of agents) await agent.createMailbox(freshName())
      const wallets = agents.map(({ account }) => account.address.toLowerCase())
      const limits = async () => {
        const replies = await Promise.all(agents.map((agent) => agent.send({ path: "/api/v1/limits" })))
        return replies.map(({ body }) => String(body.data["wallet"]).toLowerCase())
      }
      expect([await limits(), await limits()]).toEqual([wallets, wallets])
      const request = { headers: JSON_TYPE, body: JSON.stringify({ localPart: freshName() }) }
      const challenge = async () => (await ask(at, "/api/v1/email/mailboxes", request)).headers["payment-required"]
      expect(await challenge()).not.toBe(await challenge())
      // The server gives each answer an id.
      const idOf = async (path: string) => (await ask(at, path)).headers["x-request-id"]
      expect(await idOf("/openapi.json")).toBe(await idOf("/openapi.json"))
      expect(await idOf("/api/v1/limits")).not.toBe(await idOf("/api/v1/limits"))
    })

    it("answers a body without a length, by the server or with its length", async () => {
      const agent = buyer()
      const { mailboxId } = await agent.createMailbox(freshName())
      const headers = { ...JSON_TYPE, authorization: `Bearer ${agent.token}`, "transfer-encoding": "chunked" }
      const message = { mailboxId, to: ["bob@example.com"], subject: "Chunks", text: "x".repeat(MIB / 2) }
      const answer = await ask(port, "/api/v1/email/messages/send", { headers, body: JSON.stringify(message) })
      if (proxy.measuresBodies === true) return expect(answer.status).toBe(402)
      expect([answer.status, JSON.parse(answer.body).error.issues]).toEqual([
        400,
        [expect.objectContaining({ message: expect.stringContaining("without Transfer-Encoding") })]
      ])
    })

    it(
      "holds a socket for longer than its limit for silent connections, on which an event then arrives",
      async () => {
        const agent = buyer()
        await agent.createMailbox(freshName())
        const reply = await agent.send({ path: "/api/v1/events/realtime-token" })
        const { token } = reply.body.data["realtime"] as unknown as { readonly token: string }
        const held = await start(server, proxy.prepare, { silenceSeconds: SILENCE_SECONDS })
        const socket = await Realtime.connect({ url: `wss://localhost:${held}/api/v1/events/socket`, token })
        await socket.next("session.ready")
        await socket.next("event.delivery")
        await socket.next("session.replay.complete")
        await sleep(HELD_MILLIS)
        const before = Date.now()
        await agent.createMailbox(freshName())
        const { event } = await socket.next("event.delivery")
        expect(event?.type).toBe("payment.completed")
        expect(Date.parse(event!.createdAt)).toBeGreaterThan(before - 1_000)
        socket.socket.close()
      },
      HELD_MILLIS + 120_000
    )
  })
})
