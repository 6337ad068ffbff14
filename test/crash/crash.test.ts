import { describe, expect, it } from "vitest"
import { linesOf } from "../faults/verdict/Report.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { makeRandom, testSeed } from "../support/Random.ts"
import {
  adviceCells,
  allowanceCells,
  carrierCells,
  type Cell,
  facilitatorCells,
  interferenceCells,
  isPayableBy,
  isSlow,
  ofHalf,
  oneClient,
  oneService,
  refundCells,
  relayCells,
  smartAccountCells,
  stagedCells,
  stepCells,
  strangerCells
} from "./Cell.ts"
import { OUTAGES, runDatabaseOutage } from "./DatabaseOutage.ts"
import { runManyKeys } from "./ManyKeys.ts"
import { runMatrix } from "./MatrixRun.ts"
import { runRandomKills } from "./RandomKills.ts"
import { endsOf, tableOf } from "./Report.ts"
import { END_MILLIS_MAX, type Outcome } from "./Settle.ts"
import { Shop } from "./Shop.ts"

const SEED = testSeed()
const KILL_SECONDS = 20
const CLIENTS = 6
/** Runs wait for leases of dead workers and for the expiry of payments. */
const TIMEOUT_MILLIS = 600_000

/** Whether the providers of a cell work, so that no server waits for one. */
const isInstant = ({ fault, twist }: Cell): boolean => fault === undefined || twist !== undefined

const expectNoViolation = (outcome: Outcome): void => {
  expect(linesOf(outcome.violations)).toEqual([])
  expect(outcome.endMillis).toBeLessThan(END_MILLIS_MAX)
}

const expectMatrix = async (shop: Shop, cells: ReadonlyArray<Cell>): Promise<void> => {
  const { cells: played, outcome } = await runMatrix(shop, cells)
  console.log(tableOf(outcome, played).join("\n"))
  expect(played.size).toBe(cells.length)
  expectNoViolation(outcome)
}

/** Expects that each operation has the events of its end exactly once, in order. */
const expectEvents = async (shop: Shop): Promise<void> => {
  const ends = await execute(
    shop.testbed.cluster.database.url,
    `select distinct state, (
      select string_agg(type, ', ' order by created_at, event_id) from events where resource_id = operation_id::text
    ) as told
    from operations where state in ('fulfilled', 'unpaid', 'refunded')`
  )
  expect(ends).toContainEqual({ state: "refunded", told: "payment.failed, payment.refunded" })
  expect([
    { state: "fulfilled", told: "payment.completed" },
    { state: "refunded", told: "payment.failed, payment.refunded" },
    { state: "unpaid", told: "payment.failed" }
  ]).toEqual(expect.arrayContaining([...ends]))
}

// Most of each run is waiting.
describe.concurrent("a purchase is charged once and delivered once, refunded, or never charged", () => {
  it(
    "when a server on PGlite is killed at any step of an email operation",
    () =>
      Shop.with({ database: "pglite" }, (shop) =>
        expectMatrix(shop, [
          ...oneClient(ofHalf("email", [...stepCells(), ...refundCells(), ...interferenceCells()])),
          ...oneService(ofHalf("email", strangerCells())),
          ...oneService(facilitatorCells()),
          ...relayCells().filter((cell) => !isSlow(cell)),
          ...stagedCells(),
          ...oneClient(smartAccountCells())
        ])
      ),
    TIMEOUT_MILLIS
  )

  it(
    "when a server on PGlite is killed at any step of a phone operation",
    () =>
      Shop.with({ database: "pglite" }, (shop) => {
        const steps = ofHalf("phone", [...stepCells(), ...refundCells(), ...interferenceCells()])
        return expectMatrix(shop, [
          ...oneClient([...steps, ...carrierCells()]),
          ...oneService(ofHalf("phone", strangerCells()))
        ])
      }),
    TIMEOUT_MILLIS
  )

  it(
    "when a server on PostgreSQL is killed, loses its database, or receives one payment under several keys",
    () =>
      Shop.with({ database: "postgres" }, async (shop) => {
        await expectMatrix(shop, [
          ...oneService(stepCells()),
          ...stagedCells(),
          ...oneService(refundCells()),
          ...oneService(strangerCells()),
          ...oneService(adviceCells().filter((cell) => isInstant(cell) && isPayableBy("eip3009", cell)))
        ])
        for (const outage of OUTAGES) expectNoViolation(await runDatabaseOutage(shop, outage))
        expectNoViolation(await runManyKeys(shop))
        await expectEvents(shop)
      }),
    TIMEOUT_MILLIS
  )

  it(
    "when a server is killed at any step of a purchase that is paid by Permit2",
    () =>
      Shop.with({ database: "pglite", paymentMethod: "permit2" }, async (shop) => {
        const steps = [...stepCells(), ...refundCells(), ...interferenceCells(), ...strangerCells()]
        await expectMatrix(shop, [
          ...oneService(ofHalf("email", steps)),
          ...oneService(facilitatorCells()),
          ...oneClient(smartAccountCells().filter((cell) => isPayableBy("permit2", cell))),
          ...oneService(adviceCells().filter((cell) => isInstant(cell) && isPayableBy("permit2", cell)))
        ])
      }),
    TIMEOUT_MILLIS
  )

  it(
    "when a server is killed at any step of a purchase that brings its allowance",
    () =>
      Shop.with({ database: "pglite", paymentMethod: "sponsored" }, (shop) => {
        const cells = [
          ...stepCells(),
          ...refundCells(),
          ...interferenceCells(),
          ...allowanceCells(),
          ...strangerCells()
        ]
        return expectMatrix(shop, oneClient(cells.filter(({ service }) => service === "email.mailbox.create")))
      }),
    TIMEOUT_MILLIS
  )

  it(
    `when a server is killed at random under load (seed ${SEED})`,
    () =>
      Shop.with({ database: "pglite" }, async (shop) => {
        const random = makeRandom(SEED)
        const { kills, outcome } = await runRandomKills(shop, { random, seconds: KILL_SECONDS, clients: CLIENTS })
        console.log(`${kills} kills, ${endsOf([...outcome.verdict.ends.values()])}`)
        expect(kills).toBeGreaterThan(0)
        expectNoViolation(outcome)
      }),
    TIMEOUT_MILLIS
  )
})
