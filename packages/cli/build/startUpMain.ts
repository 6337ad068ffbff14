/** Measures the start-up time of the built program, relative to Node alone: `pnpm --filter @agentos/cli run startup [ROUNDS]`. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle } from "./Bundle.ts"

const rounds = Number(process.argv[2] ?? 40)
const folder = mkdtempSync(join(tmpdir(), "agentctl-startup-"))
await bundle(folder)
const file = join(folder, "agentctl.cjs")
const runs = [
  { name: "node -e 0", args: ["-e", "0"], limit: 1 },
  { name: "agentctl --version", args: [file, "--version"], limit: 1.3 },
  { name: "agentctl --help", args: [file, "--help"], limit: 2.5 },
  { name: "agentctl mail list --help", args: [file, "mail", "list", "--help"], limit: 2.5 }
].map((run) => ({ ...run, millis: new Array<number>() }))

const measure = (args: ReadonlyArray<string>): number => {
  const begin = process.hrtime.bigint()
  spawnSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
  return Number(process.hrtime.bigint() - begin) / 1e6
}
// Alternating runs, so that other load affects all of them alike.
for (let round = -3; round < rounds; round++)
  for (const { args, millis } of runs) {
    const taken = measure(args)
    if (round >= 0) millis.push(taken)
  }
rmSync(folder, { recursive: true })

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0
const alone = median(runs[0]!.millis)
for (const { limit, millis, name } of runs) {
  const ratio = median(millis) / alone
  console.log(
    `${name.padEnd(28)} ${median(millis).toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} times (at most ${limit})`
  )
  if (ratio > limit) process.exitCode = 1
}
