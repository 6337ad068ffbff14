import { type BenchRun, type LatencyResult, quantile, table } from "../Bench.ts"
import { median } from "./Comparison.ts"

/** One of the programs whose latencies are compared. */
export interface LatencySide {
  readonly name: string
  /** Works for about this time. Resolves to the latency of each item, in milliseconds; rejects if an item fails. */
  readonly measure: (millis: number) => Promise<ReadonlyArray<number>>
  /** The processor time of its server so far. */
  readonly cpuMillis: () => number
}

export interface LatencyComparison {
  readonly title: string
  readonly ours: LatencySide
  readonly peers: ReadonlyArray<LatencySide>
  /** The ratio of medians to the first peer that is the goal: at most this. */
  readonly goal: number
}

const SHARES = [0.5, 0.95, 0.99]

/** Measures the sides in turn, after a warm-up of each, and says their quantiles and ratios. */
export const compareLatencies = async (
  bench: BenchRun,
  { goal, ours, peers, title }: LatencyComparison
): Promise<void> => {
  const [rounds, millis] = [bench.option("rounds"), bench.option("seconds") * 1_000]
  const sides = [ours, ...peers].map((side) => ({
    side,
    quantiles: new Array<ReadonlyArray<number>>(),
    cpuMillis: new Array<number>()
  }))
  for (const { side } of sides) await side.measure(millis)
  for (let round = 0; round < rounds; round++)
    for (const { cpuMillis, quantiles, side } of round % 2 === 0 ? sides : sides.toReversed()) {
      const before = side.cpuMillis()
      const sorted = (await side.measure(millis)).toSorted((a, b) => a - b)
      if (sorted.length === 0) throw new Error(`${side.name} did nothing in ${millis} ms`)
      quantiles.push(SHARES.map((share) => quantile(sorted, share)))
      cpuMillis.push((side.cpuMillis() - before) / sorted.length)
    }
  const medianOf = (quantiles: ReadonlyArray<ReadonlyArray<number>>, place: number) =>
    median(quantiles.map((each) => each[place]!))
  const [own, ...others] = sides
  const result: LatencyResult = {
    title,
    goal,
    sides: sides.map(({ cpuMillis, quantiles, side: { name } }) => ({
      name,
      p50: quantiles.map(([p50]) => p50!),
      p95: quantiles.map(([, p95]) => p95!),
      p99: quantiles.map(([, , p99]) => p99!),
      cpuMillis
    })),
    ratios: others.map(({ quantiles, side }) => ({
      peer: side.name,
      ofMedians: medianOf(own!.quantiles, 0) / medianOf(quantiles, 0)
    }))
  }
  bench.record(result)
  bench.say(`\n**${title}** (goal: at most ${goal.toFixed(1)} × ${peers[0]?.name ?? ""})\n`)
  const rows = sides.map(({ cpuMillis, quantiles, side }, index) => [
    side.name,
    ...SHARES.map((_, place) => medianOf(quantiles, place).toFixed(1)),
    median(cpuMillis).toFixed(2),
    result.ratios[index - 1]?.ofMedians.toFixed(2) ?? ""
  ])
  bench.say(table(["milliseconds", "p50", "p95", "p99", "server ms each", "ours to it: of p50"], rows))
}
