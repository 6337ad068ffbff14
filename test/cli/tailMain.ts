import { parseArgs } from "node:util"
import { linesOf, summaryOf } from "../faults/verdict/Report.ts"
import { readSeed } from "../support/Random.ts"
import { runTail } from "./TailRun.ts"

const help = `Usage: npx -y pnpm@12 tail [--events 10000] [--faults 12] [--jobs 1] [--seed N]

Follows events with \`agentctl events tail --exec\` while the server is restarted, the network is cut and the tail itself is
killed, with and without the command that it runs. Exits with 1 if an event was not handled, or was acknowledged before
its command finished.

  --events    number of events, of one tenant
  --faults    number of faults of each kind
  --jobs      commands that the tail runs at a time
  --seed      of the order of faults: a whole number (1 by default), or random`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    events: { type: "string", default: "10000" },
    faults: { type: "string", default: "12" },
    jobs: { type: "string", default: "1" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const SETTLE_MILLIS = 900_000
const say = (line: string) => void process.stdout.write(`${line}\n`)
const [events, faults, jobs] = (["events", "faults", "jobs"] as const).map((name) => Number(values[name])) as [
  number,
  number,
  number
]
const seed = readSeed(values.seed)

if (values.help) say(help)
else if (![events, faults, jobs, seed].every((value) => Number.isInteger(value) && value >= 0)) {
  say(help)
  process.exitCode = 2
} else {
  say(`seed ${seed}: ${events} events, ${faults} restarts, cuts and kills each`)
  const begin = performance.now()
  const each = { restarted: faults, "network cut": faults, "client killed": faults }
  const { violations, ...figures } = await runTail({
    events,
    faults: each,
    jobs,
    seed,
    settleMillis: SETTLE_MILLIS,
    say
  })
  say(JSON.stringify({ ...figures, seconds: Math.round((performance.now() - begin) / 1_000) }))
  for (const line of [...linesOf(violations), summaryOf(violations.length)]) say(line)
  if (violations.length > 0 || figures.acknowledged < figures.stored - figures.poisoned) process.exitCode = 1
}
