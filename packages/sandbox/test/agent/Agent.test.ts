import { X509Certificate, createHmac } from "node:crypto"
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { type Agent, type AgentOptions, startAgent } from "../../src/agent/Agent.ts"
import { startStandIn } from "../shared/ChildProcesses.ts"

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-agent-"))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const start = async (options: Partial<AgentOptions> = {}): Promise<Agent> => {
  const agent = await startAgent({ dataDir, ...options })
  onTestFinished(agent.close)
  return agent
}

interface Reply {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly body: string
  readonly chunkCount: number
}

/** Sends a request over TLS and trusts only the authority in the file. */
const send = async (
  url: string,
  caFile: string,
  { body, headers = {}, method = "POST" }: { body?: string; headers?: Record<string, string>; method?: string }
): Promise<Reply> => {
  const ca = await readFile(caFile)
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, ca, headers, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          type: response.headers["content-type"],
          body: Buffer.concat(chunks).toString(),
          chunkCount: chunks.length
        })
      )
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

const message = (text: string) => JSON.stringify({ type: "agent.message", callId: "c1", turn: { text, at: "now" } })

describe("the test agent", () => {
  it("repeats the turn as JSON, as a stream, and with a hangup", async () => {
    const { caFile, messages, url } = await start()
    const plain = await send(url, caFile, { body: message("hello there") })
    expect(plain).toMatchObject({ status: 200, type: "application/json" })
    expect(JSON.parse(plain.body)).toEqual({ text: "You said: hello there" })
    const streamed = await send(`${url}stream`, caFile, { body: message("hello there") })
    expect(streamed).toMatchObject({ status: 200, type: "application/x-ndjson" })
    const lines = streamed.body.trimEnd().split("\n")
    expect(lines.map((line) => (JSON.parse(line) as { text: string }).text)).toEqual([
      "You ",
      "said: ",
      "hello ",
      "there"
    ])
    expect(streamed.chunkCount).toBeGreaterThan(1)
    const hungUp = await send(`${url}hangup`, caFile, { body: message("bye") })
    expect(JSON.parse(hungUp.body)).toEqual({ text: "You said: bye", hangup: true })
    expect(messages().map(({ body, path }) => [path, body])).toMatchObject([
      ["/", { callId: "c1", turn: { text: "hello there" } }],
      ["/stream", {}],
      ["/hangup", {}]
    ])
    const listed = await send(`${url}messages`, caFile, { method: "GET" })
    expect(JSON.parse(listed.body)).toEqual({ messages: messages() })
  })

  it("rejects requests that are not messages", async () => {
    const { caFile, url } = await start()
    const status = async (path: string, options: Parameters<typeof send>[2]) =>
      (await send(`${url}${path}`, caFile, options)).status
    expect(await status("", { body: "hello" })).toBe(400)
    expect(await status("", { body: '{"type":"agent.message"}' })).toBe(400)
    expect(await status("", { body: '{"type":"other","turn":{"text":"x"}}' })).toBe(400)
    expect(await status("", { body: message("x".repeat(70_000)) })).toBe(413)
    expect(await status("other", { body: message("x") })).toBe(404)
    expect(await status("", { method: "GET" })).toBe(405)
  })

  it("rejects callbacks without a valid signature if it has the number's secret", async () => {
    const secret = "cvs_v1_secret"
    const { caFile, messages, url } = await start({ secret })
    const body = message("hello")
    const now = Math.floor(Date.now() / 1_000)
    const headers = (timestamp: string, key: string, signed = body) => ({
      "X-Service-Timestamp": timestamp,
      "X-Service-Signature": `v1=${createHmac("sha256", key).update(`${timestamp}.${signed}`).digest("hex")}`
    })
    const status = async (sent: Record<string, string>) => (await send(url, caFile, { body, headers: sent })).status
    expect(await status(headers(String(now), secret))).toBe(200)
    expect(await status({})).toBe(401)
    expect(await status(headers(String(now), "other"))).toBe(401)
    expect(await status(headers(String(now), secret, `${body} `))).toBe(401)
    expect(await status(headers(String(now - 400), secret))).toBe(401)
    expect(await status({ ...headers(String(now), secret), "X-Service-Timestamp": "soon" })).toBe(401)
    expect(messages()).toHaveLength(1)
  })

  it("is trusted only through its own authority, whose key only the owner can read", async () => {
    const first = await start()
    const other = await mkdtemp(join(tmpdir(), "agentos-agent-"))
    onTestFinished(() => rm(other, { recursive: true, force: true }))
    const stranger = await startAgent({ dataDir: other })
    onTestFinished(stranger.close)
    await expect(send(first.url, stranger.caFile, { body: message("x") })).rejects.toThrow(/certificate|issuer/)
    const authority = new X509Certificate(await readFile(first.caFile))
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect((await stat(join(dataDir, "ca-key.pem"))).mode & 0o777).toBe(0o600)
    const server = new X509Certificate(await readFile(join(dataDir, "server.pem")))
    expect(["127.0.0.1", "::1"].map((address) => server.checkIP(address))).toEqual(["127.0.0.1", "::1"])
    expect(server.checkHost("example.com")).toBeUndefined()
    // Also by host name.
    const named = await send(first.url.replace("127.0.0.1", "localhost"), first.caFile, { body: message("x") })
    expect(named.status).toBe(200)
  })

  it("keeps its authority and certificate", async () => {
    const first = await start()
    const files = async () => Promise.all(["ca.pem", "server.pem"].map((name) => readFile(join(dataDir, name), "utf8")))
    const before = await files()
    expect((await stat(join(dataDir, "server.pem"))).mode & 0o777).toBe(0o600)
    await first.close()
    const second = await start()
    expect(second.caFile).toBe(first.caFile)
    expect(await files()).toEqual(before)
    expect((await send(second.url, second.caFile, { body: message("x") })).status).toBe(200)
    // A lost authority certificate is issued again.
    await second.close()
    await rm(second.caFile)
    const third = await start()
    expect((await send(third.url, third.caFile, { body: message("x") })).status).toBe(200)
  })

  it("runs in its own process, and stops when its stdin closes", async () => {
    const child = await startStandIn<{ ready: string; pid: number; port: number; url: string; caFile: string }>(
      "agent",
      {
        dataDir,
        port: 0
      }
    )
    const { caFile, port, url } = child.ready
    expect(child.ready).toMatchObject({ ready: "agent", pid: child.process.pid, url: `https://127.0.0.1:${port}/` })
    expect(JSON.parse((await send(url, caFile, { body: message("hi") })).body)).toEqual({ text: "You said: hi" })
    child.process.stdin?.end()
    expect(await child.exitCode()).toBe(0)
  })
})
