import type { ComparisonResult } from "../Bench.ts"

/** Ratios of ours to the first peer, by the title of the comparison. */
export type Ratios = Readonly<Record<string, number>>

/**
 * A ratio below this share of the one on record fails. The ratios of one build differ by up to a third between hosts, because
 * system calls and memory cost more on some than on others.
 */
const SHARE_MIN = 1 / 2

/** Returns the ratio of each comparison, rounded as it is stored. */
export const ratiosOf = (results: ReadonlyArray<ComparisonResult>): Ratios =>
  Object.fromEntries(results.map(({ ratios, title }) => [title, Number((ratios[0]?.ofMedians ?? 0).toFixed(2))]))

/** Returns the better ratio of each comparison over two attempts. */
export const best = (one: Ratios, other: Ratios): Ratios =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((title) => [
      title,
      Math.max(one[title] ?? 0, other[title] ?? 0)
    ])
  )

export interface Finding {
  readonly title: string
  readonly onRecord: number | undefined
  readonly measured: number | undefined
  readonly isPassed: boolean
}

/** Compares measured ratios with those on record. A comparison that only one of them has fails. */
export const judge = (onRecord: Ratios, measured: Ratios): ReadonlyArray<Finding> =>
  Object.keys(best(onRecord, measured)).map((title) => {
    const [before, now] = [onRecord[title], measured[title]]
    return {
      title,
      onRecord: before,
      measured: now,
      isPassed: before !== undefined && now !== undefined && now >= before * SHARE_MIN
    }
  })
