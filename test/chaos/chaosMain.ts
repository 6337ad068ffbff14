import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { runChaos } from "./ChaosRun.ts"
import { planFaults } from "./FaultPlan.ts"
import { judge } from "./Judge.ts"
import { figuresOf, violationsOf } from "./Report.ts"

const help = `Usage: npx -y pnpm@12 chaos [--events 100000] [--sockets 200] [--tenants 20] [--servers 3] [--faults 100] [--seed N]

Runs servers over one PostgreSQL of its own and stores events while servers are killed, stopped past their leases and
restarted, sockets are cut, and servers are made deaf to each other. Judges by what clients and producer saw, and by what
the database itself noted of leases. Exits with 1 when any promise was broken.

  --events    stored in all
  --sockets   of clients, each of which connects again when it is cut
  --tenants   whose sockets these are, in turn
  --servers   two at least
  --faults    of all kinds in proportion
  --seed      of all choices (another each time)`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    events: { type: "string", default: "100000" },
    sockets: { type: "string", default: "200" },
    tenants: { type: "string", default: "20" },
    servers: { type: "string", default: "3" },
    faults: { type: "string", default: "100" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    help: { type: "boolean", short: "h", default: false }
  }
})

const SETTLE_MILLIS = 120_000
const say = (line: string) => void process.stdout.write(`${line}\n`)
const [events, sockets, tenants, servers, faults, seed] = (
  ["events", "sockets", "tenants", "servers", "faults", "seed"] as const
).map((name) => Number(values[name])) as [number, number, number, number, number, number]
const isWhole = [events, sockets, tenants, servers, faults, seed].every(
  (value) => Number.isInteger(value) && value >= 0
)

if (values.help) {
  say(help)
} else if (!isWhole || servers < 2 || tenants < 1 || sockets < tenants || events < 4 * (faults + tenants)) {
  say(help)
  process.exitCode = 2
} else {
  say(`seed ${seed}: ${events} events, ${sockets} sockets of ${tenants} tenants, ${servers} servers, ${faults} faults`)
  const plan = planFaults(faults, seed)
  const interruption = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort())
  const result = await runChaos({
    servers,
    tenants,
    sockets,
    events,
    faults: plan,
    seed,
    settleMillis: SETTLE_MILLIS,
    say,
    signal: interruption.signal
  }).catch((error: unknown) => {
    if (interruption.signal.aborted) process.exit(130)
    throw error
  })
  for (const line of figuresOf(result)) say(line)
  const violations = judge(result.history)
  for (const line of violationsOf(violations)) say(line)
  say(violations.length === 0 ? "No violation." : `${violations.length} violations.`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
