import { randomBytes } from "node:crypto"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Wallet } from "../faults/client/Wallet.ts"
import { startTraceCollector } from "../support/TraceCollector.ts"
import { type Bench, type BenchRun, type ComparisonResult, quantile, table } from "./Bench.ts"
import { compare, median } from "./compare/Comparison.ts"
import { httpSide, type HttpWork, type LoadGenerator, startGenerator } from "./compare/HttpSides.ts"
import { buildServerWith, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import type { Side } from "./compare/Side.ts"
import { mailSide, SMALL_MAIL, startMailers, storedIn, WITHOUT_MAIL_LIMITS } from "./mailIn.ts"
import { startBuyers, startInstantChain } from "./paid.ts"
import { treeCpuMillis } from "./ProcessUsage.ts"
import { SWITCH_FILE } from "./SwitchedTelemetry.ts"

const SWITCHED = new URL("SwitchedTelemetry.ts", import.meta.url)
const ONE_IN = 100
/** The most that metrics and traces may add to the processor time of an item. */
const OVERHEAD_MAX = 0.03

/** How often Prometheus reads the metrics in the documented configuration. */
const SCRAPED_EVERY_MILLIS = 15_000
const SCRAPES = 20
const WARM_UP_MILLIS = 4_000

const CHALLENGE: HttpWork = {
  method: "POST",
  path: "/api/v1/email/mailboxes",
  headers: { "content-type": "application/json" },
  body: `{"localPart":"m{unique}"}`,
  status: 402,
  check: () => undefined
}

/** Starts the program on a database and a chain of its own. Returns its sides, with metrics and traces on or off, of each load. */
const startLoads = async (
  bench: BenchRun,
  generator: LoadGenerator,
  program: string,
  traces: Readonly<Record<string, string>> = {}
) => {
  const chain = await startInstantChain(bench)
  const token = randomBytes(32).toString("hex")
  const folder = mkdtempSync(join(tmpdir(), "agentos-bench-"))
  bench.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  const switchFile = join(folder, "switch")
  const server = await startServerUnderTest(bench, {
    program,
    network: chain.network,
    environment: { ...WITHOUT_MAIL_LIMITS, AGENTOS_OPERATOR_TOKEN: token, [SWITCH_FILE]: switchFile, ...traces }
  })
  const { pid, url } = server
  const { database, servers } = server.rig.cluster
  const { environment: variables, mail } = servers[0]!
  const { AGENTOS_DNS_ZONE_FILE: zoneFile, AGENTOS_OPERATOR_LISTEN: operator } = variables()
  /** Returns the share of a core that reading the metrics takes. */
  const scrape = async () => {
    const before = treeCpuMillis(server.pid)
    for (let count = 0; count < SCRAPES; count++) {
      const headers = { authorization: `Bearer ${token}` }
      const reply = await fetch(`http://${operator}/internal/metrics`, { headers })
      if (!reply.ok) throw new Error(`no metrics: ${reply.status}`)
      await reply.text()
    }
    return (treeCpuMillis(server.pid) - before) / SCRAPES / SCRAPED_EVERY_MILLIS
  }
  const turn = async (to: "on" | "off") => {
    writeFileSync(switchFile, to)
    process.kill(server.pid, "SIGUSR2")
    while (existsSync(switchFile)) await sleep(1)
  }
  const { address: to } = await new Wallet(servers).on().createMailbox("bench")
  const buyers = await startBuyers(bench, async () => undefined)
  const sendMail = startMailers(bench, zoneFile!)
  const roundsOfProcess = Math.ceil(bench.option("rounds") / bench.option("processes"))
  const switched = ({ work }: Pick<Side, "work">) => {
    let renewedIn = -1
    const renew = async (round: number) => {
      if (round % roundsOfProcess !== 0 || round === renewedIn) return
      renewedIn = round
      await server.restart()
      // From the first reading on, a process measures the delay of its event loop.
      await scrape()
      for (const state of ["off", "on"] as const) {
        await turn(state)
        await work(WARM_UP_MILLIS)
      }
    }
    return (name: string, state: "on" | "off"): Side => ({
      name,
      work,
      cpuMillis: () => treeCpuMillis(server.pid),
      prepare: async (round) => {
        await renew(round)
        await turn(state)
      }
    })
  }
  return {
    scrape,
    challenges: switched(httpSide(generator, { name: "agentos-server", url, pid }, CHALLENGE)),
    purchases: switched({ work: (millis) => buyers.buy(url, millis) }),
    mails: switched(
      mailSide(sendMail, { name: "agentos-server", pid, ...mail, to, ...storedIn(database.url) }, SMALL_MAIL)
    )
  }
}

const inOrder = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Returns the values between which the median of all possible values is, in 95 of 100 runs: by the binomial distribution. */
const medianWithin = (values: ReadonlyArray<number>): readonly [number, number] => {
  const sorted = inOrder(values)
  const half = 0.98 * Math.sqrt(sorted.length)
  const low = Math.max(0, Math.floor(sorted.length / 2 - half))
  return [sorted[low]!, sorted[sorted.length - 1 - low]!]
}

/**
 * Says how much more processor time an item takes while metrics and traces are on. A pair is of one round and process, with the mean
 * of the turns without them before and after it. `scraping` is added, as for a server that keeps a core busy.
 */
const describeOverhead = ({ sides, unit }: ComparisonResult, scraping: number): string => {
  const [traced, untraced, before, metered, after] = sides.map(({ cpuMillis }) => cpuMillis)
  const rows = [
    { name: "metrics", millis: metered!, bases: [before!, after!], added: scraping },
    { name: "metrics and traces", millis: traced!, bases: [untraced!], added: scraping },
    { name: "noise: without, again", millis: after!, bases: [before!], added: 0 }
  ].map(({ added, bases, millis, name }) => {
    const baseOf = (round: number) => bases.reduce((sum, base) => sum + base[round]!, 0) / bases.length
    const more = inOrder(millis.map((each, round) => each / baseOf(round) - 1 + added))
    const range = (low: number, high: number) => `${percent(low)} to ${percent(high)}`
    return [
      name,
      percent(median(more)),
      range(...medianWithin(more)),
      range(quantile(more, 0.25), quantile(more, 0.75))
    ]
  })
  const heads = [
    "program",
    `more for each of the ${unit}: median of pairs`,
    "the median is within, at 95 %",
    "half of the pairs"
  ]
  return (
    `processor time beside the same process without them (goal: at most ${percent(OVERHEAD_MAX)}); the reading of the metrics ` +
    `each ${SCRAPED_EVERY_MILLIS / 1_000} s, ${(100 * scraping).toFixed(2)} % of a core, is in it\n\n${table(heads, rows)}`
  )
}

export const overhead: Bench = {
  summary:
    "processor time of metrics, and of traces of one request in a hundred, on challenges, purchases and mail, in processes that turn them on and off",
  options: { rounds: 40, seconds: 1, processes: 4 },
  run: async (bench) => {
    const program = await buildServerWith(bench, SWITCHED)
    const collector = await startTraceCollector()
    bench.atEnd(collector.close)
    const generator = await startGenerator(bench)
    const traced = await startLoads(bench, generator, program, {
      AGENTOS_TRACES_URL: collector.url,
      AGENTOS_TRACES_ONE_IN: String(ONE_IN)
    })
    const metered = await startLoads(bench, generator, program)
    const run = async (title: string, load: "challenges" | "purchases" | "mails") => {
      const before = collector.spans.length
      const ours = traced[load]("metrics and traces", "on")
      const peers = [
        traced[load]("without metrics and traces", "off"),
        metered[load]("without", "off"),
        metered[load]("metrics", "on"),
        metered[load]("without, again", "off")
      ]
      const result = await compare(bench, { title, unit: load, goal: 1 / (1 + OVERHEAD_MAX), ours, peers })
      if (collector.spans.length === before) throw new Error(`${title}: no traces`)
      bench.say(`\n${describeOverhead(result!, await metered.scrape())}`)
    }
    await run("402 challenge with a body", "challenges")
    await run("paid creation of a mailbox, chain and facilitator answer at once", "purchases")
    await run("mail of 2 KiB from its connection until it is stored with its event", "mails")
  }
}
