import { MailService } from "@agentos/sandbox"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { newWallets } from "../faults/client/Wallet.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import { freshName } from "../support/Agent.ts"
import { TRANSFER_METHODS } from "../support/Authorization.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { openDatabase } from "../support/ClusterDatabase.ts"
import { testSeed } from "../support/Random.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import { Treasury } from "../support/Treasury.ts"
import { KNOWN_WALLETS, RaceRun } from "./RaceRun.ts"
import { sharedAllowance } from "./InboundRace.ts"
import { races } from "./Races.ts"
import { repeatedReports } from "./ReportRace.ts"
import { type Race, SETUP } from "./Round.ts"

/** Fewer by the second method, whose races differ in their authorization alone. */
const ROUNDS = { eip3009: { email: 10, phone: 10 }, permit2: { email: 3, phone: 1 } }
const UNPAID: ReadonlySet<Race> = new Set([sharedAllowance, repeatedReports])
const TIMEOUT_MILLIS = 240_000
const SEED = testSeed()

describe.each(TRANSFER_METHODS)("two servers over one PostgreSQL, paid by %s", (transferMethod) => {
  const roundsOf = (race: string) => ROUNDS[transferMethod][race.startsWith("phone:") ? "phone" : "email"]
  let cluster: Cluster
  let run: RaceRun

  beforeAll(async () => {
    // A paused server's open transactions block their tenants for this long.
    const environment = { AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: "10" }
    cluster = await startCluster({ servers: 2, telephones: true, environment, paymentMethod: transferMethod })
    run = await RaceRun.open(cluster, SEED)
  })
  afterAll(() => cluster?.stop())

  /** By the second method, those that pay. */
  const chosen = transferMethod === "permit2" ? races.filter((race) => !UNPAID.has(race)) : races

  it.each(chosen)(
    "answer as they should: $name",
    async (race) => {
      await run.play(race, roundsOf(race.name))
      expect(linesOf(run.judgeAnswers(race))).toEqual([])
    },
    TIMEOUT_MILLIS
  )

  it("charge and serve each winner once, and no loser, even after all payments have expired", async () => {
    await run.untilExpired()
    const { rows, violations } = await run.judge()
    expect(linesOf(violations).join("\n")).toBe("")
    for (const { charges, race, refunds, rounds, winners } of rows) {
      expect({ race, charged: charges - refunds }).toEqual({ race, charged: winners })
      expect(rounds).toBeGreaterThanOrEqual(race === SETUP ? KNOWN_WALLETS : roundsOf(race))
    }
  })

  it("have a ledger that equals the chain", async () => {
    const { output, status } = await runServerCommand(["ledger"], cluster.servers[0]!.environment())
    expect([status, output]).toEqual([0, expect.stringContaining(cluster.chain.asset.toLowerCase())])
  })

  it.runIf(transferMethod === "eip3009")("deliver a mail once after the server that reads it was killed", async () => {
    const [reader, other] = cluster.servers
    const [wallet] = await newWallets(cluster, new Treasury(cluster.chain), 1, 1)
    const agent = wallet!.on(1)
    const { address, mailboxId } = await agent.createMailbox(freshName())
    const received = async () => {
      const { body } = await agent.send({ path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })
      return (body.data["items"] as unknown as ReadonlyArray<{ subject: string }>).map(({ subject }) => subject)
    }
    const raw = Buffer.from(`From: bob@outside.example\r\nTo: ${address}\r\nSubject: Twice read\r\n\r\nHello\r\n`)
    const waiting = "select pid from pg_locks where relation = 'messages'::regclass and not granted"
    const holder = openDatabase(cluster.database.url)
    onTestFinished(holder.close)
    await holder.execute("set idle_in_transaction_session_timeout = 0", "begin", "lock table messages in share mode")
    // Otherwise it could lease the mail first.
    other!.freeze()
    try {
      // The reader stores the message that it has read, and waits.
      const envelope = { mailFrom: "bob@outside.example", rcptTo: [address] }
      await new MailService(reader!.mail.host, reader!.mail.port).deliver(envelope, raw)
      await vi.waitFor(async () => expect(await holder.execute(waiting)).toHaveLength(1), {
        timeout: 60_000,
        interval: 20
      })
    } finally {
      other!.thaw()
    }
    expect(await received()).toEqual([])
    await reader!.kill()
    onTestFinished(reader!.start)
    // Its statement would otherwise be executed after its end.
    await holder.execute(`select pg_terminate_backend(pid) from (${waiting}) as writers`, "rollback")
    await vi.waitFor(async () => expect(await received()).toEqual(["Twice read"]), { timeout: 60_000, interval: 100 })
  })
})
