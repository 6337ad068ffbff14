import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { testSeed } from "../support/Random.ts"
import { playCase, runCampaign } from "./Campaign.ts"
import { type DefenseRig, startDefenseRig } from "./DefenseRig.ts"
import { linesOfFinding } from "./FuzzReport.ts"
import { Oracle } from "./Oracle.ts"
import { readRegressions } from "./Regressions.ts"
import { TARGETS } from "./target/Targets.ts"

const SEED = testSeed()
/** A few seconds of each target. */
const CASES: Readonly<Record<string, number>> = {
  contract: 1_500,
  http: 400,
  socket: 80,
  smtp: 60,
  mime: 150,
  webhook: 100,
  text: 6,
  cli: 100
}

const regressions = await readRegressions()

let rig: DefenseRig
beforeAll(async () => {
  rig = await startDefenseRig({ database: "pglite", rateLimitPerMinute: 0 })
})
afterAll(() => rig?.stop())

describe("malformed input", () => {
  it.each(TARGETS)("breaks no promise of the service: $name", async (target) => {
    const casesMax = CASES[target.name]!
    const { cases, counts, findings } = await runCampaign(rig, {
      targets: [target],
      seed: SEED,
      casesMax,
      signal: new AbortController().signal
    })
    expect(findings.flatMap(linesOfFinding)).toEqual([])
    expect(cases).toEqual({ [target.name]: casesMax })
    expect(Object.values(counts).every((count) => count > 0)).toBe(true)
  })

  it.each(regressions)("breaks no promise again: %s", async (_, { input, target: name }) => {
    const target = TARGETS.find((one) => one.name === name)!
    const player = await target.open({ rig, oracle: new Oracle(rig.canaries), count: () => undefined })
    expect(await playCase(player, input)).toEqual([])
    await player.close()
  })

  it("leaves a ledger that adds up and the server that was started", async () => {
    expect(await rig.auditLedger()).toBeUndefined()
    expect(await rig.serverPid()).toBe(rig.sandbox.processes.server)
  })
})
