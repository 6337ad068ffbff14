import { parseArgs } from "node:util"
import { planFaults } from "../faults/fault/Fault.ts"
import { judgeEvents } from "../faults/verdict/EventInvariants.ts"
import { linesOf, summaryOf } from "../faults/verdict/Report.ts"
import { makeRandom, readSeed } from "../support/Random.ts"
import { CHAOS_DECK, runChaos } from "./ChaosRun.ts"
import { figuresOf } from "./Figures.ts"

const help = `Usage: npx -y pnpm@12 chaos [--events 100000] [--sockets 200] [--tenants 20] [--servers 3] [--faults 100] [--seed N]

Runs servers over one PostgreSQL and stores events while servers are killed, paused past their leases and restarted,
sockets are cut, and servers lose their signals of new events. Checks the records of clients, producer and database.
Exits with 1 on any violation.

  --events    number of events
  --sockets   number of clients, each of which connects again when it is cut
  --tenants   number of tenants, to whom the clients belong in turn
  --servers   number of servers, at least 2
  --faults    number of faults
  --seed      of all choices: a whole number (1 by default), or random`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    events: { type: "string", default: "100000" },
    sockets: { type: "string", default: "200" },
    tenants: { type: "string", default: "20" },
    servers: { type: "string", default: "3" },
    faults: { type: "string", default: "100" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const SETTLE_MILLIS_MAX = 120_000
const say = (line: string) => void process.stdout.write(`${line}\n`)
const [events, sockets, tenants, servers, faults] = (
  ["events", "sockets", "tenants", "servers", "faults"] as const
).map((name) => Number(values[name])) as [number, number, number, number, number]
const seed = readSeed(values.seed)
const areWhole = [events, sockets, tenants, servers, faults, seed].every(
  (value) => Number.isInteger(value) && value >= 0
)

if (values.help) {
  say(help)
} else if (!areWhole || servers < 2 || tenants < 1 || sockets < tenants || events < 4 * (faults + tenants)) {
  say(help)
  process.exitCode = 2
} else {
  say(`seed ${seed}: ${events} events, ${sockets} sockets of ${tenants} tenants, ${servers} servers, ${faults} faults`)
  const interruption = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort())
  const result = await runChaos({
    servers,
    tenants,
    sockets,
    events,
    faults: planFaults(CHAOS_DECK, faults, makeRandom(seed)),
    seed,
    settleMillisMax: SETTLE_MILLIS_MAX,
    say,
    signal: interruption.signal
  }).catch((error: unknown) => {
    if (interruption.signal.aborted) process.exit(130)
    throw error
  })
  const violations = judgeEvents(result.history)
  for (const line of [...figuresOf(result), ...linesOf(violations), summaryOf(violations.length)]) say(line)
  process.exitCode = violations.length === 0 ? 0 : 1
}
