import { expect, it } from "vitest"
import { linesOf } from "../faults/verdict/Report.ts"
import { runOutage } from "./OutageRun.ts"
import { OUTAGES, type OutageName } from "./Outages.ts"

const OUTAGE_MILLIS = 6_000
/** Runs wait for the expiry of payments. */
const TIMEOUT_MILLIS = 400_000

const SOME: ReadonlyArray<OutageName> = [
  "silent connections",
  "PostgreSQL stopped",
  "primary with TLS and roles killed, standby promoted",
  "PgBouncer restarted",
  "disk of PostgreSQL full",
  "disk of the embedded database full"
]

it.for(SOME)(
  "%s: no payment is requested meanwhile, each charge has goods or a refund, and purchases succeed again",
  { timeout: TIMEOUT_MILLIS },
  async (name, { skip }) => {
    const outage = await OUTAGES[name]()
    if (typeof outage === "string") return skip(outage)
    try {
      const { answers, challenges, databaseUp, ledgerFinding, outcome, ready } = await runOutage(outage, OUTAGE_MILLIS)
      const unanswered = [...answers].filter(([, { statuses }]) => statuses.has(0))
      expect(unanswered).toEqual([])
      expect(linesOf(outcome.violations)).toEqual([])
      expect(ledgerFinding).toBeUndefined()
      expect([ready.has(503), databaseUp.has("0"), challenges.has(503)]).toEqual([true, true, true])
    } finally {
      await outage.stop()
    }
  }
)
