import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { makeRandom } from "../race/Random.ts"
import { openDatabase, type OpenDatabase } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type CutLine, startCutLine } from "./CutLine.ts"
import { isPoison, TailProgram } from "./TailProgram.ts"

export interface TailRunOptions {
  readonly events: number
  /** How often each of them happens. */
  readonly faults: { readonly restarts: number; readonly cuts: number; readonly kills: number }
  /** Commands at a time. */
  readonly jobs: number
  readonly seed: number
  /** How long it may take from the last fault on until all is handled. */
  readonly settleMillis: number
  readonly say: (line: string) => void
}

export interface TailResult {
  readonly stored: number
  readonly acknowledged: number
  /** Events whose command never succeeds. */
  readonly poisoned: number
  /** How often a command was begun, and was done. */
  readonly begun: number
  readonly done: number
  readonly audits: number
  readonly exitCode: number | null
  /** Every promise that was broken. */
  readonly violations: ReadonlyArray<string>
}

type Fault = "restart" | "cut" | "kill" | "kill all"

const BATCH = 50
/** Half of the events that may wait while more are stored, at the most: a sixteenth of all where that is less. */
const AHEAD_MAX = 200
const LOOK_MILLIS = 250
const CUT_MILLIS = 1_500

/** Stores events for one tenant, follows them with `events tail --exec` while all goes wrong that may, and judges. */
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

interface Stage {
  readonly rig: RealtimeRig
  readonly line: CutLine
  readonly tail: TailProgram
  readonly database: OpenDatabase
  readonly tenant: Tenant
}

class TailRun {
  readonly #options: TailRunOptions
  readonly #stage: Stage
  readonly #ahead: number
  readonly #stored: Array<string> = []
  readonly #violations = new Set<string>()
  #audits = 0

  constructor(options: TailRunOptions, stage: Stage) {
    this.#options = options
    this.#stage = stage
    this.#ahead = Math.min(AHEAD_MAX, Math.ceil(options.events / 16))
  }

  async run(): Promise<TailResult> {
    const { events, settleMillis } = this.#options
    const faults = this.#plan()
    for (const [index, fault] of faults.entries()) {
      // Evenly over the events, so that there is work before, during and after each.
      await this.#workUntil(Math.floor((events * (index + 1)) / (faults.length + 1)))
      await this.#make(fault)
    }
    await this.#workUntil(events)
    const poisoned = this.#stored.filter(isPoison).length
    const deadline = Date.now() + settleMillis
    while ((await this.#acknowledged()) < events - poisoned && Date.now() < deadline) await sleep(LOOK_MILLIS)
    const { tail } = this.#stage
    const exitCode = await tail.interrupt()
    const acknowledged = await this.#acknowledged()
    const done = tail.noted("done")
    const handled = new Set(done)
    for (const eventId of this.#stored)
      if (!isPoison(eventId) && !handled.has(eventId)) this.#violations.add(`${eventId} was never handled`)
    for (const eventId of tail.noted("wrong")) this.#violations.add(`${eventId} was run with another event to read`)
    const begun = tail.noted("begun").length
    return {
      stored: this.#stored.length,
      acknowledged,
      poisoned,
      begun,
      done: done.length,
      audits: this.#audits,
      exitCode,
      violations: [...this.#violations]
    }
  }

  #plan(): ReadonlyArray<Fault> {
    const { faults, seed } = this.#options
    const many = (count: number, ...kinds: ReadonlyArray<Fault>) =>
      Array.from({ length: count }, (_, index) => kinds[index % kinds.length]!)
    return makeRandom(seed).shuffle([
      ...many(faults.restarts, "restart"),
      ...many(faults.cuts, "cut"),
      ...many(faults.kills, "kill all", "kill")
    ])
  }

  /** Stores events until there are so many and most of them are acknowledged, and looks whether all is well meanwhile. */
  async #workUntil(count: number): Promise<void> {
    const deadline = Date.now() + this.#options.settleMillis
    for (;;) {
      const acknowledged = await this.#acknowledged()
      if (this.#stored.length >= count && acknowledged >= count - this.#ahead) return
      if (Date.now() > deadline)
        throw new Error(`${acknowledged} of ${count} events are acknowledged, and no more:\n${this.#stage.tail.said}`)
      if (!this.#stage.tail.isRunning) throw new Error(`the tail has ended by itself:\n${this.#stage.tail.said}`)
      if (this.#stored.length < count && this.#stored.length - acknowledged < 2 * this.#ahead)
        await this.#store(Math.min(BATCH, count - this.#stored.length))
      else await sleep(LOOK_MILLIS)
    }
  }

  async #make(fault: Fault): Promise<void> {
    const { line, rig, tail } = this.#stage
    this.#options.say(`${fault} after ${this.#stored.length} events, ${tail.noted("done").length} done`)
    switch (fault) {
      case "restart": {
        const [server] = rig.cluster.servers
        await server!.stop()
        await this.#store(BATCH)
        await server!.start()
        break
      }
      case "cut":
        line.cut()
        await this.#store(BATCH)
        await sleep(CUT_MILLIS)
        line.mend()
        break
      case "kill":
      case "kill all":
        await tail.kill(fault === "kill all")
        await this.#acknowledged()
        tail.start()
        break
    }
  }

  async #store(count: number): Promise<void> {
    const { rig, tenant } = this.#stage
    const room = Math.min(count, this.#options.events - this.#stored.length)
    if (room <= 0) return
    const events = await rig.run(
      Effect.gen(function* () {
        const drafts = yield* Effect.forEach(Array.from({ length: room }), () =>
          Effect.map(Uuid.next, (mark) => ({
            tenantId: tenant.tenantId,
            type: "email.received" as const,
            source: "smtp",
            service: "email",
            resourceId: mark,
            agentId: "an agent",
            payload: { subject: "a message" },
            dedupeKey: mark
          }))
        )
        return yield* (yield* EventStore).append(drafts)
      })
    )
    this.#stored.push(...events.map(({ eventId }) => eventId))
  }

  /** How many are acknowledged. Whichever is must have been done before: its command's last word stands in the file by now. */
  async #acknowledged(): Promise<number> {
    const { database, tail, tenant } = this.#stage
    const rows = await database.execute(
      `select event_id from events where tenant_id = '${tenant.tenantId}' and status = 'acknowledged'`
    )
    const done = new Set(tail.noted("done"))
    for (const { event_id: eventId } of rows)
      if (!done.has(String(eventId)))
        this.#violations.add(`${String(eventId)} was acknowledged before its command was done`)
    this.#audits++
    return rows.length
  }
}
