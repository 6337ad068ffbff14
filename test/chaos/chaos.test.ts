import { expect, it } from "vitest"
import { runChaos } from "./ChaosRun.ts"
import { planFaults } from "./FaultPlan.ts"
import { judge } from "./Judge.ts"
import { figuresOf, violationsOf } from "./Report.ts"

const SEED = Math.floor(Math.random() * 2 ** 31)
const FAULTS = 10
/** On a quiet machine all of it takes less than a minute; a busy one may take its time. */
const SETTLE_MILLIS = 120_000
const MILLIS_MAX = 600_000

it(
  `keeps every promise while servers are killed, stopped, restarted and deaf, and sockets cut (seed ${SEED})`,
  async () => {
    const result = await runChaos({
      servers: 3,
      tenants: 6,
      sockets: 30,
      events: 3_000,
      faults: planFaults(FAULTS, SEED),
      seed: SEED,
      settleMillis: SETTLE_MILLIS
    })
    const violations = judge(result.history)
    expect({ figures: figuresOf(result), violations: violationsOf(violations) }).toEqual({
      figures: expect.anything(),
      violations: []
    })
    expect(new Set(result.faults.map(({ kind }) => kind)).size).toBe(5)
    expect(result.faults).toHaveLength(FAULTS)
    expect(result.history.frames.some(({ deliveryCount }) => deliveryCount > 1)).toBe(true)
  },
  MILLIS_MAX
)
