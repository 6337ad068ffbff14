import { copyDatabase } from "@agentos/postgres/testing"
import { randomUUID } from "node:crypto"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { generatePrivateKey } from "viem/accounts"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { inTurns } from "../faults/client/inTurns.ts"
import { createMailbox, updateMailbox } from "../faults/client/Requests.ts"
import { Agent, freshName, type Reply, type Request } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { type Cluster, type ClusterOptions, startCluster } from "../support/Cluster.ts"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import { Treasury } from "../support/Treasury.ts"
import { dump, postgresTools, restore } from "./PostgresTools.ts"

/** A kind of database with its way of backup. */
interface Backup {
  readonly options: Partial<ClusterOptions>
  /** Backs up the database of the cluster's server, which serves before and afterwards. */
  readonly take: (cluster: Cluster, folder: string) => Promise<void>
  /** Creates another database from the backup, and returns the setting that names it. */
  readonly restore: (cluster: Cluster, folder: string) => Promise<Readonly<Record<string, string>>>
}

const postgres = (tools: string): Backup => ({
  options: { databaseBinaries: tools, database: { synchronous_commit: "on" } },
  take: ({ database }, folder) => dump(tools, database.url, join(folder, "agentos.dump")),
  restore: async ({ database }, folder) => {
    await execute(database.url, "create database elsewhere")
    const url = databaseUrl(database.url, "elsewhere")
    await restore(tools, join(folder, "agentos.dump"), url)
    return { DATABASE_URL: url }
  }
})

const directoryOf = (cluster: Cluster): string => cluster.servers[0]!.environment()["AGENTOS_DATA_DIR"]!

const pglite: Backup = {
  options: { embedded: copyDatabase },
  take: async (cluster, folder) => {
    const server = cluster.servers[0]!
    await server.stop()
    await cp(directoryOf(cluster), join(folder, "database"), { recursive: true })
    await server.start()
  },
  restore: async (_cluster, folder) => ({ AGENTOS_DATA_DIR: join(folder, "database") })
}

const FUNDS = 10
const UPDATES = 16
/** Time in which the updates are paid. The backup begins in the middle. */
const UPDATES_MILLIS = 1_500
const PATIENCE_MILLIS = 120_000
/** Longer than the server is away. */
const PAYMENT_SECONDS = 300
const POLL_MILLIS = 200

/** A signed payment with everything that repeats it. */
interface Purchase {
  readonly agent: Agent
  readonly request: Request
  readonly signature: string
  readonly key: string
}

const signed = async (agent: Agent, request: Request): Promise<Purchase> => ({
  agent,
  request,
  signature: await agent.payment(request),
  key: randomUUID()
})

const present = ({ agent, key, request, signature }: Purchase): Promise<Reply> => agent.replay(request, signature, key)

const isDone = ({ body, status }: Reply): boolean => status < 300 || body.error?.paymentState === "refunded"

/** Repeats a purchase with its payment, also while the server is away, until it has succeeded or is refunded. */
const untilDone = async (purchase: Purchase): Promise<Reply> => {
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const reply = await present(purchase).catch(() => undefined)
    if (reply !== undefined && isDone(reply)) return reply
    if (Date.now() > deadline) throw new Error(`timed out: ${reply?.text}`)
    await sleep(POLL_MILLIS)
  }
}

interface Mailbox {
  readonly mailboxId: string
  readonly address: string
}

/** Takes the token of the answer for later requests, and returns the mailbox. */
const received = (agent: Agent, reply: Reply): Mailbox => {
  expect(reply.status).toBe(201)
  const data = reply.body.data as unknown as {
    readonly mailbox: Mailbox
    readonly authentication: { readonly accessToken: string }
  }
  agent.token = data.authentication.accessToken
  return data.mailbox
}

interface LedgerReport {
  readonly ok: boolean
  readonly ledger: ReadonlyArray<{ readonly settled: string; readonly problems: ReadonlyArray<string> }>
  readonly chain: ReadonlyArray<{
    readonly received: { readonly count: number; readonly amount: string }
    readonly paidBack: { readonly count: number }
    readonly unclaimed: ReadonlyArray<{ readonly wallet: string; readonly amount: string }>
    readonly problems: ReadonlyArray<string>
  }>
}

/** Checks the ledger of a server that does not run: an embedded database has one user. */
const checkLedger = async (cluster: Cluster) => {
  const { errors, output, status } = await runServerCommand(["ledger"], cluster.servers[0]!.environment())
  if (output === "") throw new Error(errors)
  const { chain, ledger, ok } = JSON.parse(output) as LedgerReport
  return { status, ok, ledger: ledger[0]!, chain: chain[0]! }
}

describe.concurrent.each([
  ["pg_dump of a PostgreSQL in use", postgresTools === undefined ? undefined : postgres(postgresTools)],
  ["the directory of a stopped PGlite", pglite]
] as const)("a server on a backup: %s", (title, backup) => {
  let cluster: Cluster
  let folder: string
  beforeEach(async () => {
    if (backup === undefined) return
    folder = await mkdtemp(join(tmpdir(), "agentos-backup-"))
    cluster = await startCluster({
      servers: 1,
      network: (planned) => ({ ...planned, maxTimeoutSeconds: PAYMENT_SECONDS }),
      ...backup.options
    })
  })
  afterEach(async () => {
    await cluster?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  it("continues: charges nothing twice, refunds payments that the backup lacks, and its ledger matches the chain", async (context) => {
    if (backup === undefined) {
      return context.skip("no PostgreSQL with pg_dump in /usr/lib/postgresql: apt-get install postgresql")
    }
    const [server] = cluster.servers
    const chain = new Chain(cluster)
    const early = new Agent(server!, cluster.chain.wallets[0]!.privateKey)
    const late = new Agent(server!, generatePrivateKey())
    await new Treasury(cluster.chain).fund([late.account.address], FUNDS)

    const first = await signed(early, createMailbox(freshName()))
    const sold = await present(first)
    const mailbox = received(early, sold)
    const names = Array.from({ length: UPDATES }, (_, index) => `Ada ${index}`)
    const updates = await inTurns(names, (name) => signed(early, updateMailbox(mailbox.mailboxId, name)))
    const updated = updates.map(async (purchase, index) => {
      await sleep((index * UPDATES_MILLIS) / UPDATES)
      return untilDone(purchase)
    })
    await sleep(UPDATES_MILLIS / 2)
    await backup.take(cluster, folder)
    for (const { status } of await Promise.all(updated)) expect(status).toBe(200)
    const change = await signed(early, updateMailbox(mailbox.mailboxId, "Grace"))
    expect((await present(change)).status).toBe(200)
    const lost = await signed(late, createMailbox(freshName()))
    received(late, await present(lost))
    await server!.kill()

    const paid = await chain.balanceOf(cluster.chain.payTo)
    server!.configure(await backup.restore(cluster, folder))
    const found = await checkLedger(cluster)
    expect(found).toMatchObject({ status: 6, ok: false, ledger: { problems: [] }, chain: { problems: [] } })
    const owners = found.chain.unclaimed.map(({ amount, wallet }) => `${wallet} ${amount}`)
    expect(owners).toContain(`${early.account.address.toLowerCase()} 10000`)
    expect(owners).toContain(`${late.account.address.toLowerCase()} 250000`)

    await server!.start()
    expect((await present(first)).text).toBe(sold.text)
    expect((await early.send({ path: "/api/v1/events" })).status).toBe(200)
    await createTransport({ ...server!.mail, tls: { rejectUnauthorized: false } }).sendMail({
      from: "friend@outside.example",
      to: mailbox.address,
      subject: "To the restored server",
      text: "Hello."
    })
    await vi.waitFor(async () => {
      const { body } = await early.send({ path: `/api/v1/email/messages/query?mailboxId=${mailbox.mailboxId}` })
      expect(body.data["items"]).toMatchObject([{ subject: "To the restored server" }])
    }, PATIENCE_MILLIS)

    // The tenant is not in the backup: its token is unknown until it buys again, and its payment is refunded.
    expect((await late.send({ path: "/api/v1/events" })).status).toBe(401)
    late.token = undefined
    expect((await present(lost)).body.error).toMatchObject({ code: "IDEMPOTENCY_CONFLICT", paymentState: "refund_due" })
    expect((await present(change)).body.error.paymentState).toBe("refund_due")
    const ends = await Promise.all([change, lost, ...updates].map(untilDone))
    expect(ends.slice(0, 2).map(({ body }) => body.error.paymentState)).toEqual(["refunded", "refunded"])
    expect(await chain.balanceOf(cluster.chain.payTo)).toBe(paid)
    const refunded = ends.filter(({ status }) => status === 409).length
    console.log(`${title}: ${UPDATES + 2 - refunded} of ${UPDATES} purchases during the backup were kept`)

    received(late, await late.pay(createMailbox(freshName())))
    await server!.stop()
    expect(await checkLedger(cluster)).toMatchObject({
      status: 0,
      ok: true,
      ledger: { settled: String(paid + 250_000n), problems: [] },
      chain: { received: { count: UPDATES + 4 }, paidBack: { count: refunded }, unclaimed: [], problems: [] }
    })
  })
})
