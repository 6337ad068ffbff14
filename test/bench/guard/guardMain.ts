/**
 * Runs the quick comparisons in short, beside peers and beside the program of the last recorded release. Fails if a rate falls
 * below half of its share of the peer's on record, or the processor time grows by 15 % of its share of the release's: five
 * attempts, of which the best counts, because a busy machine only makes a ratio worse. `--record` writes the medians of five
 * attempts to ratios.json instead: on a quiet machine, and again with each recorded release.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openRelease, RELEASES } from "../../upgrade/Release.ts"
import { type Bench, type ComparisonResult, runBench, table } from "../Bench.ts"
import { challenge } from "../challenge.ts"
import { startOtherProgram } from "../compare/OtherBuild.ts"
import { constant } from "../constant.ts"
import { paid } from "../paid.ts"
import { read } from "../read.ts"
import { best, judge, medians, type Ratios, ratiosOf } from "./Verdict.ts"

const GUARDED: Readonly<Record<string, Bench>> = { challenge, read, constant, paid }
const ATTEMPTS = 5
const SHORT: Readonly<Record<string, number>> = { rounds: 3, seconds: 0.5 }
const RECORD = new URL("ratios.json", import.meta.url)
const LAST_RELEASE = RELEASES.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1)

const say = (line: string) => void process.stdout.write(`${line}\n`)

const folder = mkdtempSync(join(tmpdir(), "agentos-guard-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
const { program, version } = await openRelease(LAST_RELEASE!, folder)

const measure = async (name: string): Promise<Ratios> => {
  const bench = GUARDED[name]!
  const results: Array<ComparisonResult> = []
  const run = {
    option: (option: string) => SHORT[option] ?? bench.options[option]!,
    say: () => undefined,
    record: (result: object) => void ("unit" in result && results.push(result as ComparisonResult))
  }
  await runBench(bench, run, async (own) => startOtherProgram(own, program, name, version))
  return ratiosOf(results)
}

const recorded: Record<string, Ratios> = {}
let isPassed = true
const onRecord = process.argv.includes("--record")
  ? undefined
  : (JSON.parse(readFileSync(RECORD, "utf8")) as Readonly<Record<string, Ratios>>)

for (const name of Object.keys(GUARDED)) {
  if (onRecord === undefined) {
    const attempts: Array<Ratios> = []
    while (attempts.length < ATTEMPTS) attempts.push(await measure(name))
    recorded[name] = medians(attempts)
    continue
  }
  let measured = await measure(name)
  const before = onRecord[name] ?? {}
  for (let attempt = 1; attempt < ATTEMPTS && judge(before, measured).some((each) => !each.isPassed); attempt++)
    measured = best(measured, await measure(name))
  const findings = judge(before, measured)
  isPassed &&= findings.every((each) => each.isPassed)
  const rows = findings.map((each) => [
    each.title,
    each.what,
    each.onRecord?.toFixed(2) ?? "none",
    each.measured?.toFixed(2) ?? "none",
    each.isPassed ? "ok" : "FAILED"
  ])
  say(`\n${table([name, "", "ratio on record", "ratio now", ""], rows)}`)
}
if (onRecord === undefined) {
  writeFileSync(RECORD, `${JSON.stringify(recorded, null, 2)}\n`)
  say(JSON.stringify(recorded, null, 2))
}
process.exitCode = isPassed ? 0 : 1
