import type { Tenant } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { execute } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type Bench, type BenchRun, DURABLE, table } from "./Bench.ts"
import { append, appendLoads, httpLoads } from "./CapacityLoads.ts"
import { measure, type Measured, measureOnce } from "./CapacityMeter.ts"
import { startSocketClients } from "./SocketClients.ts"

/** Tenants with one socket each, and the events that wait for each socket. */
const TENANTS = 200
const BACKLOG = 100

/** For the delivery and acknowledgement of all events. */
const DELIVERED_WITHIN_MILLIS = 120_000

const countOpen = async ({ cluster }: RealtimeRig): Promise<number> => {
  const [row] = await execute(
    cluster.database.url,
    "select count(*)::integer as count from events where open_tenant_id is not null"
  )
  return Number(row?.["count"])
}

/** Opens sockets for which events wait, until all are acknowledged. */
const deliver = async (bench: BenchRun, rig: RealtimeRig, tenants: ReadonlyArray<Tenant>): Promise<Measured> => {
  for (const tenant of tenants) await rig.run(append(tenant, BACKLOG))
  const count = tenants.length * BACKLOG
  const orders = await rig.orders(tenants)
  const clients = startSocketClients()
  bench.atEnd(clients.stop)
  return measureOnce(rig, "events delivered and acknowledged, over sockets", async () => {
    const startedAt = performance.now()
    await clients.open(orders)
    while ((await countOpen(rig)) > 0) {
      if (performance.now() - startedAt > DELIVERED_WITHIN_MILLIS) throw new Error("not all events were acknowledged")
      await sleep(50)
    }
    const millis = performance.now() - startedAt
    const { arrivals } = await clients.report()
    if (arrivals.length !== count) throw new Error(`${arrivals.length} deliveries of ${count} events`)
    return { count, millis }
  })
}

export const capacity: Bench = {
  summary:
    "capacity of one server and one PostgreSQL: reads, challenges, payments and events per second, one after the other",
  options: { seconds: 10 },
  run: async (bench) => {
    const seconds = bench.option("seconds")
    const rig = await startRealtimeRig({ servers: 1, database: DURABLE })
    bench.atEnd(rig.stop)
    const measured: Array<Measured> = []
    for (const load of await httpLoads(rig)) measured.push(await measure(rig, load, seconds))
    for (const load of appendLoads(rig, await rig.tenants(TENANTS))) measured.push(await measure(rig, load, seconds))
    await execute(rig.cluster.database.url, "truncate events")
    measured.push(await deliver(bench, rig, await rig.tenants(TENANTS)))
    bench.say(
      table(
        ["load", "a second", "server ms each", "PostgreSQL ms each", "bench ms each"],
        measured.map(({ benchMillis, databaseMillis, name, perSecond, serverMillis }) => [
          name,
          perSecond.toFixed(0),
          ...[serverMillis, databaseMillis, benchMillis].map((millis) => millis.toFixed(2))
        ])
      )
    )
    bench.say(
      `fsync on; ${seconds} s each; the bench sends the requests, signs the payments and stores the events, ` +
        `and is on the same machine; ${TENANTS} sockets, for each of which ${BACKLOG} events waited`
    )
  }
}
