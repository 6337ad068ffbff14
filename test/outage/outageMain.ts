import { parseArgs } from "node:util"
import { linesOf, summaryOf } from "../faults/verdict/Report.ts"
import { runOutage } from "./OutageRun.ts"
import { OUTAGES, type OutageName } from "./Outages.ts"

const help = `Usage: npx -y pnpm@12 outage [--case TEXT] [--seconds N]

Takes the database away while clients buy, and measures how long after the end of the cause a purchase succeeds. Checks
that each charge has goods or a refund, and the ledger. Exits with 1 on any violation. Cases that need root, or Debian's
postgresql and pgbouncer, are skipped without them.

  --case      only outages whose name contains this text
  --seconds   how long each outage lasts (20)`

const { values } = parseArgs({
  options: {
    case: { type: "string", default: "" },
    seconds: { type: "string", default: "20" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const seconds = Number(values.seconds)
const names = Object.keys(OUTAGES).filter((name): name is OutageName => name.includes(values.case))
let violations = 0

const measure = async (name: OutageName): Promise<void> => {
  const outage = await OUTAGES[name]()
  if (typeof outage === "string") return console.log(`${name}: skipped, ${outage}`)
  try {
    const report = await runOutage(outage, seconds * 1_000)
    const {
      answers,
      challenges,
      databaseUp,
      ledgerFinding,
      messages,
      outcome,
      ready,
      recoveryMillis,
      underWayMillis,
      usualMillis
    } = report
    violations += outcome.violations.length + (ledgerFinding === undefined ? 0 : 1)
    const counts = [...challenges].map(([status, count]) => `${count} × ${status}`).join(", ")
    console.log(
      `\n${name}: good ${(recoveryMillis / 1_000).toFixed(1)} s after the end of the cause, usually ${Math.round(usualMillis)} ms`
    )
    const late = underWayMillis.map((millis) => (millis / 1_000).toFixed(1)).join(", ")
    console.log(`  payments under way were good after the end of the cause by, in seconds: ${late || "none"}`)
    for (const [kind, { longestMillis, statuses }] of answers) {
      const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ")
      console.log(`  each ${kind} meanwhile was answered within ${(longestMillis / 1_000).toFixed(1)} s: ${counts}`)
    }
    console.log(`  challenges meanwhile: ${counts}; ready: ${[...ready].join(", ")}`)
    console.log(
      `  agentos_database_up: ${[...databaseUp].join(", ")}; ${ledgerFinding ?? "every payment is accounted for"}`
    )
    console.log(`  purchases: ${outcome.verdict.ends.size}, violations: ${outcome.violations.length}`)
    for (const line of linesOf(outcome.violations)) console.log(`  ${line}`)
    for (const message of messages) console.log(`  log: ${message}`)
  } finally {
    await outage.stop()
  }
}

if (values.help || names.length === 0 || Number.isNaN(seconds)) {
  console.log(help)
  process.exitCode = values.help ? 0 : 2
} else {
  for (const name of names) await measure(name)
  console.log(`\n${summaryOf(violations)}`)
  process.exitCode = violations === 0 ? 0 : 1
}
