import { parseArgs } from "node:util"

/** Something that is measured by a command: it starts what it needs, says what it found, and leaves nothing behind. */
export interface Bench {
  /** What it measures, in a line. */
  readonly summary: string
  /** Each with the number that it has unless another is given: `--count 5000`. */
  readonly options: Readonly<Record<string, number>>
  readonly run: (bench: BenchRun) => Promise<void>
}

/** What a bench is given. */
export interface BenchRun {
  readonly option: (name: string) => number
  readonly say: (line: string) => void
  /** Called before the process ends, the last first, whether the bench came to its end or not. */
  readonly atEnd: (stop: () => Promise<unknown>) => void
}

/** The options of a bench as given; throws with a sentence for people when they are none of its own. */
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

/** Rows as a table of Markdown, under their heads. */
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

/** Settings of a PostgreSQL that keeps what it promises: those of tests give that up. */
export const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" }
