import { EventStore, type Tenant, Transactor, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { execute } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type Bench, type BenchRun, DURABLE, quantile, table } from "./Bench.ts"
import { startDiskProbe } from "./DiskProbe.ts"
import { familyCpuMillis, usageOf } from "./ProcessUsage.ts"
import { type Arrival, clockMillis, type SocketClients, startSocketClients } from "./SocketClients.ts"

/** When the append of an event was called, and when it was committed. */
interface Stored {
  readonly askedAt: number
  readonly committedAt: number
}

/** The warm-up, and the time for the last events to arrive. */
const WARM_UP_MILLIS = 15_000
const LAST_ARRIVAL_MILLIS = 5_000

/** Appends one event through the port. */
const appendOne = ({ tenantId }: Tenant) =>
  Effect.gen(function* () {
    const dedupeKey = yield* Uuid.next
    return yield* (yield* EventStore).append([
      {
        tenantId,
        type: "email.received",
        source: "smtp",
        service: "email",
        resourceId: dedupeKey,
        agentId: "an agent",
        payload: { subject: "a message", snippet: "x".repeat(200) },
        dedupeKey
      }
    ])
  })

/** The same in a transaction of the caller. */
const appendApart = (tenant: Tenant) => Effect.flatMap(Transactor, ({ transact }) => transact(appendOne(tenant)))

/** Stores events at a fixed rate, and records the times. */
class Producer {
  readonly #rig: RealtimeRig
  readonly #tenants: ReadonlyArray<Tenant>
  readonly #append: typeof appendOne | typeof appendApart

  constructor(rig: RealtimeRig, tenants: ReadonlyArray<Tenant>, append: typeof appendOne | typeof appendApart) {
    this.#rig = rig
    this.#tenants = tenants
    this.#append = append
  }

  async produce(rate: number, millis: number): Promise<ReadonlyMap<string, Stored>> {
    const stored = new Map<string, Stored>()
    const startedAt = performance.now()
    const appending: Array<Promise<unknown>> = []
    for (let sent = 0; performance.now() - startedAt < millis;) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate)
      for (; sent < due; sent++) appending.push(this.#appendNext(sent, stored))
      await sleep(1)
    }
    await Promise.all(appending)
    return stored
  }

  async #appendNext(place: number, stored: Map<string, Stored>): Promise<void> {
    const askedAt = clockMillis()
    const [event] = await this.#rig.run(this.#append(this.#tenants[place % this.#tenants.length]!))
    stored.set(event!.eventId, { askedAt, committedAt: clockMillis() })
  }
}

/** Processor time of each process, in milliseconds since its start. */
const cpuMeter = async ({ cluster }: RealtimeRig, clients: SocketClients) => {
  const [row] = await execute(
    cluster.database.url,
    "select pid from pg_stat_activity where application_name like 'agentos events%' limit 1"
  )
  return (): ReadonlyArray<readonly [name: string, millis: number]> => [
    ["the process that stores", usageOf(process.pid).cpuMillis],
    ...cluster.servers.map(({ pid }, index) => [`server ${index + 1}`, usageOf(pid()).cpuMillis] as const),
    ["PostgreSQL, all of its processes", familyCpuMillis(Number(row?.["pid"]))],
    ["the clients", usageOf(clients.pid).cpuMillis]
  ]
}

const sayLatencies = (
  { say }: BenchRun,
  stored: ReadonlyMap<string, Stored>,
  arrived: ReadonlyMap<string, number>
): void => {
  const row = (name: string, from: keyof Stored) => {
    const sorted = [...stored]
      .flatMap(([eventId, times]) => (arrived.has(eventId) ? [arrived.get(eventId)! - times[from]] : []))
      .toSorted((a, b) => a - b)
    return [name, ...[0.5, 0.95, 0.99, 0.999, 1].map((share) => quantile(sorted, share).toFixed(1))]
  }
  say(
    table(
      ["milliseconds to the frame", "p50", "p95", "p99", "p99.9", "most"],
      [row("from the commit", "committedAt"), row("from the call that stores", "askedAt")]
    )
  )
}

const firstArrivals = (arrivals: ReadonlyArray<Arrival>): ReadonlyMap<string, number> => {
  const arrived = new Map<string, number>()
  for (const [eventId, at] of arrivals) if (!arrived.has(eventId)) arrived.set(eventId, at)
  return arrived
}

export const latency: Bench = {
  summary:
    "commit of an event to its frame at a client, over two servers, each event by a third process; " +
    "--apart 1: each in a transaction that is begun and committed for it alone",
  options: { rate: 500, seconds: 30, sockets: 200, apart: 0 },
  run: async (bench) => {
    const [rate, seconds, count] = [bench.option("rate"), bench.option("seconds"), bench.option("sockets")]
    const isApart = bench.option("apart") > 0
    const rig = await startRealtimeRig({ servers: 2, database: DURABLE })
    bench.atEnd(rig.stop)
    const tenants = await rig.tenants(count)
    const clients = startSocketClients()
    bench.atEnd(clients.stop)
    const { open } = await clients.open(await rig.orders(tenants))
    if (open < count) throw new Error(`only ${open} of ${count} sockets could be opened`)

    const producer = new Producer(rig, tenants, isApart ? appendApart : appendOne)
    await producer.produce(rate, WARM_UP_MILLIS)
    await sleep(2_000)
    await clients.report()

    const cpu = await cpuMeter(rig, clients)
    const disk = await startDiskProbe()
    bench.atEnd(disk.stop)
    const before = new Map(cpu())
    const startedAt = performance.now()
    const stored = await producer.produce(rate, seconds * 1_000)
    const elapsed = performance.now() - startedAt
    const used = cpu().map(([name, millis]) => [name, millis - before.get(name)!] as const)
    await sleep(LAST_ARRIVAL_MILLIS)
    const { arrivals } = await clients.report()
    const arrived = firstArrivals(arrivals)

    sayLatencies(bench, stored, arrived)
    const pages = disk.took()
    bench.say(
      `a flush of the disk beside it: p50 ${quantile(pages, 0.5).toFixed(1)} ms, p99 ${quantile(pages, 0.99).toFixed(1)} ms`
    )
    bench.say(
      `${stored.size} events, ${(stored.size / (elapsed / 1_000)).toFixed(0)} a second, ` +
        `${isApart ? "each in a transaction of the caller" : "by append"}, to ${count} sockets of as many tenants ` +
        `on ${rig.cluster.servers.length} servers; fsync on`
    )
    const rows = [...used, ["all", used.reduce((sum, [, millis]) => sum + millis, 0)] as const].map(
      ([name, millis]) => [name, (millis / stored.size).toFixed(2), ((100 * millis) / elapsed).toFixed(0)]
    )
    bench.say(table(["processor time", "ms an event", "% of a core"], rows))
    const missing = [...stored.keys()].filter((eventId) => !arrived.has(eventId)).length
    const repeated = arrivals.length - arrived.size
    if (missing > 0 || repeated > 0) throw new Error(`${missing} events did not arrive, ${repeated} came twice`)
  }
}
