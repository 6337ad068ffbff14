import { expect, it } from "vitest"
import { testSeed } from "../support/Random.ts"
import { runTail } from "./TailRun.ts"

const SEED = testSeed()
const EVENTS = 400
const SETTLE_MILLIS = 180_000
const MILLIS_MAX = 600_000

it(
  `handles every event, and acknowledges it after its command, while processes are killed and connections cut (seed ${SEED})`,
  async () => {
    const faults = { restarted: 1, "network cut": 1, "client killed": 2 }
    const said: Array<string> = []
    const result = await runTail({
      events: EVENTS,
      faults,
      jobs: 1,
      seed: SEED,
      settleMillis: SETTLE_MILLIS,
      say: (line) => said.push(line)
    })
    expect(result.violations).toEqual([])
    expect(result).toMatchObject({ stored: EVENTS, acknowledged: EVENTS - result.poisoned, exitCode: 130 })
    expect(result.audits).toBeGreaterThan(said.length)
    expect(said).toHaveLength(4)
  },
  MILLIS_MAX
)
