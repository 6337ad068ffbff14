import { createTransport } from "nodemailer"
import { setTimeout as sleep } from "node:timers/promises"
import { failProviders, type Pace, RandomClient } from "../crash/RandomKills.ts"
import { type Outcome, settle } from "../crash/Settle.ts"
import type { Shop } from "../crash/Shop.ts"
import { type FaultKind, inflict, planFaults } from "../faults/fault/Fault.ts"
import { clearProviderFaults } from "../faults/fault/ProviderFaults.ts"
import { Wallet } from "../faults/client/Wallet.ts"
import { countOpen } from "../faults/observation/LeaseAudit.ts"
import { usageOf } from "../bench/ProcessUsage.ts"
import type { Cluster, ClusterServer } from "../support/Cluster.ts"
import { openDatabase } from "../support/ClusterDatabase.ts"
import type { Random } from "../support/Random.ts"
import { Realtime } from "../support/Realtime.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import type { MemorySample } from "./Memory.ts"

export interface SoakOptions {
  readonly random: Random
  readonly seconds: number
  readonly clients: number
  /** The first server is never killed or restarted, so that its memory can be followed. */
  readonly faults: number
  readonly say?: (line: string) => void
}

export interface SoakResult {
  readonly outcome: Outcome
  readonly inflicted: ReadonlyMap<FaultKind, number>
  /** Mails that were accepted with 250, and those of them that no mailbox has. */
  readonly mails: { readonly accepted: number; readonly missing: ReadonlyArray<string> }
  readonly acknowledged: number
  /** Events without an acknowledgement, and operations that are not final, at the end. */
  readonly open: { readonly events: number; readonly operations: number }
  /** The last lines of `agentos-server ledger`. */
  readonly ledger: { readonly status: number | null; readonly output: string }
  /** Of the first server. */
  readonly memory: ReadonlyArray<MemorySample>
}

export const SERVERS = 3
const FUNDS = 100_000
const PACE: Pace = { pauseMillis: 500, numbersMax: 60 }
const MAIL_EVERY_MILLIS = 300
const RETRY_MILLIS = 500
const SAMPLE_EVERY_MILLIS = 5_000
const SETTLE_MILLIS_MAX = 120_000
const PAGE = 100

const wait = (millis: number, signal?: AbortSignal): Promise<unknown> =>
  sleep(millis, undefined, { signal, ref: false }).catch(() => undefined)

/** Buys, sends mail and handles events on three servers while two of them and the providers fail; then settles everything. */
export const runSoak = async (shop: Shop, options: SoakOptions): Promise<SoakResult> => {
  const { clients, faults, random, say, seconds } = options
  const { cluster, treasury } = shop.testbed
  const tenants: Array<{ readonly wallet: Wallet; readonly address: string; readonly mailboxId: string }> = []
  for (let index = 0; index < clients; index++) {
    // Each client has a server of its own.
    const own = index % SERVERS
    const wallet = new Wallet([...cluster.servers.slice(own), ...cluster.servers.slice(0, own)])
    await treasury.fund([wallet.address], FUNDS)
    const { localPart, mailboxId } = await shop.newMailbox(wallet)
    tenants.push({ wallet, mailboxId, address: `${localPart}@${cluster.emailDomain}` })
  }
  const ended = new AbortController()
  const drained = new AbortController()
  const { signal } = ended
  const reading = tenants.map(({ wallet }) => new Reader(wallet, drained.signal))
  const addresses = tenants.map(({ address }) => address)
  const mailing = new Sender(cluster, addresses)
  const inflicted = new Map<FaultKind, number>()
  const memory: Array<MemorySample> = []
  const startedAt = performance.now()
  const working = [
    ...tenants.map(({ wallet }, index) => new RandomClient(shop, wallet, random.fork(index), PACE).run(signal)),
    mailing.run(random.fork(clients), signal),
    failProviders(shop, planFaults({ "provider failed": 1 }, seconds, random.fork(clients + 1)), signal),
    failServers(cluster, planFaults({ killed: 1, restarted: 1, paused: 1 }, faults, random.fork(clients + 2)), {
      seconds,
      signal,
      inflicted,
      random: random.fork(clients + 3)
    }),
    sampleMemory(cluster.servers[0]!, startedAt, memory, signal, (minutes, bytes) =>
      say?.(
        `${minutes.toFixed(1)} min: ${shop.purchases.length} purchases, ${mailing.accepted.length} mails, ${(bytes / 1e6).toFixed(0)} MB`
      )
    )
  ]
  await sleep(seconds * 1_000)
  ended.abort()
  await Promise.all(working)
  await clearProviderFaults(cluster)
  const calmAt = performance.now()
  const outcome = await settle(shop, shop.purchases, () => calmAt)
  const missing = await mailing.missing(tenants)
  const database = openDatabase(cluster.database.url)
  try {
    const openEvents = () => countOpen(database)
    for (const deadline = performance.now() + SETTLE_MILLIS_MAX; (await openEvents()) > 0; await sleep(RETRY_MILLIS))
      if (performance.now() > deadline) break
    drained.abort()
    await Promise.all(reading.map(({ ended: end }) => end))
    const [row] = await database.execute(
      "select count(*) as count from operations where state not in ('fulfilled', 'refunded', 'refused', 'unpaid')"
    )
    const ledger = await runServerCommand(["ledger"], cluster.servers[0]!.environment())
    return {
      outcome,
      inflicted,
      mails: { accepted: mailing.accepted.length, missing },
      acknowledged: reading.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      open: { events: await openEvents(), operations: Number(row?.["count"]) },
      ledger: { status: ledger.status, output: (ledger.output + ledger.errors).trim() },
      memory
    }
  } finally {
    drained.abort()
    await database.close()
  }
}

interface FailOptions {
  readonly seconds: number
  readonly signal: AbortSignal
  readonly inflicted: Map<FaultKind, number>
  readonly random: Random
}

/** Inflicts faults one after the other, never on the first server. */
const failServers = async (
  { servers }: Cluster,
  faults: ReturnType<typeof planFaults>,
  { inflicted, random, seconds, signal }: FailOptions
): Promise<void> => {
  for (const fault of faults) {
    await wait((seconds * 1_000) / (faults.length + 1), signal)
    if (signal.aborted) return
    if (fault.kind !== "killed" && fault.kind !== "restarted" && fault.kind !== "paused") continue
    await inflict(fault, servers[1 + random.integer(servers.length - 1)]!)
    inflicted.set(fault.kind, (inflicted.get(fault.kind) ?? 0) + 1)
  }
}

const sampleMemory = async (
  server: ClusterServer,
  startedAt: number,
  samples: Array<MemorySample>,
  signal: AbortSignal,
  tell: (minutes: number, bytes: number) => void
): Promise<void> => {
  for (let taken = 1; !signal.aborted; taken++) {
    const minutes = (performance.now() - startedAt) / 60_000
    const { residentBytes } = usageOf(server.pid())
    samples.push({ minutes, bytes: residentBytes })
    if (taken % 12 === 0) tell(minutes, residentBytes)
    await wait(SAMPLE_EVERY_MILLIS, signal)
  }
}

/** Sends mail to the mailboxes, and repeats each until a server accepts it. */
class Sender {
  readonly accepted: Array<string> = []
  readonly #servers: ReadonlyArray<ClusterServer>
  readonly #addresses: ReadonlyArray<string>

  constructor({ servers }: Cluster, addresses: ReadonlyArray<string>) {
    this.#servers = servers
    this.#addresses = addresses
  }

  async run(random: Random, signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted; number++) {
      const subject = `soak ${number}`
      const text = "A line of text.\n".repeat(1 + random.integer(200))
      const mail = { from: `friend${number % 50}@outside.example`, to: random.pick(this.#addresses), subject, text }
      while (!signal.aborted) {
        const { host, port } = random.pick(this.#servers).mail
        const transport = createTransport({ host, port, tls: { rejectUnauthorized: false }, socketTimeout: 30_000 })
        const isAccepted = await transport.sendMail(mail).then(
          () => true,
          () => false
        )
        transport.close()
        if (isAccepted) {
          this.accepted.push(subject)
          break
        }
        await wait(RETRY_MILLIS, signal)
      }
      await wait(MAIL_EVERY_MILLIS, signal)
    }
  }

  /** Returns the subjects of accepted mails that are in no mailbox, once the servers have had time to store them. */
  async missing(
    tenants: ReadonlyArray<{ readonly wallet: Wallet; readonly mailboxId: string }>
  ): Promise<ReadonlyArray<string>> {
    for (const deadline = performance.now() + SETTLE_MILLIS_MAX; ; await sleep(RETRY_MILLIS)) {
      const stored = new Set((await Promise.all(tenants.map(subjectsOf))).flat())
      const missing = this.accepted.filter((subject) => !stored.has(subject))
      if (missing.length === 0 || performance.now() > deadline) return missing
    }
  }
}

/** The subjects of all received messages of a mailbox. */
const subjectsOf = async ({
  mailboxId,
  wallet
}: {
  readonly wallet: Wallet
  readonly mailboxId: string
}): Promise<ReadonlyArray<string>> => {
  const subjects: Array<string> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const after: string = cursor === "" ? "" : `&cursor=${cursor}`
    const reply = await wallet.on().send({
      path: `/api/v1/email/messages/query?mailboxId=${mailboxId}&direction=inbound&limit=${PAGE}${after}`
    })
    const page = reply.body.data as unknown as {
      readonly items: ReadonlyArray<{ readonly subject: string }>
      readonly nextCursor: string | null
    }
    subjects.push(...page.items.map(({ subject }) => subject))
    cursor = page.nextCursor
  }
  return subjects
}

/** A session of a wallet that acknowledges every event, and connects again, to the next server, when it is closed. */
class Reader {
  acknowledged = 0
  readonly ended: Promise<void>
  readonly #wallet: Wallet

  constructor(wallet: Wallet, signal: AbortSignal) {
    this.#wallet = wallet
    this.ended = this.#run(signal)
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      const session = await Realtime.open(this.#wallet.on(turn % SERVERS)).catch(() => undefined)
      if (session === undefined) {
        await wait(RETRY_MILLIS, signal)
        continue
      }
      const { socket } = session
      const close = () => socket.terminate()
      signal.addEventListener("abort", close, { once: true })
      socket.on("message", (data: Buffer) => {
        const { deliveryId, event, type } = JSON.parse(data.toString("utf8")) as {
          readonly type: string
          readonly deliveryId?: string
          readonly event?: { readonly eventId: string }
        }
        if (type !== "event.delivery" || event === undefined) return
        session.send({ type: "event.ack", eventId: event.eventId, deliveryId })
        this.acknowledged++
      })
      await new Promise((resolve) => socket.once("close", resolve))
      signal.removeEventListener("abort", close)
    }
  }
}
