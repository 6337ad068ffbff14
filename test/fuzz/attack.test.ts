import { expect, it } from "vitest"
import { runAttack } from "./attack/AttackRun.ts"
import { ATTACKS } from "./attack/Attacks.ts"

const SECONDS = 5
/**
 * Far above what `attack` allows, and of the median alone, because other tests share the processors and delay single
 * requests by seconds. Without limits every request takes seconds, and the server gigabytes.
 */
const P50_LIMIT_MILLIS = 1_500
const RESIDENT_LIMIT_BYTES = 500 * 1024 * 1024
/** A machine may stand still for a whole attempt, which is seconds long. An attack that works, works in each. */
const RETRIES = 2

it.each(["zeros", "unknown-properties", "unfinished-bodies", "acknowledgements"])(
  "serves an honest client beside the attack %s",
  { retry: RETRIES },
  async (name) => {
    const attack = ATTACKS.find((one) => one.name === name)!
    const { answers, honest, server } = await runAttack(attack, SECONDS, {
      database: "pglite",
      rateLimitPerMinute: 1_200
    })
    expect(Object.keys(answers)).not.toEqual([])
    expect(honest.errors).toEqual([])
    expect(honest.requests.p50Millis).toBeLessThan(P50_LIMIT_MILLIS)
    expect(server.residentMaxBytes).toBeLessThan(RESIDENT_LIMIT_BYTES)
    expect(server.restarts).toBe(0)
  }
)
