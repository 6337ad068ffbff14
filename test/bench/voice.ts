import { setTimeout as sleep } from "node:timers/promises"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { type Bench, type BenchRun, quantile } from "./Bench.ts"
import { startPeer } from "./compare/HttpSides.ts"
import { compareLatencies, type LatencySide } from "./compare/LatencyComparison.ts"
import { startDiskProbe } from "./DiskProbe.ts"
import type { VoiceLoopOptions } from "./peer/voiceLoopMain.ts"
import { usageOf } from "./ProcessUsage.ts"
import { VoiceCaller } from "./VoiceCaller.ts"
import { startVoiceService, type VoiceService } from "./VoiceService.ts"

/** The time for the last answers. */
const LAST_ANSWER_MILLIS = 6_000
/** Calls that arrive at the same time. */
const ARRIVING_AT_ONCE = 8

/** Opens calls, a few at a time. */
const callAll = async (
  count: number,
  call: (index: number) => Promise<VoiceCaller>
): Promise<ReadonlyArray<VoiceCaller>> => {
  const callers: Array<VoiceCaller> = []
  let next = 0
  const dial = async () => {
    while (next < count) callers.push(await call(next++))
  }
  await Promise.all(Array.from({ length: ARRIVING_AT_ONCE }, dial))
  return callers
}

/** Turns in calls that stay open: each latency is the time to the first words, without the agent's own. */
const side = (
  bench: BenchRun,
  { agents }: VoiceService,
  { name, pid }: { readonly name: string; readonly pid: number },
  callers: ReadonlyArray<VoiceCaller>
): LatencySide => {
  bench.atEnd(async () => callers.forEach((caller) => caller.hangUp()))
  return {
    name,
    cpuMillis: () => usageOf(pid).cpuMillis,
    measure: async (millis) => {
      for (const caller of callers) caller.turns.splice(0)
      await agents.times()
      const until = performance.now() + millis
      await Promise.all(callers.map((caller) => caller.talk(until)))
      await sleep(LAST_ANSWER_MILLIS)
      const own = new Map(await agents.times())
      return callers
        .flatMap(({ turns }) => turns)
        .map(({ answeredAt, saidAt, text }) => {
          const ownMillis = own.get(text)
          if (answeredAt === undefined || ownMillis === undefined) throw new Error(`${name}: a turn had no answer`)
          return answeredAt - saidAt - ownMillis
        })
    }
  }
}

const startLoop = async (bench: BenchRun, { agentUrl, agents }: VoiceService, database: string, calls: number) => {
  await execute(database, "create database peer")
  const peer = await startPeer<VoiceLoopOptions>(bench, "`ws`, fetch, `pg`", "voiceLoopMain.ts", {
    databaseUrl: databaseUrl(database, "peer"),
    agentUrl,
    caFile: agents.caFile
  })
  const url = peer.url.replace(/^http/, "ws")
  return { ...peer, callers: await callAll(calls, (index) => VoiceCaller.connect(url, index)) }
}

export const voice: Bench = {
  summary:
    "a caller's turn to the first words of its agent's streamed answer, beyond the agent's own time, in calls at one " +
    "time, a turn every 4 to 6 s in each, beside a loop of ws and fetch that stores two rows; --embedded 1: with the " +
    "database in the server, beside nothing",
  options: { calls: 200, rounds: 5, seconds: 20, think: 300, embedded: 0 },
  comparesPeers: true,
  run: async (bench) => {
    const calls = bench.option("calls")
    const isEmbedded = bench.option("embedded") > 0
    const service = await startVoiceService(bench, { numbers: calls, thinkMillis: bench.option("think"), isEmbedded })
    const { numbers, server } = service
    const residentBytes = () => usageOf(server.pid).residentBytes
    const bytesBefore = residentBytes()
    const callers = await callAll(calls, (index) => VoiceCaller.call(server.url, index, numbers[index]!))
    const loop = service.databaseUrl && (await startLoop(bench, service, service.databaseUrl, calls))
    const disk = await startDiskProbe()
    bench.atEnd(disk.stop)
    await compareLatencies(bench, {
      title: `turn to first words beyond the agent's own time, ${calls} calls`,
      goal: 1.5,
      ours: side(bench, service, server, callers),
      peers: loop ? [side(bench, service, loop, loop.callers)] : []
    })
    const pages = disk.took()
    bench.say(
      `a flush of the disk beside it: p50 ${quantile(pages, 0.5).toFixed(1)} ms, p99 ${quantile(pages, 0.99).toFixed(1)} ms; ` +
        `${((residentBytes() - bytesBefore) / 1024 / calls).toFixed(0)} kB of the server's memory a call`
    )
    if (callers.some(({ isOpen }) => !isOpen)) throw new Error("calls have ended")
  }
}
