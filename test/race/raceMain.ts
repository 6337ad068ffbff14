import { parseArgs } from "node:util"
import { linesOf, summaryOf } from "../faults/verdict/Report.ts"
import { TRANSFER_METHODS } from "../support/Authorization.ts"
import { startCluster } from "../support/Cluster.ts"
import { readSeed } from "../support/Random.ts"
import { RaceRun, tableOf } from "./RaceRun.ts"
import { races } from "./Races.ts"

const say = (line: string) => void process.stdout.write(`${line}\n`)

const args = process.argv.slice(2)
const { values } = parseArgs({
  args: args[0] === "--" ? args.slice(1) : args,
  options: {
    rounds: { type: "string" },
    only: { type: "string" },
    method: { type: "string", default: "eip3009" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})
const rounds = Number(values.rounds ?? 500)
const seed = readSeed(values.seed)
const paymentMethod = TRANSFER_METHODS.find((method) => method === values.method)
const chosen = races.filter(({ name }) => name.includes(values.only ?? ""))
const isComplete = Number.isInteger(rounds) && rounds >= 1 && !Number.isNaN(seed) && chosen.length > 0
if (values.help || !isComplete || paymentMethod === undefined) {
  say(
    `Usage: npx -y pnpm@12 race [--rounds 500] [--only NAME] [--method eip3009|permit2] [--seed N]

Plays races on two servers over one PostgreSQL. Checks the chain, the relay, the carrier and the clients. Exits with 1 on
any violation.

  --rounds  rounds of each race
  --only    only races whose name contains this text
  --method  the transfer method by which clients pay (eip3009)
  --seed    of all choices: a whole number (1 by default), or random

The races:
${races.map(({ name }) => `  ${name}`).join("\n")}`
  )
  process.exit(values.help ? 0 : 2)
}

say(`seed ${seed}; ${rounds} rounds each`)
const cluster = await startCluster({ servers: 2, telephones: true, paymentMethod })
const stop = () => void cluster.stop().then(() => process.exit(130))
process.once("SIGINT", stop)
process.once("SIGTERM", stop)
try {
  const run = await RaceRun.open(cluster, seed)
  for (const race of chosen) {
    const startedAt = performance.now()
    await run.play(race, rounds)
    say(`${race.name}: played in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  }
  await run.untilExpired()
  const { rows, violations } = await run.judge()
  for (const line of ["", ...tableOf(rows), ...linesOf(violations), summaryOf(violations.length)]) say(line)
  process.exitCode = violations.length === 0 ? 0 : 1
} finally {
  await cluster.stop()
}
