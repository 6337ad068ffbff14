import { execute } from "../support/ClusterDatabase.ts"
import type { RealtimeRig } from "../support/RealtimeRig.ts"
import { familyCpuMillis, usageOf } from "./ProcessUsage.ts"

/** Work that several workers repeat. */
export interface Load {
  readonly name: string
  readonly workers: number
  /** Whether each item is a payment on the chain. */
  readonly pays?: boolean
  /** Does one piece. Resolves to its number of items. */
  readonly work: (worker: number) => Promise<number>
}

/** The rate of items, and the cost of one. */
export interface Measured {
  readonly name: string
  readonly perSecond: number
  readonly serverMillis: number
  readonly databaseMillis: number
  readonly benchMillis: number
}

/** Of a load before it is measured. */
const WARM_UP_MILLIS = 3_000

const millisOf = async ({ cluster }: RealtimeRig) => {
  const [row] = await execute(
    cluster.database.url,
    "select pid from pg_stat_activity where application_name like 'agentos events%' limit 1"
  )
  return () => ({
    server: usageOf(cluster.servers[0]!.pid()).cpuMillis,
    database: familyCpuMillis(Number(row?.["pid"])),
    bench: usageOf(process.pid).cpuMillis
  })
}

/** Measures `run`, which resolves to its number of items and its duration. */
export const measureOnce = async (
  rig: RealtimeRig,
  name: string,
  run: () => Promise<{ readonly count: number; readonly millis: number }>
): Promise<Measured> => {
  const cpu = await millisOf(rig)
  const before = cpu()
  const { count, millis } = await run()
  const after = cpu()
  return {
    name,
    perSecond: count / (millis / 1_000),
    serverMillis: (after.server - before.server) / count,
    databaseMillis: (after.database - before.database) / count,
    benchMillis: (after.bench - before.bench) / count
  }
}

/** Runs a load for some time, after a warm-up. */
export const measure = async (rig: RealtimeRig, load: Load, seconds: number): Promise<Measured> => {
  const runFor = async (millis: number) => {
    const startedAt = performance.now()
    let count = 0
    const worker = async (place: number) => {
      while (performance.now() - startedAt < millis) {
        const done = await load.work(place)
        count += done
      }
    }
    await Promise.all(Array.from({ length: load.workers }, (_, place) => worker(place)))
    return { count, millis: performance.now() - startedAt }
  }
  await runFor(WARM_UP_MILLIS)
  return measureOnce(rig, load.name, () => runFor(seconds * 1_000))
}
