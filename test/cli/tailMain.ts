import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { runTail } from "./TailRun.ts"

const help = `Usage: npx -y pnpm@12 tail [--events 10000] [--faults 12] [--jobs 1] [--seed N]

Follows events with \`agentctl events tail --exec\` while the server is restarted, the network is cut and the tail itself is
killed, with and without the command that it runs. Exits with 1 when an event was not handled, or was acknowledged though
its command had not finished.

  --events    stored in all, for one tenant
  --faults    of each kind
  --jobs      commands that the tail runs at a time
  --seed      of their order (another each time)`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    events: { type: "string", default: "10000" },
    faults: { type: "string", default: "12" },
    jobs: { type: "string", default: "1" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    help: { type: "boolean", short: "h", default: false }
  }
})

const SETTLE_MILLIS = 900_000
const say = (line: string) => void process.stdout.write(`${line}\n`)
const [events, faults, jobs, seed] = (["events", "faults", "jobs", "seed"] as const).map((name) =>
  Number(values[name])
) as [number, number, number, number]

if (values.help) say(help)
else if (![events, faults, jobs, seed].every((value) => Number.isInteger(value) && value >= 0)) {
  say(help)
  process.exitCode = 2
} else {
  say(`seed ${seed}: ${events} events, ${faults} restarts, cuts and kills each`)
  const begin = performance.now()
  const each = { restarts: faults, cuts: faults, kills: faults }
  const { violations, ...figures } = await runTail({
    events,
    faults: each,
    jobs,
    seed,
    settleMillis: SETTLE_MILLIS,
    say
  })
  say(JSON.stringify({ ...figures, seconds: Math.round((performance.now() - begin) / 1_000) }))
  for (const violation of violations.slice(0, 20)) say(violation)
  say(violations.length === 0 ? "Every promise was kept." : `${violations.length} promises were broken.`)
  if (violations.length > 0 || figures.acknowledged < figures.stored - figures.poisoned) process.exitCode = 1
}
