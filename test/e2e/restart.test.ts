import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startPostgres } from "@agentos/postgres/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Agent, freshName, type Reply } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

type Description = Awaited<ReturnType<Sandbox["describe"]>>

const KEY_1 = `1:${"k".repeat(44)}`
const KEY_2 = `2:${"l".repeat(44)}`

const ID = "01900000-0000-7000-8000-000000000001"
const WALLET = `0x${"a".repeat(40)}`
/** An operation that was claimed under key 1 and is due in an hour. */
const openOperation = [
  `insert into tenants (tenant_id, wallet, token_version, created_at) values ('${ID}', '${WALLET}', 1, 0)`,
  `insert into operations (
    operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, network, asset, payer, nonce,
    amount, proof, terms, input, plan, state, fence, due_at, created_at, updated_at
  ) values (
    '${ID}', '${ID}', 'email.mailbox.create', 'POST /', 'a', 'a', 'a', 'eip155:196', '0xb', '${WALLET}', '0xc',
    1, '{}', '{"extra":{"keyId":1}}', '{}', '{}', 'claimed', 1, epoch_millis() + 3600000, 0, 0
  )`
]

const MAIN = fileURLToPath(import.meta.resolve("@agentos/server/main"))

/** Starts an unsupervised server; gives its output so far and its exit status. */
const startServer = (
  { baseUrl, chain, facilitatorUrl }: Description,
  environment: Readonly<Record<string, string>>
) => {
  const network = { network: chain.network, rpcUrl: chain.rpcUrl, asset: chain.asset, decimals: 6, confirmations: 1 }
  const child = spawn(process.execPath, [MAIN, "start"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      NODE_OPTIONS: process.env["NODE_OPTIONS"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      AGENTOS_ENVIRONMENT: "sandbox",
      AGENTOS_PUBLIC_URL: baseUrl,
      AGENTOS_PORT: "0",
      AGENTOS_KEYS: KEY_1,
      AGENTOS_NETWORKS: JSON.stringify([
        {
          ...network,
          name: chain.assetName,
          version: chain.assetVersion,
          payTo: chain.payTo,
          maxTimeoutSeconds: 30,
          facilitator: { url: facilitatorUrl }
        }
      ]),
      ...environment
    }
  })
  let said = ""
  const listening = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text
        if (said.includes('"listening"')) resolve()
      })
    }
  })
  const ended = once(child, "close").then(([status]: ReadonlyArray<number | null>) => status)
  return { child, listening, ended, said: () => said }
}

/** Milliseconds after the first of a batch of paid requests at which the server is killed, once each. */
const KILLS = [100, 500]
const COPIES = 8
const PATIENCE_MILLIS = 60_000
/** Payments are valid for 30 s. In their last seconds, a facilitator may refuse them already. */
const EXPIRY_MILLIS = 20_000
const POLL_MILLIS = 300

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Repeats a request until its outcome is final, also if connections are refused. */
const finished = async (attempt: () => Promise<Reply>): Promise<Reply> => {
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const reply = await attempt().catch(() => undefined)
    if (reply !== undefined && !reply.body.error?.retryable) return reply
    if (Date.now() > deadline) throw new Error(`timed out: ${reply?.text}`)
    await pause(POLL_MILLIS)
  }
}

/** Kills the server and waits until another one serves. */
const replaceServer = async (sandbox: Sandbox): Promise<void> => {
  const { baseUrl, processes } = await sandbox.describe()
  process.kill(processes.server, "SIGKILL")
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const { server } = (await sandbox.describe()).processes
    if (server !== processes.server && (await fetch(`${baseUrl}/api/v1`).catch(() => undefined))?.ok) return
    if (Date.now() > deadline) throw new Error(`the server was not restarted:\n${sandbox.output()}`)
    await pause(POLL_MILLIS)
  }
}

describe("a server", () => {
  let sandbox: Sandbox
  let description: Description
  beforeAll(async () => {
    sandbox = await startSandbox()
    description = await sandbox.describe()
  })
  afterAll(() => sandbox?.stop())

  it("refuses to start on an embedded database that is in use, prints a fix, and does not disturb its user", async () => {
    const server = startServer(description, { AGENTOS_DATA_DIR: join(sandbox.directory, "database") })
    expect(await server.ended).toBe(1)
    expect(server.said()).toMatch(
      /^Error: .* is in use by process \d+: stop it first, or choose another directory\. .*PostgreSQL/m
    )
    expect(server.said()).not.toContain("listening")
    expect((await fetch(`${description.baseUrl}/api/v1`)).status).toBe(200)
  })

  it("reports unknown settings, and starts only with the keys of all open operations", async () => {
    const postgres = await startPostgres()
    const runs: Array<ReturnType<typeof startServer>> = []
    const run = (keys: string, more: Readonly<Record<string, string>> = {}) => {
      const server = startServer(description, { DATABASE_URL: postgres.url, AGENTOS_KEYS: keys, ...more })
      runs.push(server)
      return server
    }
    const stopped = async (server: ReturnType<typeof startServer>) => {
      server.child.kill("SIGTERM")
      return server.ended
    }
    try {
      const first = run(KEY_1, { AGENTOS_EMIAL_DOMAIN: "agents.example" })
      await first.listening
      expect(first.said()).toContain(
        "AGENTOS_EMIAL_DOMAIN is not a setting of the server and has no effect. Did you mean AGENTOS_EMAIL_DOMAIN?"
      )
      expect(first.said().match(/is not a setting/g)).toHaveLength(1)
      await stopped(first)
      await execute(postgres.url, ...openOperation)
      const without = run(KEY_2)
      expect(await without.ended).toBe(3)
      expect(without.said()).toContain(
        "AGENTOS_KEYS must include the key with id 1, because open operations were claimed under it"
      )
      const both = run(`${KEY_1},${KEY_2}`)
      await both.listening
      expect(await stopped(both)).toBe(0)
    } finally {
      for (const { child } of runs) child.kill("SIGKILL")
      await postgres.stop()
    }
  })

  it("that is killed during paid requests charges and delivers each once", async () => {
    const agent = new Agent(description, description.wallets[0]!.privateKey)
    const prepare = async (key: string) => {
      const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
      const signedAt = Date.now()
      const signature = await agent.payment(request)
      return { signedAt, attempt: () => agent.replay(request, signature, key) }
    }
    const balance = () => new Chain(description).balanceOf(description.chain.payTo)
    const before = await balance()
    const early: Array<PromiseSettledResult<Reply>> = []
    const retries: Array<Promise<{ readonly reply: Reply; readonly millis: number }>> = []
    for (const millis of KILLS) {
      const attempts = await Promise.all(Array.from({ length: COPIES }, (_, index) => prepare(`${millis}-${index}`)))
      const answered = Promise.allSettled(attempts.map(({ attempt }) => attempt()))
      await pause(millis)
      await replaceServer(sandbox)
      early.push(...(await answered))
      // The outcome of some is known only when the leases of the killed server expire, after the next kill.
      retries.push(
        ...attempts.map(async ({ attempt, signedAt }) => ({
          reply: await finished(attempt),
          millis: Date.now() - signedAt
        }))
      )
    }
    const answers = await Promise.all(retries)
    const replies = answers.map(({ reply }) => reply)
    expect(replies).toHaveLength(KILLS.length * COPIES)
    const delivered = replies.filter(({ status }) => status === 201)
    expect(delivered).not.toEqual([])
    // On a busy machine, payments can expire before a server serves again: those are refused, and not charged.
    const isAllowed = ({ millis, reply: { status } }: (typeof answers)[number]) =>
      status === 201 || (status === 402 && millis > EXPIRY_MILLIS)
    expect(answers.filter((answer) => !isAllowed(answer))).toEqual([])
    expect((await balance()) - before).toBe(BigInt(delivered.length) * 250_000n)
    early.forEach((outcome, index) => {
      if (outcome.status === "fulfilled" && outcome.value.status === 201)
        expect(outcome.value.text).toBe(replies[index]!.text)
    })
    await agent.authenticate()
    // The retries may have used up the rate limit.
    const owned = await finished(() => agent.send({ path: "/api/v1/email/mailboxes/query" }))
    expect(owned).toMatchObject({ status: 200 })
    expect(owned.body.data["items"]).toHaveLength(delivered.length)
  })
})
