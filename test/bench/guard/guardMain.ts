/**
 * Runs the quick comparisons in short, and fails if a ratio is below half of the one in ratios.json: three attempts,
 * of which the best ratio counts, because a busy machine only makes a ratio worse. `--record` writes the file instead.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { type Bench, type ComparisonResult, runBench, table } from "../Bench.ts"
import { challenge } from "../challenge.ts"
import { constant } from "../constant.ts"
import { paid } from "../paid.ts"
import { read } from "../read.ts"
import { best, judge, type Ratios, ratiosOf } from "./Verdict.ts"

const GUARDED: Readonly<Record<string, Bench>> = { challenge, read, constant, paid }
const ATTEMPTS = 3
const SHORT: Readonly<Record<string, number>> = { rounds: 3, seconds: 0.5 }
const RECORD = new URL("ratios.json", import.meta.url)

const say = (line: string) => void process.stdout.write(`${line}\n`)

const measure = async (bench: Bench): Promise<Ratios> => {
  const results: Array<ComparisonResult> = []
  await runBench(bench, {
    option: (name) => SHORT[name] ?? bench.options[name]!,
    say: () => undefined,
    record: (result) => "unit" in result && results.push(result)
  })
  return ratiosOf(results)
}

const recorded: Record<string, Ratios> = {}
let isPassed = true
const onRecord = process.argv.includes("--record")
  ? undefined
  : (JSON.parse(readFileSync(RECORD, "utf8")) as Readonly<Record<string, Ratios>>)

for (const [name, bench] of Object.entries(GUARDED)) {
  let measured = await measure(bench)
  recorded[name] = measured
  if (onRecord === undefined) continue
  const before = onRecord[name] ?? {}
  for (let attempt = 1; attempt < ATTEMPTS && judge(before, measured).some((each) => !each.isPassed); attempt++)
    measured = best(measured, await measure(bench))
  const findings = judge(before, measured)
  isPassed &&= findings.every((each) => each.isPassed)
  const rows = findings.map((each) => [
    each.title,
    each.onRecord?.toFixed(2) ?? "none",
    each.measured?.toFixed(2) ?? "none",
    each.isPassed ? "ok" : "FAILED"
  ])
  say(`\n${table([name, "ratio on record", "ratio now", ""], rows)}`)
}
if (onRecord === undefined) {
  writeFileSync(RECORD, `${JSON.stringify(recorded, null, 2)}\n`)
  say(JSON.stringify(recorded, null, 2))
}
process.exitCode = isPassed ? 0 : 1
