import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { get } from "node:https"
import { connect } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { familyOf, isRunning, untilGone } from "../support/Processes.ts"
import type { SandboxDescription } from "@agentos/sandbox"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/sandbox/main"))
const root = mkdtempSync(join(tmpdir(), "agentos-supervisor-"))
const directory = join(root, "data")
let sandbox: Sandbox
let description: SandboxDescription
let agent: Agent

const start = async (): Promise<void> => {
  sandbox = await startSandbox({ directory, isPrepared: !existsSync(directory), networks: 2 })
  description = await sandbox.describe()
}

beforeAll(async () => {
  await start()
  agent = new Agent(description, description.wallets[0]!.privateKey)
})

afterAll(async () => {
  if (sandbox.process.exitCode === null && sandbox.process.signalCode === null) await sandbox.stop()
  rmSync(root, { recursive: true, force: true })
})

/** Runs a sandbox that is expected to end by itself. */
const run = (args: ReadonlyArray<string>, environment: Record<string, string> = {}) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...environment },
    timeout: 60_000
  })
  return { status, stdout, stderr }
}

const mailboxes = async (owner: Agent): Promise<ReadonlyArray<string>> => {
  const reply = await owner.send({ path: "/api/v1/email/mailboxes/query" })
  expect(reply.status).toBe(200)
  return (reply.body.data["items"] as unknown as ReadonlyArray<{ readonly localPart: string }>).map(
    ({ localPart }) => localPart
  )
}

/** Returns the balances of the wallets on both chains. */
const balances = ({ chains, wallets }: SandboxDescription) =>
  Promise.all(chains.flatMap((chain) => wallets.map(({ address }) => new Chain({ chain }).balanceOf(address))))

type ProcessName = "server" | "chain" | "facilitator" | "relay" | "carrier" | "agent"

/** Kills a process, waits for its successor, and returns the new pid. */
const killAndRestart = async (name: ProcessName): Promise<number> => {
  const before = (await sandbox.describe()).processes[name]
  process.kill(before, "SIGKILL")
  return vi.waitFor(
    async () => {
      const { [name]: now } = (await sandbox.describe()).processes
      expect(now).not.toBe(before)
      expect(isRunning(now)).toBe(true)
      return now
    },
    { timeout: 60_000, interval: 50 }
  )
}

/** Returns whether a connection is accepted. */
const isListening = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 }, () => resolve(true))
    socket.once("error", () => resolve(false))
    socket.once("timeout", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

/** Sends a request to the test agent, trusting only its authority, and returns the status. */
const agentStatus = ({ agentWebhookCa, agentWebhookUrl }: SandboxDescription): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const url = new URL("messages", agentWebhookUrl)
    const request = get(url, { ca: readFileSync(agentWebhookCa), agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.once("error", reject)
  })

/** Buys a phone number for the agent, which also receives its token. */
const buyNumber = async (buyer: Agent): Promise<{ readonly phoneNumberId: string; readonly number: string }> => {
  const reply = await buyer.pay({
    path: "/api/v1/phone/purchase-us-number-30-days",
    body: { agentName: "Ada", agentWebhookUrl: description.agentWebhookUrl, areaCode: "415" }
  })
  expect(reply.status).toBe(201)
  const data = reply.body.data as unknown as {
    readonly phoneNumberId: string
    readonly number: string
    readonly authentication: { readonly accessToken: string }
  }
  buyer.token = data.authentication.accessToken
  return data
}

/** Places a call from an agent's number, and returns whether the carrier has it. */
const canCall = async (caller: Agent, phoneNumberId: string, number: string): Promise<boolean> => {
  const carrier = description.carrier.url
  const person = { number: "+14155550161", behaviour: "busy" }
  const set = await fetch(`${carrier}/sandbox/people`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(person)
  })
  expect(set.status).toBe(200)
  const body = { phoneNumberId, toNumber: person.number }
  expect(await caller.pay({ path: "/api/v1/phone/call-1-minute", body })).toMatchObject({ status: 201 })
  const { calls } = (await (await fetch(`${carrier}/sandbox/calls`)).json()) as {
    readonly calls: ReadonlyArray<{ readonly from: string; readonly to: string }>
  }
  return calls.some(({ from, to }) => from === number && to === person.number)
}

describe("a running sandbox", () => {
  it("describes itself in a file that only its owner can read", () => {
    expect(statSync(join(directory, "sandbox.json")).mode & 0o777).toBe(0o600)
    expect(sandbox.output()).toMatch(new RegExp(`^ready ${description.baseUrl}$`, "m"))
    expect(description).toMatchObject({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      websocketUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\//),
      operatorUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      emailDomain: expect.stringMatching(/\./),
      mail: { host: "127.0.0.1", port: expect.any(Number), relayPort: expect.any(Number) },
      chain: { network: expect.stringMatching(/^eip155:\d+$/), decimals: 6 },
      chains: [{ network: "eip155:402402" }, { network: "eip155:402403", transferMethod: "permit2" }],
      facilitatorUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      carrier: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
      agentWebhookUrl: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/$/),
      databaseUrl: null
    })
    const { baseUrl, mail, operatorUrl, processes, websocketUrl } = description
    expect(description.servers).toEqual([
      { baseUrl, websocketUrl, operatorUrl, mail: { host: mail.host, port: mail.port }, pid: processes.server }
    ])
    expect(existsSync(description.mail.outboxDir)).toBe(true)
    const pids = Object.values(description.processes)
    expect(Object.keys(description.processes).toSorted()).toEqual([
      "agent",
      "carrier",
      "chain",
      "facilitator",
      "relay",
      "server"
    ])
    expect(new Set(pids).size).toBe(6)
    for (const pid of pids) expect(familyOf(sandbox.process.pid!)).toContain(pid)
  })

  it("has funded wallets", async () => {
    expect(description.wallets.length).toBeGreaterThanOrEqual(3)
    const found = await balances(description)
    expect(found).toHaveLength(2 * description.wallets.length)
    for (const balance of found) expect(balance).toBeGreaterThan(1_000_000_000n)
  })

  it("listens on the loopback address only", async () => {
    const { agentWebhookUrl, baseUrl, carrier, chains, facilitatorUrl, mail } = description
    const urls = [baseUrl, ...chains.map(({ rpcUrl }) => rpcUrl), facilitatorUrl, carrier.url, agentWebhookUrl]
    const ports = urls.map((url) => Number(new URL(url).port))
    const external = Object.values(networkInterfaces()).flatMap(
      (addresses) => addresses?.filter(({ family, internal }) => family === "IPv4" && !internal) ?? []
    )
    for (const port of [...ports, mail.port, mail.relayPort]) {
      expect(await isListening("127.0.0.1", port)).toBe(true)
      for (const { address } of external) expect(await isListening(address, port)).toBe(false)
    }
  })

  it("locks its data directory, and reports that in one line", () => {
    const { status, stderr } = run(["--no-tour", "--port", "0", "--data", directory])
    expect(status).toBe(1)
    expect(stderr.trim()).toMatch(
      new RegExp(`^${directory} is in use by another sandbox .*process ${sandbox.process.pid}.*$`)
    )
  })

  it("restarts a killed server with the same port and data", async () => {
    const { localPart } = await agent.createMailbox(freshName())
    const pid = await killAndRestart("server")
    expect(await sandbox.describe()).toEqual({
      ...description,
      processes: { ...description.processes, server: pid },
      servers: [{ ...description.servers[0], pid }]
    })
    expect(await mailboxes(agent)).toContain(localPart)
  })

  it.each<ProcessName>(["chain", "facilitator", "relay"])("restarts the %s, and continues", async (name) => {
    const before = await balances(description)
    await killAndRestart(name)
    expect(await balances(description)).toEqual(before)
    const { mailboxId } = await agent.createMailbox(freshName())
    const to = ["friend@outside.example"]
    const sent = await agent.pay({
      path: "/api/v1/email/messages/send",
      body: { mailboxId, to, subject: "Still here", text: "As ever." }
    })
    expect(sent.status).toBe(201)
  })
})

describe("the phone stand-ins", () => {
  it("restart the test agent with its own authority", async () => {
    expect(await agentStatus(description)).toBe(200)
    await killAndRestart("agent")
    expect(await agentStatus(description)).toBe(200)
  })

  it("restart the carrier with its numbers", async () => {
    const buyer = new Agent(description, description.wallets[1]!.privateKey)
    const { number, phoneNumberId } = await buyNumber(buyer)
    expect(number).toMatch(/^\+1415555010\d$/)
    await killAndRestart("carrier")
    expect(await canCall(buyer, phoneNumberId, number)).toBe(true)
    // An owned number is not for sale.
    expect((await buyNumber(buyer)).number).not.toBe(number)
  })
})

describe("the end of a sandbox", () => {
  const before: { mailboxes: ReadonlyArray<string>; balances: ReadonlyArray<bigint> } = { mailboxes: [], balances: [] }

  const expectSameData = async (): Promise<void> => {
    const token = agent.token
    agent = new Agent(description, description.wallets[0]!.privateKey)
    agent.token = token
    expect(await mailboxes(agent)).toEqual(before.mailboxes)
    expect(await balances(description)).toEqual(before.balances)
  }

  it("ends all processes at SIGTERM, with exit code 0", async () => {
    before.mailboxes = await mailboxes(agent)
    before.balances = await balances(description)
    const family = familyOf(sandbox.process.pid!)
    expect(family.length).toBeGreaterThan(6)
    expect(await sandbox.stop()).toBe(0)
    await untilGone(family, 60_000)
    expect(existsSync(join(directory, "sandbox.json"))).toBe(false)
  })

  it("keeps mailboxes, tokens and balances for the next start", async () => {
    const { agentWebhookUrl, baseUrl, chain, chains, carrier, facilitatorUrl, mail } = description
    await start()
    await expectSameData()
    // Numbers that were bought before, and profiles of agentctl, use these URLs. Only a port that another process took
    // meanwhile is replaced.
    for (const [now, then] of [
      [description.baseUrl, baseUrl],
      [description.agentWebhookUrl, agentWebhookUrl],
      [description.chain.rpcUrl, chain.rpcUrl],
      [description.chains[1]!.rpcUrl, chains[1]!.rpcUrl],
      [description.carrier.url, carrier.url],
      [description.facilitatorUrl, facilitatorUrl],
      [description.mail.relayFaultsUrl, mail.relayFaultsUrl],
      [`smtp://127.0.0.1:${description.mail.port}`, `smtp://127.0.0.1:${mail.port}`]
    ] as const) {
      if (now !== then) expect(await isListening("127.0.0.1", Number(new URL(then).port))).toBe(true)
    }
  })

  it("ends all processes after SIGKILL, while the next start already begins", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGKILL")
    await once(sandbox.process, "exit")
    await start()
    await untilGone(family, 60_000)
    await expectSameData()
  })

  it("ends all processes at SIGTERM, even while they are stopped and answer no signal", async () => {
    const pids = Object.values((await sandbox.describe()).processes)
    const family = familyOf(sandbox.process.pid!)
    for (const pid of pids) process.kill(pid, "SIGSTOP")
    // They are killed when their grace periods are over. Otherwise this would not end.
    expect(await sandbox.stop()).toBe(0)
    await untilGone(family, 60_000)
    await start()
    await expectSameData()
  })

  it("ends all processes at SIGINT", async () => {
    const family = familyOf(sandbox.process.pid!)
    sandbox.process.kill("SIGINT")
    expect(await once(sandbox.process, "exit")).toEqual([0, null])
    await untilGone(family, 60_000)
  })
})

describe("a sandbox that cannot start", () => {
  it("reports an invalid command line", () => {
    const { status, stderr, stdout } = run(["--sideways"])
    expect(status).toBe(2)
    expect(stderr).toMatch(/--sideways/)
    expect(stderr).toMatch(/Usage/)
    expect(stdout).toBe("")
    expect(run(["--help"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/--no-tour/), stderr: "" })
  })

  it("reports an unreadable certificate of the user's agent", () => {
    const caFile = join(directory, "missing.pem")
    const allow = ["--allow-webhook", "127.0.0.1:9443", "--allow-webhook-ca", caFile]
    const { status, stderr } = run(["--no-tour", "--port", "0", "--data", directory, ...allow])
    expect(status).toBe(1)
    expect(stderr).toContain("--allow-webhook-ca: the file could not be read: ENOENT")
    expect(stderr).toContain(caFile)
  })

  it("reports a port that is in use", async () => {
    const { createServer } = await import("node:net")
    const holder = createServer().listen(0, "127.0.0.1")
    await once(holder, "listening")
    const { port } = holder.address() as { readonly port: number }
    const { status, stderr } = run(["--no-tour", "--port", String(port), "--data", directory])
    holder.close()
    expect(status).toBe(1)
    expect(stderr).toContain(`Port ${port} is in use`)
  })

  it("uses the next free port if the default one is in use", async () => {
    const { createServer } = await import("node:net")
    const holder = createServer().listen(8402, "127.0.0.1")
    // Another program may hold it already.
    await once(holder, "listening").catch(() => undefined)
    onTestFinished(() => void holder.close())
    const other = mkdtempSync(join(tmpdir(), "agentos-busy-"))
    const child = spawn(process.execPath, [MAIN, "--no-tour", "--data", other], { stdio: ["ignore", "pipe", "ignore"] })
    onTestFinished(() => rmSync(other, { recursive: true, force: true }))
    let said = ""
    await new Promise<void>((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text
        if (said.includes("Using port")) resolve()
      })
      child.once("exit", () => resolve())
    })
    child.kill("SIGTERM")
    if (child.exitCode === null) await once(child, "exit")
    expect(said).toMatch(/^Port 8402 is in use\. Using port \d+\.$/m)
  })

  it("shows the log of the failed server, and leaves no process behind", () => {
    const nowhere = "postgres://user:secret@127.0.0.1:9/nothing?sslmode=disable&connect_timeout=1"
    const { status, stderr } = run(["--no-tour", "--port", "0", "--data", directory], { DATABASE_URL: nowhere })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^The server ended with exit code \d+\. Last lines of .*server\.log:\n.*\w/)
    expect(existsSync(join(directory, "sandbox.json"))).toBe(false)
  })
})
