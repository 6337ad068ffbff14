import { setTimeout as sleep } from "node:timers/promises"
import { newWallets } from "../faults/client/Wallet.ts"
import { Treasury } from "../support/Treasury.ts"
import { type Bench, type BenchRun, table } from "./Bench.ts"
import { append, constantLoad, httpLoads } from "./CapacityLoads.ts"
import type { Load } from "./CapacityMeter.ts"
import { type ServerUnderTest, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { startMailers, WITHOUT_MAIL_LIMITS } from "./mailIn.ts"
import { type ProcessUsage, usageOf } from "./ProcessUsage.ts"
import { startSocketClients } from "./SocketClients.ts"

const SOCKETS = 200
/** Callers of each load: few, so that the chain of all payments is no bottleneck. */
const CALLERS = 8
const PAYING_CALLERS = 2
/** Callers that send mail of each size at the same time. */
const MAILS = [
  { name: "mail of 2 KiB", textBytes: 2 * 1024, attachmentBytes: 0, callers: 4 },
  { name: "mail with an attachment of 1 MiB", textBytes: 2 * 1024, attachmentBytes: 1024 * 1024, callers: 2 }
]
const SAMPLE_MILLIS = 30_000
/** Of the load before the slope is measured: caches and pools fill. */
const WARM_UP_SHARE = 0.3
const LIMIT_MEGABYTES = 250

interface Sample extends ProcessUsage {
  readonly minutes: number
}

const megabytes = (bytes: number): number => bytes / 1024 / 1024

/** Stores events whose sockets acknowledge them. */
const eventLoad = async (bench: BenchRun, { rig }: ServerUnderTest): Promise<Load> => {
  const tenants = await rig.tenants(SOCKETS)
  const clients = startSocketClients()
  bench.atEnd(clients.stop)
  await clients.open(await rig.orders(tenants))
  let next = 0
  return {
    name: `events to ${SOCKETS} sockets`,
    workers: CALLERS,
    work: async () => {
      if (next % 10_000 === 9_999) await clients.report()
      return rig.run(append(tenants[next++ % SOCKETS]!, 1))
    }
  }
}

/** Sends mail from processes of their own, for a second at a time. */
const mailLoads = async (bench: BenchRun, { rig: { cluster } }: ServerUnderTest): Promise<ReadonlyArray<Load>> => {
  const [wallet] = await newWallets(cluster, new Treasury(cluster.chain), 1, 100)
  const { address } = await wallet!.on(0).createMailbox("bench")
  const { environment, mail } = cluster.servers[0]!
  const zoneFile = environment()["AGENTOS_DNS_ZONE_FILE"]!
  return MAILS.map(({ name, ...size }) => {
    const sendMail = startMailers(bench, zoneFile)
    const mailing = { host: mail.host, port: mail.port, to: address, ...size, millis: 1_000 }
    return { name, workers: 1, work: async () => (await sendMail(mailing)).count }
  })
}

/** The growth by the line of least squares, in megabytes a minute. */
const slope = (samples: ReadonlyArray<Sample>): number => {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const [time, memory] = [mean(({ minutes }) => minutes), mean(({ residentBytes }) => residentBytes)]
  const covariance = mean(({ minutes, residentBytes }) => (minutes - time) * (residentBytes - memory))
  return megabytes(covariance / mean(({ minutes }) => (minutes - time) ** 2))
}

export const memory: Bench = {
  summary:
    "memory of the server under mixed load: challenges, reads, constants, payments, mail in, and events over sockets",
  options: { minutes: 10 },
  run: async (bench) => {
    const server = await startServerUnderTest(bench, { environment: WITHOUT_MAIL_LIMITS })
    const loads = [
      ...(await httpLoads(server.rig)).map((load) => ({
        ...load,
        workers: load.pays === true ? PAYING_CALLERS : CALLERS
      })),
      { ...constantLoad(server.url), workers: CALLERS },
      await eventLoad(bench, server),
      ...(await mailLoads(bench, server))
    ]
    const startedAt = performance.now()
    const elapsed = () => performance.now() - startedAt
    const until = bench.option("minutes") * 60_000
    const counts = loads.map(() => 0)
    let hasFailed = false
    const repeat = async ({ work }: Load, index: number, worker: number) => {
      try {
        while (elapsed() < until && !hasFailed) {
          const count = await work(worker)
          counts[index]! += count
        }
      } finally {
        hasFailed ||= elapsed() < until
      }
    }
    const working = Promise.all(
      loads.flatMap((load, index) => Array.from({ length: load.workers }, (_, worker) => repeat(load, index, worker)))
    )
    const samples: Array<Sample> = []
    const sampling = (async () => {
      for (let next = 0; next < until; next += SAMPLE_MILLIS) {
        await sleep(Math.max(0, next - elapsed()))
        samples.push({ minutes: elapsed() / 60_000, ...usageOf(server.pid) })
      }
    })()
    await Promise.all([working, sampling])
    samples.push({ minutes: elapsed() / 60_000, ...usageOf(server.pid) })

    const row = ({ minutes, peakBytes, privateBytes, residentBytes }: Sample) => [
      minutes.toFixed(1),
      ...[residentBytes, privateBytes, peakBytes].map((bytes) => megabytes(bytes).toFixed(0))
    ]
    bench.say(table(["minutes", "resident, MB", "of it private", "peak (VmHWM)"], samples.map(row)))
    bench.say(
      table(
        ["load", "callers", "a second"],
        loads.map(({ name, workers }, index) => [name, workers, (counts[index]! / (until / 1_000)).toFixed(0)])
      )
    )
    const warm = samples.filter(({ minutes }) => minutes * 60_000 >= WARM_UP_SHARE * until)
    const peak = megabytes(samples.at(-1)!.peakBytes)
    bench.say(
      `peak ${peak.toFixed(0)} MB (goal: below ${LIMIT_MEGABYTES}); after the first ` +
        `${(100 * WARM_UP_SHARE).toFixed(0)} % of the time it grows by ${slope(warm).toFixed(2)} MB a minute`
    )
  }
}
