/**
 * Plays many random histories against the model: `pnpm model [--sequences 20000] [--seed 1|N|random]`. Exits with 1 and prints
 * the shortened history when one fails.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { check } from "./Check.ts"

/** Histories per seed. The next seed generates the next batch. */
const BATCH = 500

const args = process.argv.slice(2)
const { values } = parseArgs({
  args: args[0] === "--" ? args.slice(1) : args,
  options: {
    sequences: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", short: "h", default: false }
  }
})
if (values.help) {
  console.log("Usage: npx -y pnpm@12 model [--sequences 20000] [--seed 1|N|random]")
  process.exit(0)
}
const wanted = Number(values.sequences)
const first = values.seed === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
if (!Number.isSafeInteger(wanted) || wanted < 1 || !Number.isSafeInteger(first)) {
  console.error("--sequences and --seed must be whole numbers; --seed can also be random")
  process.exit(2)
}

const tally = new Map<string, number>()
for (let played = 0, seed = first; played < wanted; seed++) {
  const histories = Math.min(BATCH, wanted - played)
  const report = await Effect.runPromise(check({ seed, histories }))
  if (report._tag === "Failed") {
    console.error(report.message)
    process.exit(1)
  }
  for (const [what, times] of report.tally) tally.set(what, (tally.get(what) ?? 0) + times)
  played += histories
  console.log(`${played} histories held, the last of them of seed ${seed}`)
}
for (const [what, times] of [...tally].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(times).padStart(9)} ${what}`)
