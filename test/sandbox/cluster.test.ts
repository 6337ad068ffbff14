import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTransport } from "nodemailer"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import type { SandboxDescription } from "@agentos/sandbox"
import { Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf, isRunning, untilGone } from "../support/Processes.ts"
import { Realtime } from "../support/Realtime.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-cluster-"))
let sandbox: Sandbox
let description: SandboxDescription
let mailbox: MailboxFields
let token: string | undefined

const OPERATOR_TOKEN = "operator-of-two-servers-on-one-database"

const start = async (servers: number): Promise<void> => {
  sandbox = await startSandbox({
    directory,
    arguments: ["--no-tour", "--servers", String(servers)],
    environment: { AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN }
  })
  description = await sandbox.describe()
}

beforeAll(() => start(2))

afterAll(async () => {
  if (sandbox.process.exitCode === null && sandbox.process.signalCode === null) await sandbox.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** The agent that has the mailbox, at one of the servers. */
const agentAt = (index: number): Agent => {
  const agent = new Agent(description.servers[index]!, description.wallets[0]!.privateKey)
  agent.token = token
  return agent
}

const addresses = async (agent: Agent): Promise<ReadonlyArray<string>> => {
  const reply = await agent.send({ path: "/api/v1/email/mailboxes/query" })
  expect(reply.status).toBe(200)
  return (reply.body.data["items"] as unknown as ReadonlyArray<MailboxFields>).map(({ address }) => address)
}

const expectMailbox = async (): Promise<void> => {
  for (const index of description.servers.keys()) expect(await addresses(agentAt(index))).toContain(mailbox.address)
}

/** What must stay as it is while processes come and go. */
const places = ({ processes: _, servers, ...rest }: SandboxDescription) => ({
  ...rest,
  servers: servers.map(({ pid: _, ...place }) => place)
})

/** Kills a process, and waits until `sandbox.json` names the one in its place. */
const replaced = async (pidIn: (description: SandboxDescription) => number): Promise<void> => {
  const before = pidIn(await sandbox.describe())
  process.kill(before, "SIGKILL")
  await vi.waitFor(
    async () => {
      const now = pidIn(await sandbox.describe())
      expect(now).not.toBe(before)
      expect(isRunning(now)).toBe(true)
    },
    { timeout: 60_000, interval: 50 }
  )
  expect(places(await sandbox.describe())).toEqual(places(description))
}

describe("a sandbox of two servers", () => {
  it("names both, the database that they share, and the first where it named its only one", () => {
    const { baseUrl, databaseUrl, mail, processes, servers, websocketUrl } = description
    expect(servers).toHaveLength(2)
    expect(servers[0]).toEqual({
      baseUrl,
      websocketUrl,
      mail: { host: mail.host, port: mail.port },
      pid: processes.server
    })
    expect(new Set(servers.flatMap((server) => [server.baseUrl, server.mail.port, server.pid])).size).toBe(6)
    expect(databaseUrl).toMatch(/^postgres:\/\/agentos:\w{40,}@127\.0\.0\.1:\d+\/\w+$/)
    for (const server of servers) expect(sandbox.output()).toContain(`${server.baseUrl}, mail 127.0.0.1:`)
    expect(sandbox.output()).toContain(`PostgreSQL at ${new URL(databaseUrl!).host}`)
    expect(sandbox.output()).not.toContain(new URL(databaseUrl!).password)
  })

  it("lets nobody into its database without the password", async () => {
    const url = new URL(description.databaseUrl!)
    expect(await execute(url.href, "select 1 as one")).toEqual([{ one: 1 }])
    url.password = "guessed"
    await expect(execute(url.href, "select 1 as one")).rejects.toThrow(/password authentication failed/)
  })

  it("has on the second what was bought on the first", async () => {
    const agent = agentAt(0)
    mailbox = await agent.createMailbox(freshName())
    token = agent.token
    await expectMailbox()
  })

  it("shows on a socket of the first, opened with a token of the second, what came in by the second's mail door", async () => {
    const socket = await Realtime.open(agentAt(1))
    expect(new URL(socket.socket.url).host).toBe(new URL(description.servers[0]!.baseUrl).host)
    await socket.next("session.ready")
    await createTransport({ ...description.servers[1]!.mail, tls: { rejectUnauthorized: false } }).sendMail({
      from: "friend@outside.example",
      to: mailbox.address,
      subject: "By the other door",
      text: "Hello."
    })
    await vi.waitFor(
      async () => {
        const { event } = await socket.next()
        expect(event).toMatchObject({ type: "email.received", payload: { subject: "By the other door" } })
      },
      { timeout: 20_000, interval: 1 }
    )
    socket.close()
  })

  it("shows its operator on each what both have done, and the connections of both", async () => {
    const ask = async (index: number, path: string): Promise<string> => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      const answer = await fetch(`${description.servers[index]!.baseUrl}${path}`, { headers })
      expect(answer.status).toBe(200)
      return answer.text()
    }
    const jobs = async (index: number) =>
      (
        JSON.parse(await ask(index, "/internal/jobs")) as {
          readonly data: { readonly items: ReadonlyArray<{ readonly name: string; readonly runs: number }> }
        }
      ).data.items
    await vi.waitFor(async () => expect(Math.min(...(await jobs(0)).map(({ runs }) => runs))).toBeGreaterThan(0), {
      timeout: 30_000,
      interval: 250
    })
    expect((await jobs(1)).map(({ name }) => name)).toEqual((await jobs(0)).map(({ name }) => name))
    const metrics = await ask(1, "/internal/metrics")
    expect(metrics).toMatch(/^agentos_database_connections_max 200$/m)
    const open = [...metrics.matchAll(/^agentos_database_connections\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
    expect(open.reduce((total, count) => total + count, 0)).toBeGreaterThan(4)
    expect(metrics).toMatch(/^agentos_job_runs_total\{job="ledger-audit"\} [1-9]/m)
  })

  it("logs each by itself", () => {
    for (const log of ["server.log", "server-2.log"]) {
      expect(readFileSync(join(directory, "logs", log), "utf8")).toContain("/api/v1/email/mailboxes/query")
    }
  })

  it.each([0, 1])("starts server %i again that was killed, where it was", async (index) => {
    await replaced(({ servers }) => servers[index]!.pid)
    const { processes, servers } = await sandbox.describe()
    expect(processes.server).toBe(servers[0]!.pid)
    await expectMailbox()
  })

  it("starts its database again, with what was in it", async () => {
    await replaced(({ processes }) => processes.postgres!)
    await vi.waitFor(expectMailbox, { timeout: 30_000, interval: 250 })
    await agentAt(1).createMailbox(freshName())
  })
})

describe("a sandbox of two servers that ends", () => {
  it("at SIGTERM takes everything with it", async () => {
    const family = familyOf(sandbox.process.pid!)
    for (const { pid } of (await sandbox.describe()).servers) expect(family).toContain(pid)
    const stoppedAt = performance.now()
    expect(await sandbox.stop()).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(10_000)
    await untilGone(family, 1_000)
    expect(existsSync(join(directory, "sandbox.json"))).toBe(false)
  })

  it("has everything again at the next start, with more servers too", async () => {
    await start(3)
    await expectMailbox()
  })

  it("by SIGKILL takes everything with it too, and can be started again in that moment", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGKILL")
    await once(sandbox.process, "exit")
    await start(2)
    await untilGone(family, 1_000)
    await expectMailbox()
    expect(await sandbox.stop()).toBe(0)
  })

  it("says of its database that it is not seen by a server of its own kind", async () => {
    await start(1)
    expect(description.databaseUrl).toBeNull()
    expect(sandbox.output()).toMatch(/also holds a PostgreSQL .* of which nothing is seen now/)
    expect(await sandbox.stop()).toBe(0)
    await start(2)
    expect(sandbox.output()).toMatch(/also holds an embedded database, of which nothing is seen now/)
    await expectMailbox()
  })

  it("at SIGINT ends as at SIGTERM", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGINT")
    expect(await once(sandbox.process, "exit")).toEqual([0, null])
    await untilGone(family, 1_000)
  })
})
