import { randomBytes } from "node:crypto"
import { Wallet } from "../faults/client/Wallet.ts"
import { startTraceCollector } from "../support/TraceCollector.ts"
import { type Bench, type BenchRun, type ComparisonResult, quantile, table } from "./Bench.ts"
import { compare, median } from "./compare/Comparison.ts"
import { httpSide, type HttpWork, type LoadGenerator, startGenerator } from "./compare/HttpSides.ts"
import { buildServer, buildServerWith, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import type { Side } from "./compare/Side.ts"
import { mailSide, SMALL_MAIL, startMailers, storedIn, WITHOUT_MAIL_LIMITS } from "./mailIn.ts"
import { startBuyers, startInstantChain } from "./paid.ts"
import { treeCpuMillis } from "./ProcessUsage.ts"

const WITHOUT = new URL("WithoutTelemetry.ts", import.meta.url)
const ONE_IN = 100
/** The most that metrics and traces may add to the processor time of an item. */
const OVERHEAD_MAX = 0.03

/** How often Prometheus reads the metrics in the documented configuration. */
const SCRAPED_EVERY_MILLIS = 15_000
const SCRAPES = 20
/** Two processes of one program differ by up to 6 % for as long as they run, so each load is measured in several. */
const WARM_UP_MILLIS = 4_000

const CHALLENGE: HttpWork = {
  method: "POST",
  path: "/api/v1/email/mailboxes",
  headers: { "content-type": "application/json" },
  body: `{"localPart":"m{unique}"}`,
  status: 402,
  check: () => undefined
}

/** Starts a program on a database and a chain of its own. Returns its side of each load. */
const startLoads = async (
  bench: BenchRun,
  generator: LoadGenerator,
  name: string,
  program: string,
  isScraped: boolean,
  environment: Readonly<Record<string, string>> = {}
) => {
  const chain = await startInstantChain(bench)
  const token = randomBytes(32).toString("hex")
  const server = await startServerUnderTest(bench, {
    program,
    network: chain.network,
    environment: { ...WITHOUT_MAIL_LIMITS, AGENTOS_OPERATOR_TOKEN: token, ...environment }
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
      if (!reply.ok) throw new Error(`${name} has no metrics: ${reply.status}`)
      await reply.text()
    }
    return (treeCpuMillis(server.pid) - before) / SCRAPES / SCRAPED_EVERY_MILLIS
  }
  const { address: to } = await new Wallet(servers).on().createMailbox("bench")
  const buyers = await startBuyers(bench, async () => undefined)
  const sendMail = startMailers(bench, zoneFile!)
  const roundsOfProcess = Math.ceil(bench.option("rounds") / bench.option("processes"))
  const renewing = ({ work }: Pick<Side, "work">): Side => ({
    name,
    work,
    cpuMillis: () => treeCpuMillis(server.pid),
    prepare: async (round) => {
      if (round % roundsOfProcess !== 0) return
      await server.restart()
      // From the first reading on, a process measures the delay of its event loop.
      if (isScraped) await scrape()
      await work(WARM_UP_MILLIS)
    }
  })
  return {
    scrape,
    challenges: renewing(httpSide(generator, { name, url, pid }, CHALLENGE)),
    purchases: renewing({ work: (millis) => buyers.buy(url, millis) }),
    mails: renewing(mailSide(sendMail, { name, pid, ...mail, to, ...storedIn(database.url) }, SMALL_MAIL))
  }
}

const inOrder = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/**
 * Says how much more processor time each program uses for an item than the build without metrics and traces. A pair is of
 * one round, with the mean of that build's two sides. Other load only adds to the time, and the lower quartile of all
 * rounds has the least of it. Beside its first side alone, the second shows the noise. `scraping` is added, as for a
 * server that keeps a core busy.
 */
const describeOverhead = ({ sides, unit }: ComparisonResult, scraping: number): string => {
  const [traced, without, again, metered] = sides.map(({ cpuMillis }) => cpuMillis)
  const lowerQuartile = (values: ReadonlyArray<number>) => quantile(inOrder(values), 0.25)
  const rows = [
    { name: "metrics", millis: metered!, bases: [without!, again!], added: scraping },
    { name: "metrics and traces", millis: traced!, bases: [without!, again!], added: scraping },
    { name: "noise: without, again", millis: again!, bases: [without!], added: 0 }
  ].map(({ added, bases, millis, name }) => {
    const baseOf = (round: number) => bases.reduce((sum, base) => sum + base[round]!, 0) / bases.length
    const more = inOrder(millis.map((each, round) => each / baseOf(round) - 1 + added))
    const range = (low: number, high: number) => `${percent(quantile(more, low))} to ${percent(quantile(more, high))}`
    const calm = lowerQuartile(millis) / lowerQuartile(bases.flat()) - 1 + added
    return [name, percent(median(more)), range(0.25, 0.75), range(0, 1), percent(calm)]
  })
  const heads = [
    "program",
    `more for each of the ${unit}: median of pairs`,
    "half of them",
    "all",
    "of lower quartiles"
  ]
  return (
    `processor time beside a build without them (goal: at most ${percent(OVERHEAD_MAX)}); the reading of the metrics each ` +
    `${SCRAPED_EVERY_MILLIS / 1_000} s, ${(100 * scraping).toFixed(2)} % of a core, is in it\n\n${table(heads, rows)}`
  )
}

export const overhead: Bench = {
  summary:
    "processor time of metrics, and of traces of one request in a hundred, on challenges, purchases and mail, beside a build without them",
  options: { rounds: 12, seconds: 3, processes: 6 },
  run: async (bench) => {
    const [built, without] = [await buildServer(), await buildServerWith(bench, WITHOUT)]
    const collector = await startTraceCollector()
    bench.atEnd(collector.close)
    const traced = { AGENTOS_TRACES_URL: collector.url, AGENTOS_TRACES_ONE_IN: String(ONE_IN) }
    const generator = await startGenerator(bench)
    const loads = [
      await startLoads(bench, generator, "metrics and traces", built, true, traced),
      await startLoads(bench, generator, "without", without, false),
      await startLoads(bench, generator, "without, again", without, false),
      await startLoads(bench, generator, "metrics", built, true)
    ] as const
    const metered = loads[3]
    const run = async (title: string, load: "challenges" | "purchases" | "mails") => {
      const before = collector.spans.length
      const [ours, ...peers] = loads.map((each): Side => each[load])
      const goal = 1 / (1 + OVERHEAD_MAX)
      const result = await compare(bench, { title, unit: load, goal, ours: ours!, peers })
      if (collector.spans.length === before) throw new Error(`${title}: no traces`)
      bench.say(`\n${describeOverhead(result!, await metered.scrape())}`)
    }
    await run("402 challenge with a body", "challenges")
    await run("paid creation of a mailbox, chain and facilitator answer at once", "purchases")
    await run("mail of 2 KiB from its connection until it is stored with its event", "mails")
  }
}
