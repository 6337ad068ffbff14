import { setTimeout as sleep } from "node:timers/promises"
import { execute } from "../support/ClusterDatabase.ts"
import { type Bench, type BenchRun, quantile, table } from "./Bench.ts"
import { startDiskProbe } from "./DiskProbe.ts"
import { familyCpuMillis, usageOf } from "./ProcessUsage.ts"
import { VoiceCaller } from "./VoiceCaller.ts"
import { startVoiceService, type VoiceService } from "./VoiceService.ts"

/** The warm-up, and the time for the last answers. */
const WARM_UP_MILLIS = 15_000
const LAST_ANSWER_MILLIS = 6_000
/** Calls that arrive at the same time. */
const ARRIVING_AT_ONCE = 8

const callAll = async ({ cluster, numbers }: VoiceService): Promise<ReadonlyArray<VoiceCaller>> => {
  const callers: Array<VoiceCaller> = []
  const waiting = numbers.map((number, index) => ({ number, index })).toReversed()
  const dial = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      callers.push(await VoiceCaller.call(cluster.servers[0]!.baseUrl, next.index, next.number))
    }
  }
  await Promise.all(Array.from({ length: ARRIVING_AT_ONCE }, dial))
  return callers
}

/** Lets all callers talk for some time, and waits for their last answers. */
const talkAll = async (callers: ReadonlyArray<VoiceCaller>, millis: number): Promise<void> => {
  const until = performance.now() + millis
  await Promise.all(callers.map((caller) => caller.talk(until)))
  await sleep(LAST_ANSWER_MILLIS)
}

/** Processor time of each process, in milliseconds since its start. */
const cpuMeter = async ({ agents, cluster }: VoiceService, isEmbedded: boolean) => {
  const [row] = isEmbedded
    ? []
    : await execute(
        cluster.database.url,
        "select pid from pg_stat_activity where backend_type = 'client backend' limit 2"
      )
  const member = Number(row?.["pid"])
  return (): ReadonlyArray<readonly [name: string, millis: number]> => [
    ["the server", usageOf(cluster.servers[0]!.pid()).cpuMillis],
    ...(isEmbedded ? [] : [["PostgreSQL, all of its processes", familyCpuMillis(member)] as const]),
    ["the agents", usageOf(agents.pid).cpuMillis],
    ["the callers", usageOf(process.pid).cpuMillis]
  ]
}

const sayLatencies = (
  { say }: BenchRun,
  callers: ReadonlyArray<VoiceCaller>,
  own: ReadonlyMap<string, number>,
  pages: ReadonlyArray<number>
): number => {
  const turns = callers.flatMap((caller) => caller.turns)
  const answered = turns.flatMap(({ answeredAt, saidAt, text }) => {
    const ownMillis = own.get(text)
    return answeredAt === undefined || ownMillis === undefined ? [] : [{ whole: answeredAt - saidAt, ownMillis }]
  })
  const sortedRow = (name: string, sorted: ReadonlyArray<number>) => [
    name,
    ...[0.5, 0.95, 0.99, 1].map((share) => quantile(sorted, share).toFixed(1))
  ]
  const row = (name: string, of: (turn: (typeof answered)[number]) => number) =>
    sortedRow(
      name,
      answered.map(of).toSorted((a, b) => a - b)
    )
  say(
    table(
      ["milliseconds", "p50", "p95", "p99", "most"],
      [
        row("beyond the agent's own time", ({ ownMillis, whole }) => whole - ownMillis),
        row("the agent's own", ({ ownMillis }) => ownMillis),
        row("turn said to first words", ({ whole }) => whole),
        sortedRow("the disk, beside it: a page kept", pages)
      ]
    )
  )
  return turns.length - answered.length
}

export const voice: Bench = {
  summary:
    "a caller's turn to the first words of its agent's streamed answer, beyond the agent's own time, in calls at one " +
    "time on one server, a turn every 4 to 6 s in each; --embedded 1: with the database in the server",
  options: { calls: 200, seconds: 60, think: 300, embedded: 0 },
  run: async (bench) => {
    const [calls, seconds] = [bench.option("calls"), bench.option("seconds")]
    const isEmbedded = bench.option("embedded") > 0
    const service = await startVoiceService(bench, { numbers: calls, thinkMillis: bench.option("think"), isEmbedded })
    const pid = service.cluster.servers[0]!.pid()
    const bytesBefore = usageOf(pid).residentBytes

    const dialledAt = performance.now()
    const callers = await callAll(service)
    bench.atEnd(async () => callers.forEach((caller) => caller.hangUp()))
    const perSecond = calls / ((performance.now() - dialledAt) / 1_000)
    await talkAll(callers, WARM_UP_MILLIS)
    await service.agents.times()
    for (const caller of callers) caller.turns.splice(0)

    const cpu = await cpuMeter(service, isEmbedded)
    const before = new Map(cpu())
    const disk = await startDiskProbe()
    bench.atEnd(disk.stop)
    const startedAt = performance.now()
    await talkAll(callers, seconds * 1_000)
    const elapsed = performance.now() - startedAt
    const used = cpu().map(([name, millis]) => [name, millis - before.get(name)!] as const)
    const bytesAfter = usageOf(pid).residentBytes
    const pages = disk.took()

    const missing = sayLatencies(bench, callers, new Map(await service.agents.times()), pages)
    const turns = callers.reduce((sum, caller) => sum + caller.turns.length, 0)
    bench.say(
      `${turns} turns in ${calls} calls, ${(turns / seconds).toFixed(0)} a second; ${perSecond.toFixed(0)} calls ` +
        `answered and greeted a second; ${isEmbedded ? "the embedded database" : "PostgreSQL, fsync on"}`
    )
    const rows = used.map(([name, millis]) => [
      name,
      (millis / turns).toFixed(2),
      ((100 * millis) / elapsed).toFixed(0)
    ])
    bench.say(table(["processor time", "ms a turn", "% of a core"], rows))
    const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0)
    bench.say(
      `the server's memory: ${megabytes(bytesBefore)} MB before the calls, ${megabytes(bytesAfter)} MB with them, ` +
        `${((bytesAfter - bytesBefore) / 1024 / calls).toFixed(0)} kB a call`
    )
    const gone = callers.filter(({ isOpen }) => !isOpen).length
    if (missing > 0 || gone > 0) throw new Error(`${missing} turns had no answer, and ${gone} calls ended`)
  }
}
