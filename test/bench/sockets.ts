import { setTimeout as sleep } from "node:timers/promises"
import { execute } from "../support/ClusterDatabase.ts"
import { type Bench, DURABLE, table } from "./Bench.ts"
import { usageOf } from "./ProcessUsage.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { startSocketClients } from "./SocketClients.ts"

/** Sockets of the warm-up, during which the server compiles its code and fills its pools. */
const WARM_UP = 500

/** Waits up to a minute until the memory of the process stops falling. Resolves to it. */
const settledBytes = async (pid: number): Promise<number> => {
  let lowest = usageOf(pid).residentBytes
  for (let calm = 0, seconds = 0; calm < 3 && seconds < 60; seconds += 5) {
    await sleep(5_000)
    const now = usageOf(pid).residentBytes
    calm = now < 0.99 * lowest ? 0 : calm + 1
    lowest = Math.min(lowest, now)
  }
  return lowest
}

/** The idle cost per second: the server's share of a core, and the transactions of the database. */
const idleCost = async (rig: RealtimeRig, pid: number, seconds: number) => {
  const commits = async () => {
    const [row] = await execute(
      rig.cluster.database.url,
      "select xact_commit::integer as count from pg_stat_database where datname = current_database()"
    )
    return Number(row?.["count"])
  }
  const [before, commitsBefore] = [usageOf(pid), await commits()]
  const startedAt = performance.now()
  await sleep(seconds * 1_000)
  const elapsed = performance.now() - startedAt
  const after = usageOf(pid)
  return {
    cpuPercent: (100 * (after.cpuMillis - before.cpuMillis)) / elapsed,
    commitsPerSecond: (1_000 * ((await commits()) - commitsBefore)) / elapsed
  }
}

export const sockets: Bench = {
  summary: "memory, processor time and queries of idle authenticated sockets on one server, clients in another process",
  options: { count: 5_000, seconds: 60 },
  run: async (bench) => {
    const [count, seconds] = [bench.option("count"), bench.option("seconds")]
    const rig = await startRealtimeRig({ servers: 1, database: DURABLE })
    bench.atEnd(rig.stop)
    const server = rig.cluster.servers[0]!
    const pid = server.pid()
    const orders = async (some: number) => rig.orders(await rig.tenants(some))

    const warmUp = startSocketClients()
    await warmUp.open(await orders(WARM_UP))
    await warmUp.stop()
    const bytesBefore = await settledBytes(pid)
    const idleBefore = await idleCost(rig, pid, seconds)

    const clients = startSocketClients()
    bench.atEnd(clients.stop)
    const opened = await clients.open(await orders(count))
    const peak = usageOf(pid).residentBytes
    const bytesAfter = await settledBytes(pid)
    const idleAfter = await idleCost(rig, pid, seconds)
    const { open } = await clients.report()
    const kilobytes = (bytes: number) => (bytes / 1024).toFixed(0)
    bench.say(
      table(
        ["server with", "RSS kB", "CPU % of a core", "database transactions a second"],
        [
          [
            "no sockets",
            kilobytes(bytesBefore),
            idleBefore.cpuPercent.toFixed(2),
            idleBefore.commitsPerSecond.toFixed(2)
          ],
          [
            `${open} idle sockets`,
            kilobytes(bytesAfter),
            idleAfter.cpuPercent.toFixed(2),
            idleAfter.commitsPerSecond.toFixed(2)
          ]
        ]
      )
    )
    bench.say(
      `${((bytesAfter - bytesBefore) / 1024 / open).toFixed(1)} kB a socket (${((peak - bytesBefore) / 1024 / open).toFixed(1)} ` +
        `right after opening); opened ${(open / (opened.millis / 1_000)).toFixed(0)} a second; idle for ${seconds} s`
    )
    if (open < count) throw new Error(`only ${open} of ${count} sockets were open at the end`)
  }
}
