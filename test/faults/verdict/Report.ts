import type { Violation } from "./Judge.ts"

/** Findings that are shown of each invariant. */
const SHOWN = 5
const TEXT_LENGTH_MAX = 2_000

/** Every violated invariant with its first findings. */
export const linesOf = (violations: ReadonlyArray<Violation>): ReadonlyArray<string> =>
  [...Map.groupBy(violations, ({ invariant }) => invariant)].flatMap(([invariant, all]) => [
    `VIOLATED ${all.length} times: ${invariant}`,
    ...all.slice(0, SHOWN).map(({ subject, text }) => {
      const about = subject === undefined ? "" : `${subject.group}, ${subject.label}: `
      return `  ${about}${text.slice(0, TEXT_LENGTH_MAX)}`
    }),
    ...(all.length > SHOWN ? [`  and ${all.length - SHOWN} more`] : [])
  ])

export const summaryOf = (violations: number): string =>
  violations === 0 ? "No violation." : `${violations} violations.`

/** Rows as columns of equal width. */
export const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

/** How often each name occurs: `3 killed, 2 paused`. */
export const tally = (names: ReadonlyArray<string>): string =>
  [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${all.length} ${name}`).join(", ")
