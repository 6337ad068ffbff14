import { parseArgs } from "node:util"
import { DATABASES, type DatabaseKind, Testbed } from "../faults/server/Testbed.ts"
import { linesOf, summaryOf } from "../faults/verdict/Report.ts"
import { PAYMENT_METHODS } from "../support/Authorization.ts"
import { makeRandom, readSeed } from "../support/Random.ts"
import { allCells, type Cell, isPayableBy, situationOf } from "./Cell.ts"
import { OUTAGES, runDatabaseOutage } from "./DatabaseOutage.ts"
import { runMailKills } from "./MailKills.ts"
import { runMatrix } from "./MatrixRun.ts"
import type { CrashPurchase } from "./Purchase.ts"
import { runRandomKills } from "./RandomKills.ts"
import { endsOf, tableOf } from "./Report.ts"
import type { Outcome } from "./Settle.ts"
import { Shop } from "./Shop.ts"

const help = `Usage: npx -y pnpm@12 crash [--database pglite|postgres] [--times 3] [--step X] [--service X]
                             [--client repeats|advice] [--method eip3009|permit2|sponsored]
                             [--facilitator self] [--seconds N] [--seed N] [--mails N]

Kills the server at every step of every paid operation; makes the facilitator, the relay, the carrier and PostgreSQL
fail; kills at random under load. Checks the chain, the relay, the carrier and the clients. Exits with 1 on any
violation. With --mails, sends random mail while a server on PostgreSQL is killed, and nothing else.

  --database  one database instead of both
  --times     how often the whole matrix runs on each database (3)
  --step      only cells and outages whose situation contains this text, for example after_settle, "settle hang" or
              "database restarted"; no random kills
  --service   only cells whose service contains this text, for example phone or call.extend; no random kills
  --client    only cells whose client repeats or gives up (repeats), or only those whose client is killed too and follows
              the status of its payment (advice); no random kills
  --method    how clients pay (eip3009): by that transfer method, by permit2, or by permit2 with the allowance in each payment
              (sponsored)
  --facilitator  self: the server submits payments itself; without the cells whose facilitator fails
  --seconds   how long the server is killed at random under load, on each database (60; 0 for not at all)
  --seed      of the random kills: a whole number (1 by default), or random
  --mails     number of random mails to mailboxes and return paths; looks for each that was answered with 250`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    times: { type: "string", default: "3" },
    step: { type: "string" },
    service: { type: "string" },
    client: { type: "string" },
    method: { type: "string", default: "eip3009" },
    facilitator: { type: "string" },
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    mails: { type: "string", default: "0" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const CLIENTS = 8
/** With more cells, the setup would take longer than a call that is to be extended. */
const CELLS_PER_LIFE = 170
const step = values.step ?? ""
const service = values.service ?? ""
const isChosen = ({ client }: Cell): boolean =>
  values.client === undefined || (client === "follows advice") === (values.client === "advice")
const seconds = step === "" && service === "" && values.client === undefined ? Number(values.seconds) : 0
const seed = readSeed(values.seed)
const mails = Number(values.mails)
const databases = DATABASES.filter((name) => values.database === undefined || values.database === name)
const paymentMethod = PAYMENT_METHODS.find((method) => method === values.method)
const hasOwnFacilitator = values.facilitator === "self"
const cells = allCells().filter(
  (cell) =>
    situationOf(cell).includes(step) &&
    cell.service.includes(service) &&
    isChosen(cell) &&
    paymentMethod !== undefined &&
    isPayableBy(paymentMethod, cell) &&
    !(hasOwnFacilitator && cell.fault?.operation === "settle")
)
const outages = OUTAGES.filter(
  (outage) => service === "" && values.client === undefined && `database ${outage}`.includes(step)
)
let violations = 0
let stop: (() => Promise<void>) | undefined
// The servers are process groups of their own, which Ctrl-C does not reach.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void (stop?.() ?? Promise.resolve()).finally(() => process.exit(130)))
}

/** Runs one piece of work on a testbed of its own, and prints the result. */
const report = async (
  title: string,
  database: DatabaseKind,
  work: (shop: Shop) => Promise<{ readonly outcome: Outcome; readonly cells?: ReadonlyMap<CrashPurchase, Cell> }>
): Promise<void> => {
  const startedAt = performance.now()
  const testbed = await Testbed.start({ database, paymentMethod, hasOwnFacilitator })
  stop = testbed.stop
  try {
    const { cells: placed = new Map<CrashPurchase, Cell>(), outcome } = await work(new Shop(testbed))
    violations += outcome.violations.length
    console.log(`\n${title} on ${database}: ${Math.round((performance.now() - startedAt) / 1_000)} s`)
    if (placed.size > 0) for (const line of tableOf(outcome, placed)) console.log(`  ${line}`)
    const ends = [...outcome.verdict.ends.values()]
    console.log(`  ${endsOf(ends)}; ${outcome.duplicates} second copies of a mail under its own Message-ID`)
    console.log(
      `  the last end without a client that asks: ${(outcome.endMillis / 1_000).toFixed(1)} s after its fault`
    )
    for (const line of linesOf(outcome.violations)) console.log(`  ${line}`)
    if (outcome.violations.length > 0) console.log(`  The end of the server's log:\n${testbed.serverLogs()}`)
  } finally {
    stop = undefined
    await testbed.stop()
  }
}

const runAll = async (database: DatabaseKind): Promise<void> => {
  for (let round = 1; round <= Number(values.times); round++) {
    const lives = Math.ceil(cells.length / CELLS_PER_LIFE)
    for (let life = 0; life < lives; life++) {
      // A part has cells of every kind, so that all parts take equally long.
      const some = cells.filter((_, index) => index % lives === life)
      const title = `Matrix of ${cells.length} cells, part ${life + 1} of ${lives}, round ${round},`
      await report(title, database, (shop) => runMatrix(shop, some))
    }
    if (database === "pglite") continue
    for (const outage of outages) {
      await report(`PostgreSQL ${outage}, round ${round},`, database, async (shop) => ({
        outcome: await runDatabaseOutage(shop, outage)
      }))
    }
  }
  if (seconds === 0) return
  await report(`Random kills for ${seconds} s, seed ${seed},`, database, (shop) =>
    runRandomKills(shop, { random: makeRandom(seed), seconds, clients: CLIENTS })
  )
}

const runMail = async (mails: number): Promise<void> => {
  const testbed = await Testbed.start({ database: "postgres" })
  stop = testbed.stop
  try {
    const result = await runMailKills(new Shop(testbed), { random: makeRandom(seed), mails, hasLeases: true })
    violations += result.violations.length
    console.log(`Random mail, seed ${seed}:`)
    for (const line of [...result.figures, ...linesOf(result.violations)]) console.log(`  ${line}`)
    if (result.violations.length > 0) console.log(`  The end of the server's log:\n${testbed.serverLogs()}`)
  } finally {
    stop = undefined
    await testbed.stop()
  }
}

if (values.help) {
  console.log(help)
} else if (
  ![undefined, "repeats", "advice"].includes(values.client) ||
  ![undefined, "self"].includes(values.facilitator) ||
  databases.length === 0 ||
  cells.length + outages.length === 0 ||
  Number.isNaN(seed) ||
  !Number.isInteger(mails)
) {
  console.error(help)
  process.exitCode = 2
} else {
  if (mails > 0) await runMail(mails)
  else for (const database of databases) await runAll(database)
  console.log(`\n${summaryOf(violations)}`)
  process.exitCode = violations === 0 ? 0 : 1
}
