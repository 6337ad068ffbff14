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
    // A database that exists already saves its slow first start.
    isPrepared: servers === 1,
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

/** Returns the agent that owns the mailbox, with one of the servers. */
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

/** Returns the description without the pids, which change at restarts. */
const withoutPids = ({ processes: _, servers, ...rest }: SandboxDescription) => ({
  ...rest,
  servers: servers.map(({ pid: _, ...server }) => server)
})

/** Kills a process, and waits until `sandbox.json` names its successor. */
const killAndRestart = async (pidIn: (description: SandboxDescription) => number): Promise<void> => {
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
  expect(withoutPids(await sandbox.describe())).toEqual(withoutPids(description))
}

describe("a sandbox of two servers", () => {
  it("describes both servers, their database, and the first server at the top level", () => {
    const { baseUrl, databaseUrl, mail, operatorUrl, processes, servers, websocketUrl } = description
    expect(servers).toHaveLength(2)
    expect(servers[0]).toEqual({
      baseUrl,
      websocketUrl,
      operatorUrl,
      mail: { host: mail.host, port: mail.port },
      pid: processes.server
    })
    expect(new Set(servers.flatMap((server) => [server.baseUrl, server.mail.port, server.pid])).size).toBe(6)
    expect(databaseUrl).toMatch(/^postgres:\/\/agentos:\w{40,}@127\.0\.0\.1:\d+\/\w+$/)
    for (const server of servers) expect(sandbox.output()).toContain(`${server.baseUrl}, mail 127.0.0.1:`)
    expect(sandbox.output()).toContain(`PostgreSQL at ${new URL(databaseUrl!).host}`)
    expect(sandbox.output()).not.toContain(new URL(databaseUrl!).password)
  })

  it("requires the password of its database", async () => {
    const url = new URL(description.databaseUrl!)
    expect(await execute(url.href, "select 1 as one")).toEqual([{ one: 1 }])
    url.password = "guessed"
    await expect(execute(url.href, "select 1 as one")).rejects.toThrow(/password authentication failed/)
  })

  it("shows a purchase of the first server on the second", async () => {
    const agent = agentAt(0)
    mailbox = await agent.createMailbox(freshName())
    token = agent.token
    await expectMailbox()
  })

  it("delivers mail from the second SMTP server to a socket of the first, opened with a token of the second", async () => {
    const socket = await Realtime.open(agentAt(1))
    expect(new URL(socket.socket.url).host).toBe(new URL(description.servers[0]!.baseUrl).host)
    await socket.next("session.ready")
    await createTransport({ ...description.servers[1]!.mail, tls: { rejectUnauthorized: false } }).sendMail({
      from: "friend@outside.example",
      to: mailbox.address,
      subject: "From the other server",
      text: "Hello."
    })
    await vi.waitFor(
      async () => {
        const { event } = await socket.next()
        expect(event).toMatchObject({ type: "email.received", payload: { subject: "From the other server" } })
      },
      { timeout: 60_000, interval: 1 }
    )
    socket.close()
  })

  it("reports the jobs and connections of both servers on each", async () => {
    const ask = async (index: number, path: string): Promise<string> => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      const answer = await fetch(`${description.servers[index]!.operatorUrl}${path}`, { headers })
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
      timeout: 60_000,
      interval: 250
    })
    expect((await jobs(1)).map(({ name }) => name)).toEqual((await jobs(0)).map(({ name }) => name))
    const metrics = await ask(1, "/internal/metrics")
    expect(metrics).toMatch(/^agentos_database_connections_max 200$/m)
    const open = [...metrics.matchAll(/^agentos_database_connections\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
    expect(open.reduce((total, count) => total + count, 0)).toBeGreaterThan(4)
    expect(metrics).toMatch(/^agentos_table_bytes\{table="operations"\} \d+$/m)
    expect(metrics).toMatch(/^agentos_job_runs_total\{job="ledger-audit"\} [1-9]/m)
  })

  it("writes a log for each server", () => {
    for (const log of ["server.log", "server-2.log"]) {
      expect(readFileSync(join(directory, "logs", log), "utf8")).toContain("/api/v1/email/mailboxes/query")
    }
  })

  it.each([0, 1])("restarts server %i after a kill, at the same address", async (index) => {
    await killAndRestart(({ servers }) => servers[index]!.pid)
    const { processes, servers } = await sandbox.describe()
    expect(processes.server).toBe(servers[0]!.pid)
    await expectMailbox()
  })

  it("restarts its database with its data", async () => {
    await killAndRestart(({ processes }) => processes.postgres!)
    await vi.waitFor(expectMailbox, { timeout: 60_000, interval: 250 })
    await agentAt(1).createMailbox(freshName())
  })
})

describe("the end of a sandbox of several servers", () => {
  it("ends all processes at SIGTERM", async () => {
    const family = familyOf(sandbox.process.pid!)
    for (const { pid } of (await sandbox.describe()).servers) expect(family).toContain(pid)
    expect(await sandbox.stop()).toBe(0)
    await untilGone(family, 60_000)
    expect(existsSync(join(directory, "sandbox.json"))).toBe(false)
  })

  it("reports at the next start the database that an embedded server does not use", async () => {
    await start(1)
    expect(description.databaseUrl).toBeNull()
    expect(sandbox.output()).toMatch(/also holds a PostgreSQL .* which this run does not use/)
    expect(await sandbox.stop()).toBe(0)
  })

  it("keeps the data for a start with more servers, which reports the embedded database", async () => {
    await start(3)
    expect(sandbox.output()).toMatch(/also holds an embedded database, which this run does not use/)
    await expectMailbox()
  })

  it("ends all processes after SIGKILL, while the next start already begins", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGKILL")
    await once(sandbox.process, "exit")
    await start(2)
    await untilGone(family, 60_000)
    await expectMailbox()
  })

  it("ends all processes at SIGINT", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGINT")
    expect(await once(sandbox.process, "exit")).toEqual([0, null])
    await untilGone(family, 60_000)
  })
})
