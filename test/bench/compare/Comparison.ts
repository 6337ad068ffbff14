import { type BenchRun, type ComparisonResult, table } from "../Bench.ts"
import { serveSide, SERVES_ANOTHER } from "./OtherBuild.ts"
import type { Side, Work } from "./Side.ts"

export interface Comparison {
  /** The measured work, with the number of callers. */
  readonly title: string
  /** The counted items, for example "answers". */
  readonly unit: string
  readonly ours: Side
  readonly peers: ReadonlyArray<Side>
  /** The ratio to the first peer that is the goal. */
  readonly goal: number
  /** The most that the load generator can do, a second. */
  readonly ceiling?: number
}

/** A side that does more than this share of the ceiling may be limited by the load generator. */
const CEILING_SHARE = 0.8

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[sorted.length / 2 - 1] ?? Number.NaN)) / 2
}

const spread = (values: ReadonlyArray<number>, digits: number): string =>
  `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`

/** Lets callers do the same work again and again for a time. */
export const repeat = async (callers: number, millis: number, once: () => Promise<void>): Promise<Work> => {
  const startedAt = performance.now()
  let count = 0
  const caller = async () => {
    while (performance.now() - startedAt < millis) {
      await once()
      count++
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { count, millis: performance.now() - startedAt }
}

/** Every bench that compares takes these. */
export const COMPARISON_OPTIONS = { rounds: 5, seconds: 5 }

/** Lets the sides work in turn, after a warm-up of each, and says their medians and ratios. Returns these lines. */
export const compare = async (bench: BenchRun, comparison: Comparison): Promise<ComparisonResult | undefined> => {
  const { ceiling, goal, ours, peers, title, unit } = comparison
  if (SERVES_ANOTHER in process.env) {
    await serveSide(title, ours)
    return undefined
  }
  const [rounds, millis] = [bench.option("rounds"), bench.option("seconds") * 1_000]
  const earlier = bench.against === undefined ? [] : [await bench.against.side(title)]
  const sides = [ours, ...peers, ...earlier].map((side) => ({
    side,
    rates: new Array<number>(),
    cpuMillis: new Array<number>()
  }))
  for (const { side } of sides) await side.work(millis)
  for (let round = 0; round < rounds; round++)
    // Every other round in the other order, so that no side always follows the same one.
    for (const { cpuMillis, rates, side } of round % 2 === 0 ? sides : sides.toReversed()) {
      await side.prepare?.(round)
      const before = side.cpuMillis?.()
      const work = await side.work(millis)
      if (work.count === 0) throw new Error(`${side.name} did nothing in ${millis} ms`)
      rates.push(work.count / (work.millis / 1_000))
      if (before !== undefined) cpuMillis.push((side.cpuMillis!() - before) / work.count)
    }
  const [own, ...others] = sides
  const result: ComparisonResult = {
    title,
    unit,
    goal,
    ...(ceiling !== undefined && { ceiling }),
    sides: sides.map(({ cpuMillis, rates, side }) => ({ name: side.name, rates, cpuMillis })),
    ratios: others.map(({ rates, side }) => ({
      peer: side.name,
      ofMedians: median(own!.rates) / median(rates),
      paired: own!.rates.map((rate, round) => rate / rates[round]!)
    }))
  }
  bench.record(result)
  bench.say(`\n${describe(result)}`)
  const limited = result.sides.filter(({ rates }) => median(rates) > CEILING_SHARE * (ceiling ?? Infinity))
  for (const { name } of limited) bench.say(`\n${name} is close to the most that the load generator can do`)
  return result
}

/** Formats a result as Markdown. */
export const describe = ({ goal, ratios, sides, title, unit }: ComparisonResult): string => {
  const rows = sides.map(({ cpuMillis, name, rates }, index) => {
    const ratio = ratios[index - 1]
    return [
      name,
      median(rates).toFixed(0),
      spread(rates, 0),
      cpuMillis.length === 0 ? "" : median(cpuMillis).toFixed(3),
      ...(ratio === undefined
        ? ["", "", ""]
        : [ratio.ofMedians.toFixed(2), median(ratio.paired).toFixed(2), spread(ratio.paired, 2)])
    ]
  })
  const heads = [
    "program",
    `${unit} a second`,
    "range",
    "server ms each",
    "ours to it: of medians",
    "of pairs: median",
    "range"
  ]
  return `**${title}** (goal: ${goal.toFixed(1)} × ${ratios[0]?.peer ?? ""})\n\n${table(heads, rows)}`
}
