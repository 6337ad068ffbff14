import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../race/Random.ts"
import type { ClusterServer } from "../support/Cluster.ts"
import type { OpenDatabase } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, socketUrl } from "../support/RealtimeRig.ts"
import type { Crowd } from "./Crowd.ts"
import type { Fault, FaultKind } from "./FaultPlan.ts"

export interface FaultSetting {
  readonly rig: RealtimeRig
  readonly crowd: Crowd
  readonly database: OpenDatabase
  readonly random: Random
  /** Waits until it is time for the fault of this number, from 0 on. */
  readonly due: (number: number) => Promise<void>
  readonly begun: (number: number) => void
  /** When no server may be started any more. */
  readonly signal: AbortSignal
}

/** A fault that took place, by the clock of the history. */
export interface FaultRecord {
  readonly kind: FaultKind
  /** Where the sessions of the server are that it befell; undefined when it befell none alone. */
  readonly server: string | undefined
  readonly begunAt: number
  readonly endedAt: number
}

/** Between the beginnings of faults, at the most. */
const GAP_MILLIS = 800

/** Lets all of it go wrong, at several servers at a time, of which one is always left in peace. Ends when all is as it was. */
export const runFaults = async (
  plan: ReadonlyArray<Fault>,
  setting: FaultSetting
): Promise<ReadonlyArray<FaultRecord>> => {
  const { begun, crowd, due, random, rig } = setting
  const records: Array<FaultRecord> = []
  const running = new Set<Promise<void>>()
  const failures: Array<unknown> = []
  for (const [number, fault] of plan.entries()) {
    await due(number)
    await sleep(random.integer(GAP_MILLIS))
    while (crowd.living.length < Math.min(2, rig.cluster.servers.length) && running.size > 0)
      await Promise.race(running)
    if (failures.length > 0) break
    const begunAt = Date.now()
    const over: Promise<void> = carryOut(fault, setting)
      .then((server) => void records.push({ kind: fault.kind, server, begunAt, endedAt: Date.now() }))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(over))
    running.add(over)
    begun(number)
  }
  await Promise.all(running)
  if (failures.length > 0) throw new Error("a fault could not be carried out", { cause: failures[0] })
  return records
}

/** Answers which server it befell. */
const carryOut = async (
  fault: Fault,
  { crowd, database, random, rig, signal }: FaultSetting
): Promise<string | undefined> => {
  if (fault.kind === "cut") {
    for (const client of crowd.clients) if (random.integer(100) < fault.inHundred) client.cut(fault.isMidFrame)
    return undefined
  }
  if (fault.kind === "deaf") {
    await database.execute(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'agentos events' order by random() limit 1`
    )
    return undefined
  }
  const number = random.pick(crowd.living)
  crowd.away(number)
  const server = rig.cluster.servers[number]!
  await disturb(fault, server, signal)
  crowd.back(number)
  return socketUrl(server)
}

const disturb = async (
  fault: Extract<Fault, { kind: "killed" | "stopped" | "restarted" }>,
  server: ClusterServer,
  signal: AbortSignal
): Promise<void> => {
  switch (fault.kind) {
    case "killed":
      process.kill(server.pid(), "SIGKILL")
      await server.stop()
      await sleep(fault.millis)
      return signal.aborted ? undefined : server.start()
    case "stopped":
      server.freeze()
      await sleep(fault.millis)
      return server.thaw()
    case "restarted":
      await server.stop()
      return signal.aborted ? undefined : server.start()
  }
}
