import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { type ChaosOptions, runChaos } from "./ChaosRun.ts"
import type { Fault } from "./FaultPlan.ts"
import { judge, type RuleName } from "./Judge.ts"

/** What the real server does in the same situations, `chaos.test.ts` shows. */
const SMALL = { servers: 2, tenants: 3, sockets: 12, events: 300, faults: [], settleMillis: 6_000 } as const
const MILLIS_MAX = 240_000
const SEED = Math.floor(Math.random() * 2 ** 31)

const CUTS: ReadonlyArray<Fault> = Array.from({ length: 6 }, (_, index) => ({
  kind: "cut",
  inHundred: 50,
  isMidFrame: index % 2 === 0
}))

interface Broken {
  readonly what: string
  /** Of the module in `fault`. */
  readonly server: string
  readonly rule: RuleName
  readonly options: Partial<ChaosOptions>
}

const BROKEN: ReadonlyArray<Broken> = [
  {
    what: "takes events from those who have them",
    server: "liveLeaseTaken",
    rule: "no event is held by two",
    options: { manners: ["forgetful"] }
  },
  {
    what: "does not lease the oldest",
    server: "randomOrder",
    rule: "a session gets events in order",
    // One socket a tenant, so that more waits than it may have in flight.
    options: { manners: ["slow"], sockets: 3, events: 600 }
  },
  {
    what: "takes an acknowledgement of a delivery that was lost",
    server: "lostDeliveryCounts",
    rule: "what is acknowledged was acknowledged",
    options: { manners: ["forgetful"], events: 1_000, faults: CUTS }
  },
  {
    what: "takes an acknowledgement of a stranger's event",
    server: "strangerCounts",
    rule: "no tenant sees another's",
    options: { manners: ["forgetful"], events: 900 }
  },
  {
    what: "neither hears of events nor looks for them",
    server: "deaf",
    rule: "every event is acknowledged by its owner",
    options: { manners: ["prompt"] }
  }
]

it.each(BROKEN)(
  `the judge notices a server that $what (seed ${SEED})`,
  async ({ options, rule, server }) => {
    const serverModule = fileURLToPath(new URL(`fault/${server}Main.ts`, import.meta.url))
    const { history } = await runChaos({ ...SMALL, seed: SEED, serverModule, ...options })
    expect(judge(history).map((violation) => violation.rule)).toContain(rule)
  },
  MILLIS_MAX
)
