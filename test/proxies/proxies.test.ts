import { generateCertificate } from "@agentos/provider-smtp/Certificate"
import { Effect, Redacted } from "effect"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import { request } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { Realtime } from "../support/Realtime.ts"
import { Treasury } from "../support/Treasury.ts"
import { freePort } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { proxies } from "./support/Proxies.ts"

const { root, title } = await installPeer("nginx-light", "haproxy", "apache2", "caddy", "varnish")

/** Longer than the 60 s after which proxies close a silent connection by default. */
const HELD_MILLIS = 180_000
/** The longest header of a challenge, and of a payment. */
const CHALLENGE_LENGTH = 8_191
const PAYMENT_LENGTH = 8_191
const MIB = 1024 * 1024
const WALLETS = 20

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
  { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {}
): Promise<Answer> => {
  const sent = request({
    host: "localhost",
    port,
    path,
    headers,
    method: body === undefined ? "GET" : "POST",
    maxHeaderSize: 64 * 1024
  })
  sent.end(body)
  const [response] = await once(sent, "response")
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

/** A server that answers with a header as long as that of the longest challenge, and with what reached it. */
const startEcho = async (): Promise<Server> => {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, response) => {
    if (incoming.url === "/health/ready") return void response.end()
    response.writeHead(402, { "payment-required": "x".repeat(CHALLENGE_LENGTH) })
    response.end(JSON.stringify(incoming.headers))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

describe.skipIf(root === undefined)(`proxies: ${title} and others of this version of Debian`, () => {
  const wallets = Array.from({ length: WALLETS }, generatePrivateKey)
  let cluster: Cluster
  let echo: Server
  let certificate: string
  beforeAll(async () => {
    const made = await Effect.runPromise(generateCertificate("localhost"))
    setDefaultCACertificates([...getCACertificates("default"), made.certificate])
    const pem = `${made.certificate.trim()}\n${Redacted.value(made.privateKey).trim()}\n`
    certificate = await root!.write("certificate.pem", pem)
    cluster = await startCluster({ servers: 1, environment: { AGENTOS_TRUSTED_PROXIES: "127.0.0.1/32" } })
    await new Treasury(cluster.chain).fund(wallets.map(privateKeyToAddress), 10)
    echo = await startEcho()
  })
  afterAll(async () => {
    echo?.close()
    await cluster?.stop()
    await root?.close()
  })

  describe.concurrent.each(proxies(freePort))("$name", ({ prepare }) => {
    /** Starts the proxy in front of a server and returns its port. */
    const start = async (server: number): Promise<number> => {
      const own = await freePort()
      root!.start(await prepare(root!, { own, server }, certificate))
      await vi.waitFor(async () => {
        const { status } = await ask(own, "/health/ready")
        if (status >= 500) throw new Error(`status ${status}: ${root!.log()}`)
      }, 60_000)
      return own
    }
    let port: number
    beforeAll(async () => {
      port = await start(Number(new URL(cluster.servers[0]!.baseUrl).port))
    })

    /** An agent with a wallet of its own. */
    const buyer = (): Agent => new Agent({ baseUrl: `https://localhost:${port}` }, wallets.pop()!)

    it("passes on purchases and the longest message", async () => {
      const agent = buyer()
      const { mailboxId } = await agent.createMailbox(freshName())
      const body = longestMessage(mailboxId)
      expect(body.length).toBeGreaterThan(25 * MIB)
      const sent = await agent.pay({ path: "/api/v1/email/messages/send", body })
      expect([sent.status, sent.body.error]).toEqual([201, undefined])
    })

    it("passes on the longest challenge and payment, and the client's address", async () => {
      const { port: server } = echo.address() as AddressInfo
      const headers = { "payment-signature": "y".repeat(PAYMENT_LENGTH), "x-forwarded-for": "203.0.113.9" }
      const { body, headers: answered, status } = await ask(await start(server), "/", { headers })
      expect([status, String(answered["payment-required"]).length]).toEqual([402, CHALLENGE_LENGTH])
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

    it("answers a body without a length, by the server or with its length", async () => {
      const headers = { "content-type": "application/json", "transfer-encoding": "chunked" }
      const answer = await ask(port, "/api/v1/email/mailboxes", {
        headers,
        body: JSON.stringify({ localPart: freshName() })
      })
      if (answer.status !== 402)
        expect([answer.status, JSON.parse(answer.body).error.issues]).toEqual([
          400,
          [expect.objectContaining({ message: expect.stringContaining("without Transfer-Encoding") })]
        ])
    })

    it(
      "holds a socket for three minutes, on which an event then arrives",
      async () => {
        const agent = buyer()
        await agent.createMailbox(freshName())
        const reply = await agent.send({ path: "/api/v1/events/realtime-token" })
        const { token } = reply.body.data["realtime"] as unknown as { readonly token: string }
        const socket = await Realtime.connect({ url: `wss://localhost:${port}/api/v1/events/socket`, token })
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
