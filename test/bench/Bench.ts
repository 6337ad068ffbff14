import { parseArgs } from "node:util"
import type { OtherBuild } from "./compare/Side.ts"

/** A measurement that a command runs. It starts its own services, prints its results and deletes its data. */
export interface Bench {
  readonly summary: string
  /** Options with their default numbers: `--count 5000`. */
  readonly options: Readonly<Record<string, number>>
  /** Whether `bench` without a name runs it. */
  readonly comparesPeers?: boolean
  readonly run: (bench: BenchRun) => Promise<void>
}

export interface BenchRun {
  readonly option: (name: string) => number
  readonly say: (line: string) => void
  /** Adds a result to the file of `--json`. */
  readonly record: (result: ComparisonResult | LatencyResult) => void
  /** Adds a function that runs before the process ends, in reverse order, even after a failure. */
  readonly atEnd: (stop: () => Promise<unknown>) => void
  /** Another build, which comparisons measure as one more side. */
  readonly against?: OtherBuild
}

/** Runs a bench, and its `atEnd` functions at its end, also if it fails or the process is interrupted. */
export const runBench = async (
  bench: Bench,
  run: Omit<BenchRun, "atEnd" | "against">,
  openOther?: (run: BenchRun) => Promise<OtherBuild>
): Promise<void> => {
  const stops: Array<() => Promise<unknown>> = []
  const stopAll = async () => {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop()
  }
  const interrupted = () => void stopAll().then(() => process.exit(130))
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted)
  try {
    const own: BenchRun = { ...run, atEnd: (stop) => void stops.push(stop) }
    await bench.run(openOther === undefined ? own : { ...own, against: await openOther(own) })
  } finally {
    await stopAll()
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted)
  }
}

/** Rates are a second; processor times are of the server, in milliseconds for each item. */
export interface SideResult {
  readonly name: string
  readonly rates: ReadonlyArray<number>
  readonly cpuMillis: ReadonlyArray<number>
}

export interface RatioResult {
  readonly peer: string
  readonly ofMedians: number
  /** Of each round. */
  readonly paired: ReadonlyArray<number>
}

export interface ComparisonResult {
  readonly title: string
  readonly unit: string
  readonly goal: number
  readonly ceiling?: number
  readonly sides: ReadonlyArray<SideResult>
  readonly ratios: ReadonlyArray<RatioResult>
}

/** Latencies in milliseconds, each of every round. */
export interface LatencyResult {
  readonly title: string
  readonly goal: number
  readonly sides: ReadonlyArray<{
    readonly name: string
    readonly p50: ReadonlyArray<number>
    readonly p95: ReadonlyArray<number>
    readonly p99: ReadonlyArray<number>
    readonly cpuMillis: ReadonlyArray<number>
  }>
  readonly ratios: ReadonlyArray<Pick<RatioResult, "peer" | "ofMedians">>
}

/** Reads the options of a bench. Throws an error with a message for the user if one is invalid. */
export const readOptions = (bench: Bench, args: ReadonlyArray<string>): ((name: string) => number) => {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.keys(bench.options).map((name) => [name, { type: "string" as const }]))
  })
  const given = new Map(Object.entries(bench.options))
  for (const [name, text] of Object.entries(values)) {
    const value = Number(text)
    if (text === undefined || !(value > 0)) throw new Error(`--${name} must be a number above 0`)
    given.set(name, value)
  }
  return (name) => {
    const value = given.get(name)
    if (value === undefined) throw new Error(`the bench has no option ${name}`)
    return value
  }
}

/** Formats rows as a Markdown table. */
export const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string => {
  const cells = [heads, ...rows].map((row) => row.map(String))
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0), 3))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  return [line(cells[0]!), line(widths.map((width) => "-".repeat(width))), ...cells.slice(1).map(line)].join("\n")
}

/** The value below which this share (0 to 1) of the sorted values lies. */
export const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** Settings of a durable PostgreSQL. Tests use faster ones. */
export const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" }

/** The driver that a Fastify application with PostgreSQL would use. */
export const PG = { pg: "8.23.1" }
