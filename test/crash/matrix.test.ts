import { describe, expect, it } from "vitest"
import {
  carrierCells,
  clientsInTurn,
  elsewhereCells,
  facilitatorCells,
  inTurn,
  interferenceCells,
  isSlow,
  ofHalf,
  refundCells,
  relayCells,
  stepCells
} from "./Cell.ts"
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
  } catch (error) {
    console.log(await rig.serverComplaints())
    throw error
  } finally {
    await rig.stop()
  }
}

const expectNoViolation = (outcome: Outcome): void => {
  expect(violationsOf(outcome)).toEqual([])
  expect(outcome.endMillis).toBeLessThan(END_MILLIS_MAX)
}

// Most of each run is waiting, so they wait beside each other.
describe.concurrent("a server on PGlite", () => {
  it(
    "that is killed at every step of every paid operation charges once or pays back",
    () =>
      within("pglite", async (rig) => {
        const cells = [
          ...ofHalf("email", [...stepCells(), ...refundCells(), ...interferenceCells()]),
          ...inTurn(ofHalf("email", elsewhereCells())),
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
    "that is killed at every step of every operation on the telephone charges once or pays back, and dials once",
    () =>
      within("pglite", async (rig) => {
        const steps = ofHalf("phone", [...stepCells(), ...refundCells(), ...interferenceCells()])
        const cells = [...clientsInTurn([...steps, ...carrierCells()]), ...inTurn(ofHalf("phone", elsewhereCells()))]
        const result = await runMatrix(rig, cells)
        console.log(tableOf(result.outcome, result.cells).join("\n"))
        expect(result.cells.size).toBe(cells.length)
        expectNoViolation(result.outcome)
      }),
    RUN_MILLIS_MAX
  )
})

describe.concurrent("a server on PostgreSQL", () => {
  it(
    "that is killed, that loses its database during the calls outside, or that is offered one payment under several keys at once, charges once or pays back",
    () =>
      within("postgres", async (rig) => {
        const result = await runMatrix(rig, [
          ...inTurn(stepCells()),
          ...inTurn(refundCells()),
          ...inTurn(elsewhereCells())
        ])
        console.log(tableOf(result.outcome, result.cells).join("\n"))
        expectNoViolation(result.outcome)
        for (const outage of OUTAGES) expectNoViolation(await runDatabaseOutage(rig, outage))
        expectNoViolation(await play(rig, oneProofManyKeys, END_MILLIS_MAX))
      }),
    RUN_MILLIS_MAX
  )
})
