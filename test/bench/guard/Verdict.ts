import type { ComparisonResult } from "../Bench.ts"
import { median } from "../compare/Comparison.ts"

/** The ratios that are compared with the record. */
const KINDS = {
  /** Our rate, as a share of the first peer's. It differs by up to a third between hosts, where system calls or memory cost more. */
  rate: {
    what: "rate beside the peer",
    better: Math.max,
    isPassed: (onRecord: number, now: number) => now >= onRecord / 2
  },
  /** Our processor time for each item, as a share of the last release's. */
  cost: {
    what: "processor time beside the last release",
    better: Math.min,
    isPassed: (onRecord: number, now: number) => now <= onRecord * 1.15
  }
}
type Kind = keyof typeof KINDS
const kinds = Object.keys(KINDS) as ReadonlyArray<Kind>

/** The ratios of each comparison, by its title. */
export type Ratios = Readonly<Record<string, Readonly<Partial<Record<Kind, number>>>>>

const rounded = (ratio: number): number => Number(ratio.toFixed(2))

/** Returns the ratios of each comparison, whose last side is the release, rounded as they are stored. */
export const ratiosOf = (results: ReadonlyArray<ComparisonResult>): Ratios =>
  Object.fromEntries(
    results.map(({ ratios, sides, title }) => {
      const [ours, release] = [sides[0], sides.at(-1)]
      const pairs = ours?.cpuMillis.map((millis, round) => millis / (release?.cpuMillis[round] ?? Number.NaN)) ?? []
      return [title, { rate: rounded(ratios[0]?.ofMedians ?? 0), cost: rounded(median(pairs)) }]
    })
  )

const titlesOf = (...all: ReadonlyArray<Ratios>): ReadonlyArray<string> => [...new Set(all.flatMap(Object.keys))]

/** Returns the median of each ratio over several attempts. */
export const medians = (attempts: ReadonlyArray<Ratios>): Ratios =>
  Object.fromEntries(
    titlesOf(...attempts).map((title) => {
      const of = (kind: Kind) => rounded(median(attempts.flatMap((each) => each[title]?.[kind] ?? [])))
      return [title, Object.fromEntries(kinds.map((kind) => [kind, of(kind)]))]
    })
  )

/** Returns the better ratios of each comparison over two attempts. */
export const best = (one: Ratios, other: Ratios): Ratios =>
  Object.fromEntries(
    titlesOf(one, other).map((title) => {
      const better = kinds.flatMap((kind) => {
        const known = [one[title]?.[kind], other[title]?.[kind]].filter((ratio) => ratio !== undefined)
        return known.length === 0 ? [] : [[kind, KINDS[kind].better(...known)] as const]
      })
      return [title, Object.fromEntries(better)]
    })
  )

export interface Finding {
  readonly title: string
  readonly what: string
  readonly onRecord: number | undefined
  readonly measured: number | undefined
  readonly isPassed: boolean
}

/** Compares measured ratios with those on record. A ratio that only one of them has fails. */
export const judge = (onRecord: Ratios, measured: Ratios): ReadonlyArray<Finding> =>
  titlesOf(onRecord, measured).flatMap((title) =>
    kinds.map((kind) => {
      const [before, now] = [onRecord[title]?.[kind], measured[title]?.[kind]]
      const { isPassed, what } = KINDS[kind]
      return {
        title,
        what,
        onRecord: before,
        measured: now,
        isPassed: before !== undefined && now !== undefined && isPassed(before, now)
      }
    })
  )
