import type { Tenant } from "@agentos/core"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { appendEvents } from "../faults/client/Events.ts"
import { type Deck, type Fault, planFaults } from "../faults/fault/Fault.ts"
import { COMMAND_INVARIANTS } from "../faults/verdict/CommandInvariants.ts"
import { judge, type Violation } from "../faults/verdict/Judge.ts"
import { openDatabase, type OpenDatabase } from "../support/ClusterDatabase.ts"
import { makeRandom } from "../support/Random.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type CutLine, startCutLine } from "./CutLine.ts"
import { isPoison, TailProgram } from "./TailProgram.ts"

export interface TailRunOptions {
  readonly events: number
  /** How often each fault happens. */
  readonly faults: Pick<Deck, "restarted" | "network cut" | "client killed">
  /** Commands at a time. */
  readonly jobs: number
  readonly seed: number
  /** How long everything may take after the last fault. */
  readonly settleMillis: number
  readonly say: (line: string) => void
}

export interface TailResult {
  readonly stored: number
  readonly acknowledged: number
  /** Events whose command always fails. */
  readonly poisoned: number
  /** Commands that were started, and that finished. */
  readonly begun: number
  readonly done: number
  /** How often acknowledged events were compared with finished commands. */
  readonly audits: number
  readonly exitCode: number | null
  readonly violations: ReadonlyArray<Violation>
}

const BATCH = 50
/** More events are stored while fewer than this wait, or a sixteenth of all if that is less. */
const AHEAD_MAX = 200
const POLL_MILLIS = 250
const CUT_MILLIS = 1_500

/** Stores events of one tenant, follows them with `events tail --exec` under faults, and judges. */
export const runTail = async (options: TailRunOptions): Promise<TailResult> => {
  const ends: Array<() => Promise<unknown>> = []
  try {
    const line = await startCutLine()
    ends.push(() => line.stop())
    const rig = await startRealtimeRig({ servers: 1, environment: { AGENTOS_PUBLIC_URL: line.url } })
    ends.push(() => rig.stop())
    line.leadTo(rig.cluster.servers[0]!.baseUrl)
    const folder = await mkdtemp(join(tmpdir(), "agentos-tail-"))
    ends.push(() => rm(folder, { recursive: true, force: true }))
    const [tenant] = await rig.tenants(1)
    const token = await rig.accessToken(tenant!)
    const tail = new TailProgram(folder, { AGENTOS_BASE_URL: line.url, AGENTOS_TOKEN: token }, options.jobs)
    const database = openDatabase(rig.cluster.database.url)
    ends.push(() => database.close())
    tail.start()
    ends.push(async () => tail.isRunning && tail.kill(true))
    return await new TailRun(options, { rig, line, tail, database, tenant: tenant! }).run()
  } finally {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
}

interface Parts {
  readonly rig: RealtimeRig
  readonly line: CutLine
  readonly tail: TailProgram
  readonly database: OpenDatabase
  readonly tenant: Tenant
}

class TailRun {
  readonly #options: TailRunOptions
  readonly #parts: Parts
  readonly #ahead: number
  readonly #stored: Array<string> = []
  readonly #early = new Set<string>()
  #audits = 0

  constructor(options: TailRunOptions, parts: Parts) {
    this.#options = options
    this.#parts = parts
    this.#ahead = Math.min(AHEAD_MAX, Math.ceil(options.events / 16))
  }

  async run(): Promise<TailResult> {
    const { events, faults: deck, seed, settleMillis } = this.#options
    const count = Object.values(deck).reduce((sum, times) => sum + times, 0)
    const faults = planFaults(deck, count, makeRandom(seed))
    for (const [index, fault] of faults.entries()) {
      // Evenly over the events, so that there is work before, during and after each fault.
      await this.#workUntil(Math.floor((events * (index + 1)) / (faults.length + 1)))
      await this.#inflict(fault)
    }
    await this.#workUntil(events)
    const poisoned = new Set(this.#stored.filter(isPoison))
    const deadline = Date.now() + settleMillis
    while ((await this.#countAcknowledged()) < events - poisoned.size && Date.now() < deadline) await sleep(POLL_MILLIS)
    const { tail } = this.#parts
    const exitCode = await tail.interrupt()
    const acknowledged = await this.#countAcknowledged()
    const done = tail.noted("done")
    return {
      stored: this.#stored.length,
      acknowledged,
      poisoned: poisoned.size,
      begun: tail.noted("begun").length,
      done: done.length,
      audits: this.#audits,
      exitCode,
      violations: judge(COMMAND_INVARIANTS, {
        stored: this.#stored,
        poisoned,
        done: new Set(done),
        misread: tail.noted("wrong"),
        early: this.#early
      })
    }
  }

  /** Stores this many events, and waits until most of them are acknowledged. */
  async #workUntil(count: number): Promise<void> {
    const { tail } = this.#parts
    const deadline = Date.now() + this.#options.settleMillis
    for (;;) {
      const acknowledged = await this.#countAcknowledged()
      if (this.#stored.length >= count && acknowledged >= count - this.#ahead) return
      if (Date.now() > deadline) throw new Error(`only ${acknowledged} of ${count} are acknowledged:\n${tail.said}`)
      if (!tail.isRunning) throw new Error(`the tail ended by itself:\n${tail.said}`)
      if (this.#stored.length < count && this.#stored.length - acknowledged < 2 * this.#ahead)
        await this.#store(Math.min(BATCH, count - this.#stored.length))
      else await sleep(POLL_MILLIS)
    }
  }

  async #inflict(fault: Fault): Promise<void> {
    const { line, rig, tail } = this.#parts
    this.#options.say(`${fault.kind} after ${this.#stored.length} events, ${tail.noted("done").length} done`)
    switch (fault.kind) {
      case "restarted": {
        const [server] = rig.cluster.servers
        await server!.stop()
        await this.#store(BATCH)
        return server!.start()
      }
      case "network cut":
        line.cut()
        await this.#store(BATCH)
        await sleep(CUT_MILLIS)
        return line.restore()
      case "client killed":
        await tail.kill(fault.withChildren)
        await this.#countAcknowledged()
        return tail.start()
      default:
        throw new Error(`${fault.kind} is not a fault of this run`)
    }
  }

  async #store(count: number): Promise<void> {
    const { rig, tenant } = this.#parts
    const room = Math.min(count, this.#options.events - this.#stored.length)
    if (room <= 0) return
    const owners = Array.from({ length: room }, () => tenant)
    const { events } = await appendEvents(rig, owners)
    this.#stored.push(...events.map(({ eventId }) => eventId))
  }

  /** Counts acknowledged events. The command of each must have finished already. */
  async #countAcknowledged(): Promise<number> {
    const { database, tail, tenant } = this.#parts
    const rows = await database.execute(
      `select event_id from events where tenant_id = '${tenant.tenantId}' and status = 'acknowledged'`
    )
    const done = new Set(tail.noted("done"))
    for (const { event_id: eventId } of rows) if (!done.has(String(eventId))) this.#early.add(String(eventId))
    this.#audits++
    return rows.length
  }
}
