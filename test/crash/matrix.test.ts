import { describe, expect, it } from "vitest"
import { facilitatorCells, inTurn, interferenceCells, isSlow, refundCells, relayCells, stepCells } from "./Cell.ts"
import { CrashRig, type DatabaseKind } from "./CrashRig.ts"
import { OUTAGES, runDatabaseOutage } from "./DatabaseOutage.ts"
import { runMatrix } from "./MatrixRun.ts"
import { tableOf, violationsOf } from "./Report.ts"
import { oneProofManyKeys, play } from "./Scenario.ts"
import { END_MILLIS_MAX, type Outcome } from "./Witness.ts"

/** A run waits for leases of dead workers and for the expiry of what was never settled, and for a machine that is busy. */
const RUN_MILLIS_MAX = 600_000

const within = async <A>(database: DatabaseKind, work: (rig: CrashRig) => Promise<A>): Promise<A> => {
  const rig = await CrashRig.start({ database })
  try {
    return await work(rig)
  } finally {
    await rig.stop()
  }
}

const expectNoViolation = (outcome: Outcome): void => {
  expect(violationsOf(outcome)).toEqual([])
  expect(outcome.endMillis).toBeLessThan(END_MILLIS_MAX)
}

describe("a server that is killed", () => {
  it(
    "at every step of every paid operation, on PGlite, charges once or pays back",
    () =>
      within("pglite", async (rig) => {
        const cells = [
          ...stepCells(),
          ...refundCells(),
          ...interferenceCells(),
          ...inTurn(facilitatorCells()),
          ...relayCells().filter((cell) => !isSlow(cell))
        ]
        const result = await runMatrix(rig, cells)
        console.log(tableOf(result.outcome, result.cells).join("\n"))
        expect(result.cells.size).toBe(cells.length)
        expectNoViolation(result.outcome)
      }),
    RUN_MILLIS_MAX
  )

  it(
    "at every step of one operation or another, on PostgreSQL, charges once or pays back",
    () =>
      within("postgres", async (rig) => {
        const { cells, outcome } = await runMatrix(rig, [...inTurn(stepCells()), ...inTurn(refundCells())])
        console.log(tableOf(outcome, cells).join("\n"))
        expectNoViolation(outcome)
      }),
    RUN_MILLIS_MAX
  )
})

describe("a server whose PostgreSQL goes away during the calls outside", () => {
  it.each(OUTAGES)(
    "since it is %s charges once or pays back",
    (outage) => within("postgres", async (rig) => expectNoViolation(await runDatabaseOutage(rig, outage))),
    RUN_MILLIS_MAX
  )
})

describe("one payment that is offered under several keys at once", () => {
  it(
    "buys one thing",
    () => within("postgres", async (rig) => expectNoViolation(await play(rig, oneProofManyKeys, END_MILLIS_MAX))),
    RUN_MILLIS_MAX
  )
})
