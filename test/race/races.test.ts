import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { judge, untilOver } from "./Judge.ts"
import { openRaces, type RaceRun } from "./RaceRun.ts"
import { races } from "./Races.ts"
import { describe as describeVerdicts } from "./Report.ts"

const ROUNDS = 12
const SEED = Math.floor(Math.random() * 2 ** 31)

let cluster: Cluster
let run: RaceRun

beforeAll(async () => {
  cluster = await startCluster({ servers: 2 })
  run = await openRaces(cluster, SEED)
})
afterAll(() => cluster?.stop())

describe(`on two servers over one PostgreSQL (seed ${SEED})`, () => {
  it.each(races)("$name", async (race) => {
    await run.play(race, ROUNDS)
    expect(run.book.violations).toEqual([])
  })

  it("each winner is charged once and served once, and no loser is charged, now or later", async () => {
    await untilOver(cluster, run.book)
    const verdicts = await judge(cluster, run.book)
    const report = describeVerdicts(SEED, verdicts)
    expect(
      verdicts.flatMap(({ violations }) => violations),
      report
    ).toEqual([])
    for (const { charges, race, refunds, rounds, winners } of verdicts) {
      expect(rounds, race).toBeGreaterThanOrEqual(race === "set-up" ? 8 : ROUNDS)
      expect(charges - refunds, race).toBe(winners)
    }
  })
})
