import type { Tenant } from "@agentos/core"
import { makeRandom, type Random } from "../race/Random.ts"
import { openDatabase, type OpenDatabase } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { withServerModule } from "../support/ServerModule.ts"
import { SHORT_LEASE_SERVER } from "../support/ShortLease.ts"
import { Crowd } from "./Crowd.ts"
import type { Fault } from "./FaultPlan.ts"
import { type FaultRecord, runFaults } from "./Faults.ts"
import type { History } from "./History.ts"
import { installAudit, readChanges, readRows, readUndone } from "./LeaseAudit.ts"
import { Level } from "./Level.ts"
import { type Manner, USUAL_MANNERS } from "./Manner.ts"
import { Producer } from "./Producer.ts"
import { Watch } from "./Watch.ts"

export interface ChaosOptions {
  readonly servers: number
  readonly tenants: number
  readonly sockets: number
  readonly events: number
  readonly faults: ReadonlyArray<Fault>
  readonly seed: number
  /** How long it may take until all is acknowledged, when nothing goes wrong any more. */
  readonly settleMillis: number
  /** The servers' entry module, in place of the real server's with a short lease. */
  readonly serverModule?: string
  /** What the clients are like, in turn. */
  readonly manners?: ReadonlyArray<Manner>
  /** Is told now and then how far it is. */
  readonly say?: (line: string) => void
  /** Ends the run before its time, which then fails. */
  readonly signal?: AbortSignal
}

/** What a run came to, before it is judged. */
export interface ChaosResult {
  readonly history: History
  readonly faults: ReadonlyArray<FaultRecord>
  /** How often clients saw their sockets closed with each code; 1006 is none. */
  readonly closes: ReadonlyMap<number, number>
}

/** Events that one call stores at the most, and that may wait for each socket before no more are stored for the moment. */
const EVENTS_PER_CALL = 40
const WAITING_PER_SOCKET = 100
/** After the storm, events of each tenant, of which its idle sessions have to be told. */
const AFTERWARDS_PER_TENANT = 2
const CONNECT_MILLIS = 120_000
/** Of so many faults, one is told of. */
const SAY_EVERY = 10

/**
 * Starts servers on a PostgreSQL of the run's own, lets all of it go wrong while events are stored, waits until all has
 * calmed down, and ends everything. The same seed makes the same choices; what the machine does between is its own.
 */
export const runChaos = async (options: ChaosOptions): Promise<ChaosResult> => {
  const ends: Array<() => Promise<unknown>> = []
  const over = new AbortController()
  const interrupted = new Promise<never>((_, reject) => {
    options.signal?.addEventListener("abort", () => reject(new Error("interrupted")))
  })
  // While the servers start nobody waits for it: what has begun to start has to be there to be ended.
  interrupted.catch(() => undefined)
  try {
    const rig = await withServerModule(options.serverModule ?? SHORT_LEASE_SERVER, () =>
      startRealtimeRig({ servers: options.servers })
    )
    ends.push(rig.stop)
    const database = openDatabase(rig.cluster.database.url)
    ends.push(database.close)
    await installAudit(database)
    const random = makeRandom(options.seed)
    const tenants = await rig.tenants(options.tenants)
    const crowd = new Crowd(rig, {
      tenants,
      sockets: options.sockets,
      manners: options.manners ?? USUAL_MANNERS,
      random: random.fork(0)
    })
    ends.push(() => Promise.all(crowd.clients.map((client) => client.stop())))
    const watch = new Watch(database)
    ends.push(() => watch.stop())
    const stage = { rig, database, tenants, crowd, watch, random, signal: over.signal }
    const { appends, faults } = await Promise.race([storm(options, stage), interrupted])
    return { history: await look(database, tenants, crowd, appends), faults, closes: new Map(crowd.log.closes) }
  } finally {
    over.abort()
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
}

interface Stage {
  readonly rig: RealtimeRig
  readonly database: OpenDatabase
  readonly tenants: ReadonlyArray<Tenant>
  readonly crowd: Crowd
  readonly watch: Watch
  readonly random: Random
  /** When nothing more may be started. */
  readonly signal: AbortSignal
}

/** Faults and events go hand in hand: each fault begins in the middle of its own part of them. Then come the calm, and a few more. */
const storm = async (options: ChaosOptions, { crowd, database, random, rig, signal, tenants, watch }: Stage) => {
  const { clients } = crowd
  for (const client of clients) client.start()
  const areConnected = () => clients.every(({ isConnected }) => isConnected)
  if (!(await watch.until(areConnected, CONNECT_MILLIS))) throw new Error("not every client could connect")

  const afterwards = AFTERWARDS_PER_TENANT * tenants.length
  const total = options.events - afterwards
  const part = total / (options.faults.length + 1)
  const [allowed, stored] = [new Level(), new Level()]
  const producer = new Producer(rig, {
    tenants,
    random: random.fork(1),
    eventsPerCall: Math.max(1, Math.min(EVENTS_PER_CALL, Math.floor(part / 4))),
    stored,
    allowed,
    isTooMuch: () => watch.open > WAITING_PER_SOCKET * clients.length
  })
  allowed.raise(Math.floor(part))
  const [faults] = await Promise.all([
    runFaults(options.faults, {
      rig,
      crowd,
      database,
      random: random.fork(2),
      signal,
      due: (number) => stored.reached(Math.floor(part * (number + 0.5))),
      begun: (number) => {
        allowed.raise(Math.floor(part * (number + 2)))
        if ((number + 1) % SAY_EVERY === 0) {
          options.say?.(`${number + 1} faults, ${stored.value} events stored, ${watch.open} of them open`)
        }
      }
    }),
    producer.produce(total)
  ])
  for (const client of clients) client.calm()
  const isSettled = (open: number) => open === 0 && areConnected() && clients.every(({ isAnswered }) => isAnswered)
  if (await watch.until(isSettled, options.settleMillis)) {
    allowed.raise(options.events)
    await producer.produce(options.events)
    await watch.until(isSettled, options.settleMillis)
  }
  return { appends: producer.appends, faults }
}

/** All that is known, as it is now: what clients are told from here on does not count. */
const look = async (
  database: OpenDatabase,
  tenants: ReadonlyArray<Tenant>,
  { log }: Crowd,
  appends: History["appends"]
): Promise<History> => {
  const acknowledgements = log.acknowledgements.map((acknowledgement) => ({ ...acknowledgement }))
  const sessions = log.sessions.map((session) => ({ ...session }))
  const frames = [...log.frames]
  const changes = await readChanges(database)
  const tenantIds = tenants.map(({ tenantId }) => tenantId)
  const rows = await readRows(database, tenantIds)
  return { appends, sessions, frames, acknowledgements, changes, rows, undone: await readUndone(database, changes) }
}
