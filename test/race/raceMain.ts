import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { startCluster } from "../support/Cluster.ts"
import { judge, untilOver } from "./Judge.ts"
import { races } from "./Races.ts"
import { openRaces } from "./RaceRun.ts"
import { describe } from "./Report.ts"

/**
 * Races on two servers over one PostgreSQL: `npx -y pnpm@12 race [--rounds 500] [--only NAME] [--seed N]`, where NAME
 * is a part of a race's name. Prints what each came to; the exit code is 1 when anything was violated.
 */
const say = (line: string) => void process.stdout.write(`${line}\n`)

const args = process.argv.slice(2)
const { values } = parseArgs({
  args: args[0] === "--" ? args.slice(1) : args,
  options: {
    rounds: { type: "string" },
    only: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})
const rounds = Number(values.rounds ?? 500)
const seed = Number(values.seed ?? randomInt(2 ** 31))
const chosen = races.filter(({ name }) => name.includes(values.only ?? ""))
if (values.help || !Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed) || chosen.length === 0) {
  say(
    `Usage: race [--rounds 500] [--seed N] [--only NAME]\nThe races:\n${races.map(({ name }) => `  ${name}`).join("\n")}`
  )
  process.exit(values.help ? 0 : 2)
}

say(`seed ${seed}; ${rounds} rounds each`)
const cluster = await startCluster({ servers: 2, telephones: true })
const stop = () => void cluster.stop().then(() => process.exit(130))
process.once("SIGINT", stop)
process.once("SIGTERM", stop)
try {
  const run = await openRaces(cluster, seed)
  for (const race of chosen) {
    const startedAt = performance.now()
    await run.play(race, rounds)
    say(`${race.name}: played in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  }
  await untilOver(cluster, run.book)
  const verdicts = await judge(cluster, run)
  say(`\n${describe(seed, verdicts)}`)
  process.exitCode = verdicts.every(({ violations }) => violations.length === 0) ? 0 : 1
} finally {
  await cluster.stop()
}
