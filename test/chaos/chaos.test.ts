import { expect, it } from "vitest"
import { planFaults } from "../faults/fault/Fault.ts"
import { judgeEvents } from "../faults/verdict/EventInvariants.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import { makeRandom, testSeed } from "../support/Random.ts"
import { CHAOS_DECK, runChaos } from "./ChaosRun.ts"
import { figuresOf } from "./Figures.ts"

const SEED = testSeed()
const FAULTS = 10
/** A quiet machine needs less than a minute for everything. */
const SETTLE_MILLIS_MAX = 120_000
const TIMEOUT_MILLIS = 600_000

it(
  `keeps every invariant of events while servers are killed, paused and restarted, and connections cut (seed ${SEED})`,
  async () => {
    const result = await runChaos({
      servers: 3,
      tenants: 6,
      sockets: 30,
      events: 3_000,
      faults: planFaults(CHAOS_DECK, FAULTS, makeRandom(SEED)),
      seed: SEED,
      settleMillisMax: SETTLE_MILLIS_MAX
    })
    const figures = figuresOf(result)
    expect({ figures, violations: linesOf(judgeEvents(result.history)) }).toEqual({ figures, violations: [] })
    expect(new Set(result.faults.map(({ kind }) => kind)).size).toBe(Object.keys(CHAOS_DECK).length)
    expect(result.faults).toHaveLength(FAULTS)
    expect(result.history.frames.some(({ deliveryCount }) => deliveryCount > 1)).toBe(true)
  },
  TIMEOUT_MILLIS
)
