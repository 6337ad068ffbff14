import type { Verdict } from "./Judge.ts"

const COLUMNS = ["rounds", "winners", "losers", "charges", "refunds"] as const

/** A table of what the races came to, and of each violation that was found, up to `shown` of them. */
export const describe = (seed: number, verdicts: ReadonlyArray<Verdict>, shown = 20): string => {
  const head = ["race", ...COLUMNS, "violations"]
  const rows = verdicts.map((verdict) => [
    verdict.race,
    ...COLUMNS.map((column) => String(verdict[column])),
    String(verdict.violations.length)
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ")
  const violations = verdicts.flatMap((verdict) => verdict.violations)
  return [
    `seed ${seed}`,
    line(head),
    ...rows.map(line),
    ...violations.slice(0, shown).map(({ race, round, text }) => `! ${race}, round ${round}: ${text.slice(0, 1_000)}`),
    ...(violations.length > shown ? [`! and ${violations.length - shown} more`] : [])
  ].join("\n")
}
