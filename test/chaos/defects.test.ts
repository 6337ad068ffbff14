import { expect, it } from "vitest"
import type { DefectName } from "../faults/server/Defects.ts"
import { type EVENT_INVARIANTS, judgeEvents } from "../faults/verdict/EventInvariants.ts"
import { invariantsOf } from "../faults/verdict/Judge.ts"
import { testSeed } from "../support/Random.ts"
import { type ChaosOptions, runChaos } from "./ChaosRun.ts"

const SEED = testSeed()
const TIMEOUT_MILLIS = 240_000

const SMALL = { servers: 2, tenants: 3, sockets: 12, events: 300, faults: [], settleMillisMax: 6_000 } as const
const CUTS = Array.from({ length: 6 }, (_, index) => ({
  kind: "sockets cut" as const,
  percent: 50,
  isMidFrame: index % 2 === 0
}))

it.each<readonly [DefectName, keyof typeof EVENT_INVARIANTS, Partial<ChaosOptions>]>([
  ["leases events that others hold", "at most one session holds an event", { behaviors: ["forgetful"] }],
  [
    "does not lease the oldest events",
    "a session receives events in order",
    // One socket per tenant, so that more events wait than may be in flight.
    { behaviors: ["slow"], sockets: 3, events: 600 }
  ],
  [
    "accepts acknowledgements of lost deliveries",
    "acknowledgements are genuine",
    { behaviors: ["forgetful"], events: 1_000, faults: CUTS }
  ],
  ["accepts acknowledgements of other tenants", "tenants are isolated", { behaviors: ["forgetful"], events: 900 }],
  [
    "neither receives signals of events nor polls",
    "every event is acknowledged by its tenant",
    { behaviors: ["prompt"] }
  ]
])(
  `the invariants reject a server that %s (seed ${SEED})`,
  async (defect, invariant, options) => {
    const { history } = await runChaos({ ...SMALL, seed: SEED, defect, ...options })
    expect(invariantsOf(judgeEvents(history))).toContain(invariant)
  },
  TIMEOUT_MILLIS
)
