import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { judge, untilOver } from "./Judge.ts"
import { SET_UP } from "./Book.ts"
import { KNOWN_WALLETS, openRaces, type RaceRun } from "./RaceRun.ts"
import { races } from "./Races.ts"
import { describe as describeVerdicts } from "./Report.ts"

const ROUNDS = 10
/** A server that is stopped is waited for. */
const TIMEOUT_MILLIS = 300_000

const SEED = Math.floor(Math.random() * 2 ** 31)

let cluster: Cluster
let run: RaceRun

beforeAll(async () => {
  // A stopped server's open transactions hold their tenants up until then. The default is longer than a test is to take.
  const environment = { AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: "10" }
  cluster = await startCluster({ servers: 2, telephones: true, environment })
  run = await openRaces(cluster, SEED)
})
afterAll(() => cluster?.stop())

describe(`on two servers over one PostgreSQL (seed ${SEED})`, () => {
  it.each(races)(
    "$name",
    async (race) => {
      await run.play(race, ROUNDS)
      expect(run.book.violations.filter((violation) => violation.race === race.name)).toEqual([])
    },
    TIMEOUT_MILLIS
  )

  it("each winner is charged once and served once, and no loser is charged, now or later", async () => {
    await untilOver(cluster, run.book)
    const verdicts = await judge(cluster, run)
    const report = describeVerdicts(SEED, verdicts)
    const violations = verdicts.flatMap((verdict) => verdict.violations)
    expect({ report, violations }).toEqual({ report, violations: [] })
    for (const { charges, race, refunds, rounds, winners } of verdicts) {
      expect({ race, charged: charges - refunds }).toEqual({ race, charged: winners })
      expect(rounds).toBeGreaterThanOrEqual(race === SET_UP ? KNOWN_WALLETS : ROUNDS)
    }
  })
})
