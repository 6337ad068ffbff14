import { parseArgs } from "node:util"
import { allCells } from "./Cell.ts"
import { CrashRig, type DatabaseKind, DATABASES } from "./CrashRig.ts"
import { runMatrix } from "./MatrixRun.ts"
import { endsOf, tableOf, violationsOf } from "./Report.ts"

const help = `Usage: npx -y pnpm@12 crash [--database pglite|postgres] [--times 3] [--step X]

Kills the server at every step of every paid operation, and judges by the chain, the relay and the clients.

  --database  one database instead of both
  --times     how often the whole matrix runs on each (3)
  --step      only cells whose situation has this text, such as after_settle or "settle hang"`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    times: { type: "string", default: "3" },
    step: { type: "string" },
    help: { type: "boolean", short: "h" }
  }
})

if (values.help === true) {
  console.log(help)
  process.exit(0)
}

const databases = DATABASES.filter((name) => values.database === undefined || values.database === name)
const cells = allCells().filter(
  (cell) => values.step === undefined || cell.step === values.step || cell.fault?.mode === values.step
)

const runOnce = async (database: DatabaseKind, round: number): Promise<number> => {
  const began = performance.now()
  const rig = await CrashRig.start({ database })
  try {
    const { cells: placed, outcome } = await runMatrix(rig, cells)
    const violations = violationsOf(outcome)
    const seconds = Math.round((performance.now() - began) / 1_000)
    console.log(`\n${database}, round ${round}: ${placed.size} cells in ${seconds} s`)
    for (const line of tableOf(outcome, placed)) console.log(`  ${line}`)
    console.log(
      `  ${endsOf(outcome.verdicts)}; the last end ${(outcome.endMillis / 1_000).toFixed(1)} s after the fault`
    )
    console.log(`  ${outcome.duplicates} second copies of a mail under its own Message-ID`)
    for (const line of violations) console.log(`  VIOLATION ${line}`)
    return violations.length
  } finally {
    await rig.stop()
  }
}

let violations = 0
for (const database of databases) {
  for (let round = 1; round <= Number(values.times); round++) violations += await runOnce(database, round)
}
console.log(violations === 0 ? "\nNo violation." : `\n${violations} violations.`)
process.exit(violations === 0 ? 0 : 1)
