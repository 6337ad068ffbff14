import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { type Bench, DURABLE, quantile, table } from "./Bench.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyCpuMillis, usageOf } from "./ProcessUsage.ts"
import { startRealtimeRig } from "../support/RealtimeRig.ts"
import { clockMillis, startSocketClients } from "./SocketClients.ts"

/** When an event was asked to be stored, and when that was committed. */
interface Stored {
  readonly askedAt: number
  readonly committedAt: number
}

/** One event of the tenant, in a transaction of its own. */
const appendOne = ({ tenantId }: Tenant) =>
  Effect.gen(function* () {
    const dedupeKey = yield* Uuid.next
    const askedAt = clockMillis()
    const [event] = yield* (yield* EventStore).append([
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
    return { eventId: event!.eventId, askedAt, committedAt: clockMillis() }
  })

/** From the commit of an event in one process to its frame on a socket of a server that is another. */
export const latency: Bench = {
  summary: "commit of an event to its frame at a client, over two servers, each event by a third process",
  options: { rate: 500, seconds: 30, sockets: 200 },
  run: async (bench) => {
    const [rate, seconds, count] = [bench.option("rate"), bench.option("seconds"), bench.option("sockets")]
    const rig = await startRealtimeRig({ servers: 2, database: DURABLE })
    bench.atEnd(rig.stop)
    const tenants = await rig.tenants(count)
    const clients = startSocketClients()
    bench.atEnd(clients.stop)
    const { servers } = rig.cluster
    const { open } = await clients.open(await rig.orders(tenants))
    if (open < count) throw new Error(`only ${open} of ${count} sockets could be opened`)

    const stored = new Map<string, Stored>()
    /** Stores at the rate for so long, without waiting for one before the next. */
    const produce = async (millis: number): Promise<void> => {
      const startedAt = performance.now()
      const appending: Array<Promise<unknown>> = []
      for (let sent = 0; performance.now() - startedAt < millis;) {
        const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate)
        for (; sent < due; sent++) {
          appending.push(
            rig
              .run(appendOne(tenants[sent % tenants.length]!))
              .then(({ eventId, ...times }) => stored.set(eventId, times))
          )
        }
        await sleep(1)
      }
      await Promise.all(appending)
    }
    await produce(5_000)
    await sleep(2_000)
    await clients.report()
    stored.clear()

    const [row] = await execute(
      rig.cluster.database.url,
      "select pid from pg_stat_activity where application_name = 'agentos events' limit 1"
    )
    const cpu = () => ({
      servers: servers.reduce((sum, { pid }) => sum + usageOf(pid()).cpuMillis, 0),
      PostgreSQL: familyCpuMillis(Number(row?.["pid"])),
      "the process that stores": usageOf(process.pid).cpuMillis,
      "the clients": usageOf(clients.pid).cpuMillis
    })
    const cpuBefore = cpu()
    const startedAt = performance.now()
    await produce(seconds * 1_000)
    const elapsed = performance.now() - startedAt
    const cpuAfter = cpu()
    await sleep(5_000)
    const { arrivals } = await clients.report()

    const arrived = new Map<string, number>()
    for (const [eventId, at] of arrivals) if (!arrived.has(eventId)) arrived.set(eventId, at)
    const since = (from: keyof Stored) =>
      [...stored]
        .flatMap(([eventId, times]) => (arrived.has(eventId) ? [arrived.get(eventId)! - times[from]] : []))
        .toSorted((a, b) => a - b)
    const quantiles = (name: string, sorted: ReadonlyArray<number>) => [
      name,
      ...[0.5, 0.9, 0.99, 0.999].map((share) => quantile(sorted, share).toFixed(1)),
      (sorted.at(-1) ?? Number.NaN).toFixed(1)
    ]
    bench.say(
      table(
        ["milliseconds to the frame", "p50", "p90", "p99", "p99.9", "most"],
        [quantiles("from the commit", since("committedAt")), quantiles("from the call that stores", since("askedAt"))]
      )
    )
    bench.say(
      `${stored.size} events, ${(stored.size / (elapsed / 1_000)).toFixed(0)} a second, to ${count} sockets of as many ` +
        `tenants on ${servers.length} servers; fsync on`
    )
    const shares = Object.entries(cpuAfter).map(([name, after]) => {
      const millis = after - cpuBefore[name as keyof typeof cpuBefore]
      return [name, (millis / stored.size).toFixed(2), ((100 * millis) / elapsed).toFixed(0)]
    })
    bench.say(table(["processor time", "ms an event", "% of a core"], shares))
    const missing = stored.size - since("askedAt").length
    const repeated = arrivals.length - arrived.size
    if (missing > 0 || repeated > 0) throw new Error(`${missing} events did not arrive, ${repeated} came twice`)
  }
}
