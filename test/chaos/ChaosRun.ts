import type { Tenant } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { type Fault, type FaultKind, inflict } from "../faults/fault/Fault.ts"
import type { EventHistory } from "../faults/observation/EventHistory.ts"
import { countOpen, installAudit, readChanges, readRolledBack, readRows } from "../faults/observation/LeaseAudit.ts"
import type { DefectName } from "../faults/server/Defects.ts"
import { SHORT_LEASE_MILLIS, testServer } from "../faults/server/TestServer.ts"
import { openDatabase, type OpenDatabase } from "../support/ClusterDatabase.ts"
import { makeRandom, type Random } from "../support/Random.ts"
import { type RealtimeRig, socketUrl, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type Behavior, USUAL_BEHAVIORS } from "./Behavior.ts"
import { Crowd } from "./Crowd.ts"
import { Level, Producer } from "./Producer.ts"

/** The proportions of a run's faults. */
export const CHAOS_DECK = { killed: 2, paused: 2, restarted: 1, "listener cut": 2, "sockets cut": 3 } as const

export interface ChaosOptions {
  readonly servers: number
  readonly tenants: number
  readonly sockets: number
  readonly events: number
  readonly faults: ReadonlyArray<Fault>
  readonly seed: number
  /** How long the clients may take to acknowledge everything after the last fault. */
  readonly settleMillisMax: number
  readonly defect?: DefectName
  /** Of the clients, in turn. */
  readonly behaviors?: ReadonlyArray<Behavior>
  readonly say?: (line: string) => void
  /** Ends the run, which then fails. */
  readonly signal?: AbortSignal
}

/** A fault that was inflicted, by the clock of the history. */
export interface InflictedFault {
  readonly kind: FaultKind
  /** The address of the server, if it was a fault of one server. */
  readonly server: string | undefined
  readonly from: number
  readonly to: number
}

export interface ChaosResult {
  readonly history: EventHistory
  readonly faults: ReadonlyArray<InflictedFault>
  /** How often sockets closed with each code; 1006 means without one. */
  readonly closes: ReadonlyMap<number, number>
}

const EVENTS_PER_CALL_MAX = 40
/** Open events per socket above which no more are stored for the moment. */
const BACKLOG_PER_SOCKET = 100
/** Events of each tenant after the last fault, of which idle sessions must receive a signal. */
const EVENTS_AFTERWARDS = 2
const CONNECT_MILLIS_MAX = 120_000
const FAULT_GAP_MILLIS_MAX = 800
const POLL_MILLIS = 250
const SAY_EVERY = 10

/** Starts servers and clients, inflicts the faults while events are stored, and returns everything that was recorded. */
export const runChaos = async (options: ChaosOptions): Promise<ChaosResult> => {
  const ends: Array<() => Promise<unknown>> = []
  const ended = new AbortController()
  const interrupted = new Promise<never>((_, reject) => {
    options.signal?.addEventListener("abort", () => reject(new Error("interrupted")))
  })
  // Nothing awaits it while the servers start, so that they can be stopped in order.
  interrupted.catch(() => undefined)
  try {
    const { defect, servers } = options
    const server = testServer({ leaseMillis: SHORT_LEASE_MILLIS, ...(defect === undefined ? {} : { defect }) })
    const rig = await startRealtimeRig({ servers, ...server })
    ends.push(rig.stop)
    const database = openDatabase(rig.cluster.database.url)
    ends.push(database.close)
    await installAudit(database)
    const random = makeRandom(options.seed)
    const tenants = await rig.tenants(options.tenants)
    const crowd = new Crowd(rig, {
      tenants,
      sockets: options.sockets,
      behaviors: options.behaviors ?? USUAL_BEHAVIORS,
      random: random.fork(0)
    })
    ends.push(() => Promise.all(crowd.clients.map((client) => client.stop())))
    const run = new ChaosRun(options, { rig, database, tenants, crowd, random, signal: ended.signal })
    const counting = run.keepCounting()
    ends.push(() => counting)
    return await Promise.race([run.run(), interrupted])
  } finally {
    ended.abort()
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
}

interface Parts {
  readonly rig: RealtimeRig
  readonly database: OpenDatabase
  readonly tenants: ReadonlyArray<Tenant>
  readonly crowd: Crowd
  readonly random: Random
  /** Aborted when nothing more may be started. */
  readonly signal: AbortSignal
}

class ChaosRun {
  readonly #options: ChaosOptions
  readonly #parts: Parts
  /** Open events, when they were last counted. */
  #open = 0
  readonly #allowed = new Level()
  readonly #stored = new Level()

  constructor(options: ChaosOptions, parts: Parts) {
    this.#options = options
    this.#parts = parts
  }

  async run(): Promise<ChaosResult> {
    const { events, faults, settleMillisMax, sockets } = this.#options
    const { crowd, random, rig, tenants } = this.#parts
    const { clients } = crowd
    for (const client of clients) client.start()
    const areConnected = () => clients.every(({ isConnected }) => isConnected)
    if (!(await this.#until(areConnected, CONNECT_MILLIS_MAX))) throw new Error("not every client could connect")
    const total = events - EVENTS_AFTERWARDS * tenants.length
    const part = total / (faults.length + 1)
    const producer = new Producer(rig, {
      tenants,
      random: random.fork(1),
      eventsPerCallMax: Math.max(1, Math.min(EVENTS_PER_CALL_MAX, Math.floor(part / 4))),
      stored: this.#stored,
      allowed: this.#allowed,
      isBacklogged: () => this.#open > BACKLOG_PER_SOCKET * sockets
    })
    this.#allowed.raise(Math.floor(part))
    const [inflicted] = await Promise.all([this.#inflictAll(part), producer.produce(total)])
    for (const client of clients) client.becomePrompt()
    const isSettled = () => this.#open === 0 && areConnected() && clients.every(({ isAnswered }) => isAnswered)
    if (await this.#until(isSettled, settleMillisMax)) {
      this.#allowed.raise(events)
      await producer.produce(events)
      await this.#until(isSettled, settleMillisMax)
    }
    return { history: await this.#read(producer.appends), faults: inflicted, closes: new Map(crowd.log.closes) }
  }

  /** Counts open events before each time that it evaluates the condition. */
  async #until(condition: () => boolean, millisMax: number): Promise<boolean> {
    const deadline = performance.now() + millisMax
    for (;;) {
      this.#open = await countOpen(this.#parts.database)
      if (condition()) return true
      if (performance.now() > deadline) return false
      await sleep(POLL_MILLIS)
    }
  }

  async keepCounting(): Promise<void> {
    await this.#until(() => this.#parts.signal.aborted, Number.POSITIVE_INFINITY)
  }

  /** Inflicts each fault in the middle of its part of the events, on several servers at a time, but never on all. */
  async #inflictAll(part: number): Promise<ReadonlyArray<InflictedFault>> {
    const { faults, say } = this.#options
    const { crowd, random: whole, rig } = this.#parts
    const random = whole.fork(2)
    const inflicted: Array<InflictedFault> = []
    const running = new Set<Promise<void>>()
    const failures: Array<unknown> = []
    for (const [number, fault] of faults.entries()) {
      await this.#stored.reached(Math.floor(part * (number + 0.5)))
      await sleep(random.integer(FAULT_GAP_MILLIS_MAX))
      while (crowd.live.length < Math.min(2, rig.cluster.servers.length) && running.size > 0)
        await Promise.race(running)
      if (failures.length > 0) break
      const from = Date.now()
      const finished: Promise<void> = this.#inflict(fault, random)
        .then((server) => void inflicted.push({ kind: fault.kind, server, from, to: Date.now() }))
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(finished))
      running.add(finished)
      this.#allowed.raise(Math.floor(part * (number + 2)))
      if ((number + 1) % SAY_EVERY === 0) {
        say?.(`${number + 1} faults, ${this.#stored.value} events stored, ${this.#open} of them open`)
      }
    }
    await Promise.all(running)
    if (failures.length > 0) throw new Error("a fault could not be inflicted", { cause: failures[0] })
    return inflicted
  }

  /** Resolves to the address of the server concerned. */
  async #inflict(fault: Fault, random: Random): Promise<string | undefined> {
    const { crowd, database, rig, signal } = this.#parts
    switch (fault.kind) {
      case "sockets cut":
        for (const client of crowd.clients) if (random.integer(100) < fault.percent) client.cut(fault.isMidFrame)
        return undefined
      case "listener cut":
        await database.execute(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name like 'agentos events%' order by random() limit 1`
        )
        return undefined
      case "killed":
      case "paused":
      case "restarted": {
        const number = random.pick(crowd.live)
        const server = rig.cluster.servers[number]!
        await crowd.without(number, () => inflict(fault, server, signal))
        return socketUrl(server)
      }
      default:
        throw new Error(`${fault.kind} is not a fault of this run`)
    }
  }

  /** Reads everything at one moment. */
  async #read(appends: EventHistory["appends"]): Promise<EventHistory> {
    const { crowd, database, tenants } = this.#parts
    const { acknowledgements, frames, sessions } = structuredClone({ ...crowd.log, closes: undefined })
    const changes = await readChanges(database)
    const rows = await readRows(
      database,
      tenants.map(({ tenantId }) => tenantId)
    )
    return {
      appends,
      sessions,
      frames,
      acknowledgements,
      changes,
      rows,
      rolledBack: await readRolledBack(database, changes)
    }
  }
}
