import { parseArgs } from "node:util"
import { makeRandom } from "../race/Random.ts"
import { allCells, type Cell, situationOf } from "./Cell.ts"
import { CrashRig, type DatabaseKind, DATABASES } from "./CrashRig.ts"
import { OUTAGES, runDatabaseOutage } from "./DatabaseOutage.ts"
import { runMatrix } from "./MatrixRun.ts"
import type { Purchase } from "./Purchase.ts"
import { runRandomKills } from "./RandomKills.ts"
import { endsOf, tableOf, violationsOf } from "./Report.ts"
import type { Outcome } from "./Witness.ts"

const help = `Usage: npx -y pnpm@12 crash [--database pglite|postgres] [--times 3] [--step X] [--service X]
                             [--seconds N] [--seed N]

Kills the server at every step of every paid operation, lets the facilitator, the relay, the carrier and PostgreSQL
fail, kills at random under load, and judges each by the chain, the relay, the carrier and the clients. Exits with 1 on
any violation.

  --database  one database instead of both
  --times     how often the whole matrix runs on each (3)
  --step      only the cells and outages whose situation has this text, as after_settle, "settle hang" or "database
              restarted"; nothing else then
  --service   only the cells whose service has this text, as phone or call.extend; nothing else then
  --seconds   for how long the server is killed at random under load, on each database (60; 0 for not at all)
  --seed      for the random kills (another each time)`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    times: { type: "string", default: "3" },
    step: { type: "string" },
    service: { type: "string" },
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const CLIENTS = 8
/** More would have to be set up for longer than a call lasts that is to be extended. */
const CELLS_OF_A_LIFE = 170
const step = values.step ?? ""
const service = values.service ?? ""
const seconds = step === "" && service === "" ? Number(values.seconds) : 0
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
const databases = DATABASES.filter((name) => values.database === undefined || values.database === name)
const cells = allCells().filter((cell) => situationOf(cell).includes(step) && cell.service.includes(service))
const outages = OUTAGES.filter((outage) => service === "" && `database ${outage}`.includes(step))
let violations = 0
let stop: (() => Promise<void>) | undefined
// The sandbox is a process group of its own, which nobody else ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void (stop?.() ?? Promise.resolve()).finally(() => process.exit(130)))
}

/** Starts a sandbox of its own for one piece of work, and says what came of it. */
const report = async (
  title: string,
  database: DatabaseKind,
  work: (rig: CrashRig) => Promise<{ readonly outcome: Outcome; readonly cells?: ReadonlyMap<Purchase, Cell> }>
): Promise<void> => {
  const began = performance.now()
  const rig = await CrashRig.start({ database })
  stop = () => rig.stop()
  try {
    const { cells: placed = new Map<Purchase, Cell>(), outcome } = await work(rig)
    const found = violationsOf(outcome)
    violations += found.length
    console.log(`\n${title} on ${database}: ${Math.round((performance.now() - began) / 1_000)} s`)
    if (placed.size > 0) for (const line of tableOf(outcome, placed)) console.log(`  ${line}`)
    console.log(`  ${endsOf(outcome.verdicts)}; ${outcome.duplicates} second copies of a mail under its own Message-ID`)
    console.log(`  the last end with nobody asking: ${(outcome.endMillis / 1_000).toFixed(1)} s after its fault`)
    for (const line of found) console.log(`  VIOLATION ${line}`)
    if (found.length > 0) console.log(`  The server's warnings and errors:\n${await rig.serverComplaints()}`)
  } finally {
    stop = undefined
    await rig.stop()
  }
}

const runAll = async (database: DatabaseKind): Promise<void> => {
  for (let round = 1; round <= Number(values.times); round++) {
    const lives = Math.ceil(cells.length / CELLS_OF_A_LIFE)
    for (let life = 0; life < lives; life++) {
      // Of each kind some, so that every life has as much to do.
      const some = cells.filter((_, index) => index % lives === life)
      const title = `Matrix of ${cells.length} cells, part ${life + 1} of ${lives}, round ${round},`
      await report(title, database, (rig) => runMatrix(rig, some))
    }
    if (database === "pglite") continue
    for (const outage of outages) {
      await report(`PostgreSQL ${outage}, round ${round},`, database, async (rig) => ({
        outcome: await runDatabaseOutage(rig, outage)
      }))
    }
  }
  if (seconds === 0) return
  await report(`Random kills for ${seconds} s, seed ${seed},`, database, (rig) =>
    runRandomKills(rig, { random: makeRandom(seed), seconds, clients: CLIENTS })
  )
}

if (values.help) {
  console.log(help)
} else if (databases.length === 0 || cells.length + outages.length === 0) {
  console.error(help)
  process.exitCode = 2
} else {
  for (const database of databases) await runAll(database)
  console.log(violations === 0 ? "\nNo violation." : `\n${violations} violations.`)
  process.exitCode = violations === 0 ? 0 : 1
}
