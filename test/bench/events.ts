import { Logger, makeWorkerUtils } from "graphile-worker"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { databaseUrl, execute, openDatabase } from "../support/ClusterDatabase.ts"
import { socketUrl } from "../support/RealtimeRig.ts"
import type { Bench } from "./Bench.ts"
import { append } from "./CapacityLoads.ts"
import { compare, COMPARISON_OPTIONS, type Side } from "./compare/Comparison.ts"
import { startPeer } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { usageOf } from "./ProcessUsage.ts"
import type { GraphileEvent, GraphileOptions } from "./peer/graphileMain.ts"
import { type SocketClients, startSocketClients } from "./SocketClients.ts"

const CALLERS = 64
const SOCKETS = 200
const DELIVERED_WITHIN_MILLIS = 120_000

/** One side: how an event is stored for a socket, and how many are not acknowledged. */
interface EventSide {
  readonly name: string
  readonly pid: number
  readonly clients: SocketClients
  readonly store: (socket: number) => Promise<unknown>
  readonly countOpen: () => Promise<number>
}

const side = ({ clients, countOpen, name, pid, store }: EventSide): Side => ({
  name,
  cpuMillis: () => usageOf(pid).cpuMillis,
  work: async (millis) => {
    const startedAt = performance.now()
    let count = 0
    const caller = async () => {
      while (performance.now() - startedAt < millis) await store(count++ % SOCKETS)
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    while ((await countOpen()) > 0) {
      if (performance.now() - startedAt > millis + DELIVERED_WITHIN_MILLIS)
        throw new Error(`${name}: not all events were acknowledged`)
      await sleep(10)
    }
    const taken = performance.now() - startedAt
    const { arrivals } = await clients.report()
    const arrived = new Set(arrivals.map(([eventId]) => eventId)).size
    if (arrived !== count) throw new Error(`${name}: ${arrived} of ${count} events arrived`)
    return { count, millis: taken }
  }
})

export const events: Bench = {
  summary:
    "events stored singly by 64 callers, delivered on 200 sockets and acknowledged, beside graphile-worker with its batches",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const { rig } = server
    const { url } = rig.cluster.database
    await execute(url, "create database peer")
    const peerUrl = databaseUrl(url, "peer")
    const peer = await startPeer<GraphileOptions>(bench, "graphile-worker", "graphileMain.ts", { databaseUrl: peerUrl })
    const jobs = await makeWorkerUtils({
      connectionString: peerUrl,
      maxPoolSize: 10,
      logger: new Logger(() => () => undefined)
    })
    bench.atEnd(async () => jobs.release())

    const tenants = await rig.tenants(SOCKETS)
    const [clients, peerClients] = [startSocketClients(), startSocketClients()]
    bench.atEnd(clients.stop)
    bench.atEnd(peerClients.stop)
    await clients.open(await rig.orders(tenants))
    const tokens = tenants.map(() => randomUUID())
    await peerClients.open(tokens.map((token) => ({ token, url: socketUrl({ baseUrl: peer.url }) })))

    const [database, peerDatabase] = [openDatabase(url), openDatabase(peerUrl)]
    bench.atEnd(database.close)
    bench.atEnd(peerDatabase.close)
    const payload = { subject: "a message", snippet: "x".repeat(200) }
    await compare(bench, {
      title: `events stored singly by ${CALLERS} callers, delivered on ${SOCKETS} sockets and acknowledged`,
      unit: "events",
      goal: 1.2,
      ours: side({
        ...server,
        clients,
        store: (socket) => rig.run(append(tenants[socket]!, 1)),
        countOpen: async () => {
          const query = "select count(*)::integer as count from events where open_tenant_id is not null"
          return Number((await database.execute(query))[0]!["count"])
        }
      }),
      peers: [
        side({
          ...peer,
          clients: peerClients,
          store: (socket) =>
            jobs.addJob("deliver", {
              token: tokens[socket]!,
              eventId: randomUUID(),
              ...payload
            } satisfies GraphileEvent & typeof payload),
          countOpen: async () => {
            const query = "select count(*)::integer as count from graphile_worker.jobs"
            return Number((await peerDatabase.execute(query))[0]!["count"])
          }
        })
      ]
    })
  }
}
