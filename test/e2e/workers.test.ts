import { startPostgres } from "@agentos/postgres/testing"
import type { SandboxDescription } from "@agentos/sandbox"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { clientPortsOf, KeptConnections } from "../support/KeptConnections.ts"
import { childrenOf, untilGone } from "../support/Processes.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { MISSING_SERVICE_MANAGER, startServiceManager } from "../support/ServiceManager.ts"
import {
  type RunningServer,
  runServerCommand,
  serverEnvironment,
  startServer,
  unfinishedRequest,
  untilRefused
} from "../support/ServerCommand.ts"
import { WITHOUT_LIMITS } from "../support/WithoutLimits.ts"

const CLIENTS = 16
const OPERATOR_TOKENS = ["1", "2"].map((digit) => digit.repeat(32))

let postgres: Awaited<ReturnType<typeof startPostgres>>
let running: Sandbox
let sandbox: SandboxDescription
let settings: Readonly<Record<string, string | undefined>>
beforeAll(async () => {
  postgres = await startPostgres({ settings: { max_connections: "200" } })
  running = await startSandbox({ environment: { DATABASE_URL: postgres.url } })
  sandbox = await running.describe()
  await execute(postgres.url, "create database workers")
  const { environment } = await serverEnvironment(running, databaseUrl(postgres.url, "workers"))
  settings = {
    ...environment,
    ...WITHOUT_LIMITS,
    AGENTOS_PORT: "0",
    AGENTOS_SMTP_PORT: "0",
    AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKENS[0]!
  }
})
afterAll(async () => {
  await running?.stop()
  await postgres?.stop()
})

interface WorkersServer extends RunningServer {
  readonly workers: () => ReadonlyArray<number>
  /** The lines of its log so far. */
  readonly lines: () => ReadonlyArray<Line>
}

const started: Array<WorkersServer> = []
afterEach(async () => {
  for (const server of started.splice(0)) if (server.child.exitCode === null) await server.stop()
})

const start = async (changed: Readonly<Record<string, string | undefined>> = {}): Promise<WorkersServer> => {
  const server = await startServer({ ...settings, ...changed }, "--workers", "2")
  let log = ""
  server.child.stderr!.on("data", (text: string) => (log += text))
  const found = {
    ...server,
    workers: () => childrenOf(server.child.pid!),
    lines: () => parseLines(log)
  }
  started.push(found)
  return found
}

/** Waits until each client was answered several times. */
const load = async (server: RunningServer): Promise<KeptConnections> => {
  const clients = new KeptConnections(server.port, CLIENTS)
  await vi.waitFor(() => expect(clients.answers).toBeGreaterThan(CLIENTS * 20), { timeout: 60_000, interval: 20 })
  return clients
}

type Line = Readonly<Record<string, unknown>>

const parseLines = (log: string): ReadonlyArray<Line> =>
  log
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

const lost = (clients: KeptConnections) => clients.closed.filter((connection) => connection.lost)

const metricsOf = async (server: RunningServer, token: string) => {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.operatorUrl}/internal/metrics`, { headers })
  return { status: answer.status, text: await answer.text() }
}

describe("agentos-server start --workers", () => {
  it("serves one port with several processes, whose logs and metrics name them", async () => {
    const server = await start()
    const [one, two] = server.workers()
    expect(server.workers()).toHaveLength(2)
    const clients = await load(server)
    const [ports, others] = [one!, two!].map((pid) => clientPortsOf(pid, server.port))
    expect(ports!.size).toBeGreaterThan(0)
    expect(others!.size).toBeGreaterThan(0)
    expect(ports!.size + others!.size).toBe(CLIENTS)

    const { text } = await metricsOf(server, OPERATOR_TOKENS[0]!)
    const counted = [...text.matchAll(/^agentos_http_requests_total\{worker="(\d)",.*"\/health\/ready".* (\d+)$/gm)]
    expect(counted.map(([, worker]) => worker)).toEqual(["1", "2"])
    expect(text.match(/^# TYPE agentos_http_requests_total /gm)).toHaveLength(1)
    expect(text.match(/^agentos_database_up 1$/gm)).toHaveLength(1)
    const memory = [...text.matchAll(/^process_resident_memory_bytes\{worker="(\d)"\} \d+$/gm)]
    expect(memory.map(([, worker]) => worker)).toEqual(["1", "2"])
    await clients.stop()
    const requests = server.lines().filter(({ message }) => message === "request")
    expect(new Set(requests.map(({ worker }) => worker))).toEqual(new Set([1, 2]))
    expect(await server.stop()).toBe(0)
    await untilGone([one!, two!], 60_000)
    // Each request has one line, also of those in the last milliseconds.
    const answered = server.lines().filter(({ annotations: of }) => (of as { path?: string }).path === "/health/ready")
    expect(answered.length).toBeGreaterThanOrEqual(clients.answers)
  })

  it("replaces a worker that is killed, and loses no request of the others", async () => {
    const server = await start()
    const [killed, other] = server.workers()
    const clients = await load(server)
    const ofKilled = clientPortsOf(killed!, server.port)
    const ofOther = clientPortsOf(other!, server.port)
    process.kill(killed!, "SIGKILL")
    await vi.waitFor(
      () => {
        expect(server.workers()).toHaveLength(2)
        expect(server.workers()).not.toContain(killed)
        expect(server.lines()).toContainEqual(expect.objectContaining({ message: "a worker serves" }))
      },
      { timeout: 60_000, interval: 100 }
    )
    const before = clients.answers
    await vi.waitFor(() => expect(clients.answers).toBeGreaterThan(before + CLIENTS * 20), { timeout: 60_000 })
    await clients.stop()
    for (const { port } of lost(clients)) expect(ofKilled.has(port), "a connection of the other worker").toBe(true)
    for (const port of ofOther) expect(clients.closed.find((closed) => closed.port === port)?.lost).toBe(false)
    expect(await server.stop()).toBe(0)
  })

  it("has the connections answered that a killed worker had not accepted", async () => {
    const server = await start()
    const clients = await load(server)
    for (let kills = 1; kills <= 6; kills++) {
      const [killed] = server.workers()
      process.kill(killed!, "SIGKILL")
      await vi.waitFor(
        () => expect(server.lines().filter(({ message }) => message === "a worker serves")).toHaveLength(kills),
        { timeout: 60_000, interval: 100 }
      )
    }
    // Hangs if a connection stays without an answer.
    await clients.stop()
    expect(await server.stop()).toBe(0)
  })

  it("replaces all workers on SIGHUP with the variables of the file as they are now, and loses no request", async () => {
    const file = join(running.directory, "workers.env")
    const { AGENTOS_OPERATOR_TOKEN: _, ...others } = settings
    await writeFile(file, `AGENTOS_OPERATOR_TOKEN=${OPERATOR_TOKENS[0]}`)
    const server = await startServer(
      { ...others, AGENTOS_OPERATOR_TOKEN: undefined },
      "--workers",
      "2",
      "--env-file",
      file
    )
    try {
      const before = childrenOf(server.child.pid!)
      const clients = await load(server)
      await writeFile(file, `AGENTOS_OPERATOR_TOKEN=${OPERATOR_TOKENS[1]}`)
      server.child.kill("SIGHUP")
      await untilGone(before, 60_000)
      const after = childrenOf(server.child.pid!)
      expect(after).toHaveLength(2)
      await clients.stop()
      expect(lost(clients)).toEqual([])
      expect((await metricsOf(server, OPERATOR_TOKENS[1]!)).status).toBe(200)
      expect((await metricsOf(server, OPERATOR_TOKENS[0]!)).status).toBe(401)

      // A configuration that cannot work replaces nothing.
      await writeFile(file, "AGENTOS_OPERATOR_TOKEN=short")
      server.child.kill("SIGHUP")
      await once(server.child.stderr!, "data")
      await vi.waitFor(() => expect(childrenOf(server.child.pid!)).toEqual(after), { timeout: 60_000, interval: 500 })
      expect((await metricsOf(server, OPERATOR_TOKENS[1]!)).status).toBe(200)
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })

  it("answers every request under way when it stops, and ends at once on a second signal", async () => {
    const server = await start()
    const workers = server.workers()
    const clients = await load(server)
    expect(await server.stop()).toBe(0)
    await clients.stop()
    // A connection that is opened while the last worker stops is refused, as later ones are.
    expect(lost(clients).filter(({ answers }) => answers > 0)).toEqual([])
    await untilGone(workers, 60_000)

    const again = await start()
    const request = await unfinishedRequest(again.port)
    const left = again.workers()
    again.child.kill("SIGTERM")
    await untilRefused(again.port)
    expect(again.child.exitCode).toBeNull()
    // The first signal alone would end in 0, after the drain.
    expect(await again.stop()).toBe(130)
    await untilGone(left, 60_000)
    request.destroy()
  })

  it("charges a payment once whose two copies reach different workers", async () => {
    const server = await start()
    const agent = new Agent({ baseUrl: server.baseUrl }, sandbox.wallets[0]!.privateKey)
    const connections = await connectionToEach(server)
    const path = "/api/v1/email/mailboxes"
    const key = randomUUID()
    const body = { localPart: freshName() }
    const signature = await agent.payment({ path, body })
    const copies = () =>
      Promise.all(
        connections.map((connection) =>
          post(server, connection, path, body, { "payment-signature": signature, "idempotency-key": key })
        )
      )
    const first = await copies()
    expect(first.map(({ status }) => status)).toContain(201)
    const [one, other] = await copies()
    expect(one).toMatchObject({ status: 201, text: first.find(({ status }) => status === 201)!.text })
    expect(other).toMatchObject({ status: 201, text: one!.text })
    for (const connection of connections) connection.destroy()
    const { output, status } = await runServerCommand(["ledger"], settings)
    expect(status).toBe(0)
    expect(JSON.parse(output)).toMatchObject({ ok: true, chain: [{ received: { count: 1, amount: "250000" } }] })
  })

  it("refuses an embedded database, and a configuration that cannot work, once and with 3", async () => {
    const directory = join(running.directory, "unused")
    const embedded = await runServerCommand(["start", "--workers", "2"], {
      ...settings,
      DATABASE_URL: "",
      AGENTOS_DATA_DIR: directory
    })
    expect(embedded.status).toBe(3)
    expect(embedded.errors.match(/AGENTOS_WORKERS must be 1 with an embedded database/g)).toHaveLength(1)
    const wrong = await runServerCommand(["start"], { ...settings, AGENTOS_WORKERS: "2", AGENTOS_PUBLIC_URL: "x" })
    expect(wrong).toMatchObject({ status: 3, output: "" })
    expect(wrong.errors.match(/AGENTOS_PUBLIC_URL must be/g)).toHaveLength(1)
    const usage = await runServerCommand(["start", "--workers", "0"], settings)
    expect(usage).toMatchObject({ status: 3, errors: expect.stringContaining("--workers must be auto, or") })
  })
})

describe("SIGHUP to a single process", () => {
  it("replaces its limits by those of the file, and keeps them if the file is not valid", async () => {
    const file = join(running.directory, "limits.env")
    const { AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST: _, AGENTOS_RATE_LIMIT_PER_MINUTE: __, ...others } = settings
    const write = (perMinute: string, recipients: string, publicUrl = sandbox.baseUrl) =>
      writeFile(
        file,
        `AGENTOS_RATE_LIMIT_PER_MINUTE=${perMinute}\nAGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST=${recipients}\nAGENTOS_PUBLIC_URL=${publicUrl}\n`
      )
    await write("6000", "7")
    const server = await startServer({ ...others, AGENTOS_PUBLIC_URL: undefined }, "--env-file", file)
    let log = ""
    server.child.stderr!.on("data", (text: string) => (log += text))
    const reloaded = (line: string) => {
      server.child.kill("SIGHUP")
      return vi.waitFor(() => expect(log).toContain(line), { timeout: 60_000, interval: 20 })
    }
    try {
      const agent = new Agent({ baseUrl: server.baseUrl }, sandbox.wallets[1]!.privateKey)
      await agent.createMailbox(freshName())
      const limits = async () => {
        const { body, headers } = await agent.send({ path: "/api/v1/limits" })
        const { items } = body.data as unknown as {
          readonly items: ReadonlyArray<{ readonly name: string; readonly limit: number }>
        }
        const recipients = items.find(({ name }) => name === "mail_recipients_per_day")?.limit
        return [/"address";q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1], recipients]
      }
      expect(await limits()).toEqual(["6000", 7])
      await write("9000", "8", "http://127.0.0.1:1")
      await reloaded("these changed settings need a restart of the server: AGENTOS_PUBLIC_URL")
      expect(log).toContain('"changed":"AGENTOS_RATE_LIMIT_PER_MINUTE, AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST"')
      expect(await limits()).toEqual(["9000", 8])
      await write("many", "9")
      await reloaded("the limits stay, because the settings are not valid")
      expect(log).toContain("AGENTOS_RATE_LIMIT_PER_MINUTE must be")
      expect(await limits()).toEqual(["9000", 8])
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })
})

describe("NOTIFY_SOCKET", () => {
  it.for(["1", "2"])(
    "%s processes tell systemd when they serve, that they are alive, and that they stop",
    async (count, { skip }) => {
      if (MISSING_SERVICE_MANAGER !== undefined) return skip(MISSING_SERVICE_MANAGER)
      const manager = await startServiceManager()
      try {
        const environment = { ...settings, NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: "400000" }
        const server = await startServer(environment, "--workers", count)
        await expect.poll(manager.messages).toEqual(expect.arrayContaining(["READY=1", "WATCHDOG=1"]))
        expect(await server.stop()).toBe(0)
        await expect.poll(manager.messages).toContain("STOPPING=1")
        const messages = manager.messages()
        expect(messages[0]).toBe("READY=1")
        expect(messages.filter((message) => message !== "WATCHDOG=1")).toEqual(["READY=1", "STOPPING=1"])
      } finally {
        await manager.stop()
      }
    }
  )
})

describe("AGENTOS_ACCESS_LOG", () => {
  it.each([
    ["sampled", 2, 3],
    ["off", 0, 0]
  ])("%s logs %i of 150 successes, and %i of 3 failures", async (accessLog, successes, failures) => {
    const server = await startServer({ ...settings, AGENTOS_ACCESS_LOG: accessLog })
    let log = ""
    server.child.stderr!.on("data", (text: string) => (log += text))
    for (let count = 0; count < 150; count++) await fetch(`${server.baseUrl}/health/live`)
    for (let count = 0; count < 3; count++) await fetch(`${server.baseUrl}/nowhere`)
    expect(await server.stop()).toBe(0)
    const statuses = parseLines(log)
      .filter(({ message }) => message === "request")
      .map(({ annotations }) => (annotations as { readonly status: number }).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(successes)
    expect(statuses.filter((status) => status === 404)).toHaveLength(failures)
  })
})

/** Opens connections until each worker has one, and returns one to each. */
const connectionToEach = async (server: WorkersServer): Promise<ReadonlyArray<HttpAgent>> => {
  const found = new Map<number, HttpAgent>()
  for (let attempts = 0; found.size < 2; attempts++) {
    expect(attempts).toBeLessThan(50)
    const connection = new HttpAgent({ keepAlive: true, maxSockets: 1 })
    const { port } = await post(server, connection, "/api/v1/email/mailboxes", {}, {})
    const worker = server.workers().find((pid) => clientPortsOf(pid, server.port).has(port))
    if (worker === undefined || found.has(worker)) connection.destroy()
    else found.set(worker, connection)
  }
  return [...found.values()]
}

/** Sends a request on the connection of an agent. */
const post = async (
  server: RunningServer,
  agent: HttpAgent,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>>
): Promise<{ readonly status: number; readonly text: string; readonly port: number }> => {
  const request = httpRequest(server.baseUrl + path, {
    method: "POST",
    agent,
    headers: { "content-type": "application/json", ...headers }
  })
  request.end(JSON.stringify(body))
  const [response] = (await once(request, "response")) as [IncomingMessage]
  const port = response.socket.localPort!
  let text = ""
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk)
  return { status: response.statusCode!, text, port }
}
