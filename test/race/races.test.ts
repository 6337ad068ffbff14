import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { linesOf } from "../faults/verdict/Report.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { testSeed } from "../support/Random.ts"
import { KNOWN_WALLETS, RaceRun, tableOf } from "./RaceRun.ts"
import { races } from "./Races.ts"
import { SETUP } from "./Round.ts"

const ROUNDS = 10
const TIMEOUT_MILLIS = 300_000
const SEED = testSeed()

let cluster: Cluster
let run: RaceRun

beforeAll(async () => {
  // A paused server's open transactions block their tenants for this long.
  const environment = { AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: "10" }
  cluster = await startCluster({ servers: 2, telephones: true, environment })
  run = await RaceRun.open(cluster, SEED)
})
afterAll(() => cluster?.stop())

describe(`two servers over one PostgreSQL (seed ${SEED})`, () => {
  it.each(races)(
    "answer as they should: $name",
    async (race) => {
      await run.play(race, ROUNDS)
      expect(linesOf(run.judgeAnswers(race))).toEqual([])
    },
    TIMEOUT_MILLIS
  )

  it("charge and serve each winner once, and no loser, even after all payments have expired", async () => {
    await run.untilExpired()
    const { rows, violations } = await run.judge()
    const table = tableOf(rows)
    expect({ table, violations: linesOf(violations) }).toEqual({ table, violations: [] })
    for (const { charges, race, refunds, rounds, winners } of rows) {
      expect({ race, charged: charges - refunds }).toEqual({ race, charged: winners })
      expect(rounds).toBeGreaterThanOrEqual(race === SETUP ? KNOWN_WALLETS : ROUNDS)
    }
  })
})
