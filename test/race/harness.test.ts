import { afterAll, beforeAll, expect, it } from "vitest"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf, untilGone } from "../support/Processes.ts"
import { judge } from "./Judge.ts"
import { openRaces, type RaceRun } from "./RaceRun.ts"
import { oneKeyTwoProofs, oneProofTwoKeys } from "./RequestRaces.ts"

const ROUNDS = 6
const TIMEOUT_MILLIS = 240_000

let cluster: Cluster
let run: RaceRun
let before: ReadonlyArray<number>

beforeAll(async () => {
  before = familyOf(process.pid)
  cluster = await startCluster({ servers: 2 })
  run = await openRaces(cluster, 1)
})
afterAll(() => cluster?.stop())

// The second also lacks what the first took away, which its race does not touch.
it.each([
  { constraint: "operations_proof_key", race: oneProofTwoKeys, found: "one authorization bought 2 things" },
  { constraint: "operations_idempotency_key", race: oneKeyTwoProofs, found: "2 winners" }
])(
  "two servers without $constraint are caught",
  async ({ constraint, found, race }) => {
    await execute(cluster.database.url, `alter table operations drop constraint ${constraint}`)
    await run.play(race, ROUNDS)
    const verdicts = await judge(cluster, run.book)
    const violations = verdicts.filter((verdict) => verdict.race === race.name).flatMap((verdict) => verdict.violations)
    expect(violations.map(({ text }) => text)).toContainEqual(expect.stringContaining(found))
  },
  TIMEOUT_MILLIS
)

it("a cluster leaves no process behind, and does not wait for a server that is frozen", async () => {
  const started = familyOf(process.pid).filter((pid) => !before.includes(pid))
  // The chain with its node, the facilitator, the relay, two servers with their parsers of mail, and a database.
  expect(started.length).toBeGreaterThan(8)
  expect(started).toEqual(expect.arrayContaining(cluster.servers.map(({ pid }) => pid())))
  cluster.servers[0]!.freeze()
  await cluster.stop()
  await untilGone(started, 5_000)
})
