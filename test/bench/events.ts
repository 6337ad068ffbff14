import { Logger, makeWorkerUtils } from "graphile-worker"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { PgBoss } from "pg-boss"
import { databaseUrl, execute, type OpenDatabase, openDatabase } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, socketUrl } from "../support/RealtimeRig.ts"
import type { Bench, BenchRun } from "./Bench.ts"
import { append } from "./CapacityLoads.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import type { Side } from "./compare/Side.ts"
import { type HttpServer, startPeer } from "./compare/HttpSides.ts"
import { type ServerUnderTest, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { usageOf } from "./ProcessUsage.ts"
import type { GraphileOptions } from "./peer/graphileMain.ts"
import type { PgBossOptions } from "./peer/pgBossMain.ts"
import { gather, QUEUE, type QueuedEvent } from "./peer/QueueSockets.ts"
import { type SocketClients, startSocketClients } from "./SocketClients.ts"

const CALLERS = 64
const SOCKETS = 200
const DELIVERED_WITHIN_MILLIS = 120_000

/** One side: how an event is stored for a socket, and how to find out whether all are acknowledged. */
interface EventSide {
  readonly name: string
  readonly pid: number
  readonly clients: SocketClients
  readonly store: (socket: number) => Promise<unknown>
  /** A query whose row has `open`: whether an event is not acknowledged. */
  readonly openQuery: string
  readonly database: OpenDatabase
}

const side = ({ clients, database, name, openQuery, pid, store }: EventSide): Side => ({
  name,
  cpuMillis: () => usageOf(pid).cpuMillis,
  work: async (millis) => {
    const startedAt = performance.now()
    let count = 0
    const caller = async () => {
      while (performance.now() - startedAt < millis) await store(count++ % SOCKETS)
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    while ((await database.execute(openQuery))[0]!["open"] !== false) {
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

/** The jobs of one statement: those of all callers. */
const STORED_AT_ONCE = 1_000

const PAYLOAD = { subject: "a message", snippet: "x".repeat(200) }

/** The event that a queue stores for a socket. */
const queuedEvent = (token: string): QueuedEvent => ({ token, eventId: randomUUID(), ...PAYLOAD })

const graphile = async (bench: BenchRun, rig: RealtimeRig, tokens: ReadonlyArray<string>): Promise<Side> => {
  const url = await createDatabase(rig, "graphile")
  const peer = await startPeer<GraphileOptions>(bench, "graphile-worker", "graphileMain.ts", { databaseUrl: url })
  const jobs = await makeWorkerUtils({
    connectionString: url,
    maxPoolSize: 10,
    logger: new Logger(() => () => undefined)
  })
  bench.atEnd(async () => jobs.release())
  const add = gather<QueuedEvent>(STORED_AT_ONCE, (events) =>
    jobs.addJobs(events.map((payload) => ({ identifier: QUEUE, payload })))
  )
  return side({
    ...peer,
    ...(await openQueue(bench, peer, url, tokens)),
    store: (socket) => add(queuedEvent(tokens[socket]!)),
    openQuery: "select exists (select from graphile_worker.jobs) as open"
  })
}

const pgBoss = async (bench: BenchRun, rig: RealtimeRig, tokens: ReadonlyArray<string>): Promise<Side> => {
  const url = await createDatabase(rig, "pgboss")
  const peer = await startPeer<PgBossOptions>(bench, "pg-boss", "pgBossMain.ts", { databaseUrl: url })
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false })
  await boss.start()
  bench.atEnd(() => boss.stop({ graceful: false }))
  const insert = gather<QueuedEvent>(STORED_AT_ONCE, (events) =>
    boss.insert(
      QUEUE,
      events.map((data) => ({ data }))
    )
  )
  return side({
    ...peer,
    ...(await openQueue(bench, peer, url, tokens)),
    store: (socket) => insert(queuedEvent(tokens[socket]!)),
    // Each alternative has an index of its own.
    openQuery: `select exists (select from pgboss.job where name = '${QUEUE}' and state < 'active')
      or exists (select from pgboss.job where name = '${QUEUE}' and state = 'active') as open`
  })
}

const createDatabase = async ({ cluster }: RealtimeRig, name: string): Promise<string> => {
  const { url } = cluster.database
  await execute(url, `create database ${name}`)
  return databaseUrl(url, name)
}

/** Connects clients to the sockets of a queue, and opens its database. */
const openQueue = async (bench: BenchRun, peer: HttpServer, url: string, tokens: ReadonlyArray<string>) => {
  const clients = startSocketClients()
  bench.atEnd(clients.stop)
  await clients.open(tokens.map((token) => ({ token, url: socketUrl({ baseUrl: peer.url }) })))
  const database = openDatabase(url)
  bench.atEnd(database.close)
  return { clients, database }
}

/** The server's side, with a tenant for each socket. */
export const serverSide = async (bench: BenchRun, server: ServerUnderTest): Promise<Side> => {
  const { rig } = server
  const tenants = await rig.tenants(SOCKETS)
  const clients = startSocketClients()
  bench.atEnd(clients.stop)
  await clients.open(await rig.orders(tenants))
  const database = openDatabase(rig.cluster.database.url)
  bench.atEnd(database.close)
  return side({
    ...server,
    clients,
    database,
    store: (socket) => rig.run(append(tenants[socket]!, 1)),
    openQuery: "select exists (select from events where open_tenant_id is not null) as open"
  })
}

export const events: Bench = {
  summary:
    "events stored singly by 64 callers, delivered on 200 sockets and acknowledged, beside graphile-worker and pg-boss with their batches",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const ours = await serverSide(bench, server)
    const tokens = Array.from({ length: SOCKETS }, () => randomUUID())
    await compare(bench, {
      title: `events stored singly by ${CALLERS} callers, delivered on ${SOCKETS} sockets and acknowledged`,
      unit: "events",
      goal: 1.3,
      ours,
      peers: [await graphile(bench, server.rig, tokens), await pgBoss(bench, server.rig, tokens)]
    })
  }
}
