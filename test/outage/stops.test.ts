import { startPostgres } from "@agentos/postgres/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { carryThrough, sign } from "../crash/Client.ts"
import type { CrashPurchase, Service } from "../crash/Purchase.ts"
import { settle } from "../crash/Settle.ts"
import { Shop } from "../crash/Shop.ts"
import { planProviderFault, type ProviderFault, untilFaultMet } from "../faults/fault/ProviderFaults.ts"
import type { Payment } from "../faults/observation/Purchases.ts"
import { Testbed, type TestbedOptions } from "../faults/server/Testbed.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import type { ClusterServer, Termination } from "../support/Cluster.ts"
import { type Forwarder, startForwarder } from "../support/Forwarder.ts"
import { Realtime } from "../support/Realtime.ts"
import { openStuckClients } from "./StuckClients.ts"

/** Longest time from SIGTERM to the end, in milliseconds. */
const STOPPED_WITHIN = 15_000
/** Runs wait for the leases of servers that were ended, and for the expiry of payments. */
const TIMEOUT_MILLIS = 400_000
const SERVER_MAIN = fileURLToPath(import.meta.resolve("@agentos/server/main"))

const ends: Array<() => Promise<unknown> | void> = []
afterEach(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
})

/** A shop with one server, which runs as users run it. */
const open = async (options: Omit<TestbedOptions, "isReal">) => {
  const testbed = await Testbed.start({ ...options, isReal: true })
  ends.push(() => testbed.stop())
  const shop = new Shop(testbed)
  return { shop, testbed, server: testbed.cluster.servers[0]! }
}

/** A PostgreSQL behind an address that can fall silent. */
const startSilenced = async (): Promise<{
  readonly url: string
  readonly servedUrl: string
  readonly forwarder: Forwarder
}> => {
  const postgres = await startPostgres({ settings: { synchronous_commit: "on", max_connections: "200" } })
  ends.push(postgres.stop)
  const forwarder = await startForwarder(() => Number(new URL(postgres.url).port))
  ends.push(forwarder.stop)
  return {
    url: postgres.url,
    servedUrl: `postgres://postgres@127.0.0.1:${forwarder.port}/postgres`,
    forwarder
  }
}

/** Expects an end in time: with 0, or with 1 and a line that names the unfinished work. */
const expectEnd = (server: ClusterServer, { exit, millis }: Termination): void => {
  console.log(`ended with ${exit.code} after ${Math.round(millis)} ms`)
  const hasGivenUp = /did not stop within \d+ s and is ended\. Not finished: |did not end within \d+ s/.test(
    server.log()
  )
  expect(exit).toEqual({ code: hasGivenUp ? 1 : 0, signal: null })
  expect(millis).toBeLessThan(STOPPED_WITHIN)
}

const expectGraceful = (server: ClusterServer, termination: Termination): void => {
  expectEnd(server, termination)
  expect(termination.exit).toEqual({ code: 0, signal: null })
}

/** Starts the server again, and expects of each purchase that it was not charged, delivered or refunded. */
const expectSettled = async (shop: Shop, server: ClusterServer): Promise<void> => {
  await server.start()
  const restartedAt = performance.now()
  const { verdict, violations } = await settle(shop, shop.purchases, () => restartedAt)
  console.log([...verdict.ends.values()].join(", "))
  expect(linesOf(violations)).toEqual([])
}

/** Clients that send signed payments and repeat them until the answer is final. */
class Buyers {
  readonly #shop: Shop
  readonly #ended = new AbortController()
  readonly #clients: Array<Promise<void>> = []

  constructor(shop: Shop) {
    this.#shop = shop
    ends.push(() => this.stop())
  }

  begin(purchase: CrashPurchase, payment: Payment): void {
    this.#clients.push(carryThrough(purchase, payment, this.#ended.signal))
  }

  /** Sends a payment for a mailbox at each of these times. */
  async spread(count: number): Promise<void> {
    const wallet = await this.#shop.newTenant()
    for (let number = 0; number < count; number++) {
      const purchase = await this.#shop.newPurchase("email.mailbox.create", {
        group: "stop",
        client: "repeats",
        wallet
      })
      this.begin(purchase, await sign(purchase))
    }
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#clients)
  }
}

/** What each provider hangs in, and a purchase that needs it. */
const HANGS: ReadonlyArray<readonly [ProviderFault["operation"], Service]> = [
  ["settle", "email.mailbox.create"],
  ["send", "email.message.send"],
  ["buy", "phone.number.us.30d"],
  ["call", "phone.call.outbound.1m"]
]

const subjectOf = ({ goods }: CrashPurchase, { authorization }: Payment): string => {
  if (goods.kind === "mail") return goods.recipient
  if (goods.kind === "number") return goods.areaCode
  return goods.kind === "call" ? goods.toNumber : authorization.nonce
}

/** Prepares a payment whose provider will accept the request and not answer. Returns what sends it, and resolves when that is so. */
const prepareHang = async (shop: Shop, buyers: Buyers, [operation, service]: (typeof HANGS)[number]) => {
  const wallet = await shop.newTenant()
  const area = operation === "buy" ? "own" : "calm"
  const purchase = await shop.newPurchase(service, { group: operation, client: "repeats", wallet, area })
  const payment = await sign(purchase)
  const fault = { operation, mode: "hang", only: subjectOf(purchase, payment) } as const
  await planProviderFault(shop.testbed.cluster, fault)
  return async (): Promise<void> => {
    buyers.begin(purchase, payment)
    await untilFaultMet(shop.testbed.cluster, fault)
  }
}

describe("SIGTERM ends agentos-server within 15 s", () => {
  it.for([1, 2])(
    "while its PostgreSQL is silent on open and on new connections, with payments in flight (%i workers)",
    { timeout: TIMEOUT_MILLIS },
    async (workers) => {
      const { forwarder, ...databaseServer } = await startSilenced()
      const environment = { AGENTOS_WORKERS: String(workers) }
      const { server, shop } = await open({ database: "postgres", databaseServer, environment })
      const buyers = new Buyers(shop)
      const session = await Realtime.open((await shop.newTenant()).on())
      await session.next("session.ready")
      const begin = await prepareHang(shop, buyers, ["settle", "email.mailbox.create"])
      await begin()
      await buyers.spread(4)
      forwarder.mute()
      await expect.poll(async () => (await fetch(`${server.baseUrl}/health/ready`)).status).toBe(503)
      expectEnd(server, await server.terminate())
      session.close()
      forwarder.restore()
      await expectSettled(shop, server)
    }
  )

  it("while each provider accepts a paid request and does not answer", { timeout: TIMEOUT_MILLIS }, async () => {
    const { server, shop } = await open({ database: "pglite" })
    const buyers = new Buyers(shop)
    // The server ends the wait for the facilitator after 3 s, so nothing is prepared meanwhile.
    const begins = await Promise.all(HANGS.map((provider) => prepareHang(shop, buyers, provider)))
    await Promise.all(begins.map((begin) => begin()))
    expectGraceful(server, await server.terminate())
    await expectSettled(shop, server)
  })

  it(
    "while clients do not read, or stop in the middle of a request or a mail",
    { timeout: TIMEOUT_MILLIS },
    async () => {
      const { server, shop, testbed } = await open({ database: "postgres" })
      const wallet = await shop.newTenant()
      const [mailbox] = await wallet.mailboxes()
      const clients = await openStuckClients(testbed, wallet, mailbox!)
      ends.push(clients.close)
      expectGraceful(server, await server.terminate())
      expect(await clients.unreadBytes()).toBeGreaterThan(0)
    }
  )

  it("while its embedded database is busy, with payments in flight", { timeout: TIMEOUT_MILLIS }, async () => {
    const { server, shop } = await open({ database: "pglite" })
    const buyers = new Buyers(shop)
    await buyers.spread(1)
    let isOver = false
    let answers = 0
    const wallet = await shop.newTenant()
    const readers = Array.from({ length: 40 }, async () => {
      while (!isOver) {
        const answered = await wallet.mailboxes().catch(() => undefined)
        if (answered === undefined) return
        answers++
      }
    })
    await buyers.spread(8)
    await expect.poll(() => answers).toBeGreaterThan(200)
    const termination = await server.terminate()
    isOver = true
    await Promise.all(readers)
    expectGraceful(server, termination)
    await expectSettled(shop, server)
  })
})

/** Each command with its exit code when it is interrupted. */
const COMMANDS: ReadonlyArray<readonly [command: string, code: number]> = [
  ["start", 0],
  ["start --workers 2", 0],
  ["migrate", 130],
  ["check-config", 130],
  ["ledger", 130],
  ["jobs list", 130]
]

it(
  "SIGTERM ends each command of agentos-server within 15 s while its PostgreSQL is silent",
  { timeout: TIMEOUT_MILLIS },
  async () => {
    const { forwarder, ...databaseServer } = await startSilenced()
    const { server } = await open({ database: "postgres", databaseServer })
    expectGraceful(server, await server.terminate())
    for (const [command, code] of COMMANDS) {
      forwarder.mute()
      const connected = forwarder.nextConnection()
      const child = spawn(process.execPath, [SERVER_MAIN, ...command.split(" ")], {
        env: { ...server.environment() },
        stdio: "ignore"
      })
      const exited = once(child, "exit")
      await connected
      const signaledAt = performance.now()
      child.kill("SIGTERM")
      expect([command, ...(await exited)]).toEqual([command, code, null])
      expect(performance.now() - signaledAt).toBeLessThan(STOPPED_WITHIN)
      forwarder.restore()
    }
  }
)
