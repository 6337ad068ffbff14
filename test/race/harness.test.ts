import { expect, it } from "vitest"
import { startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { judge } from "./Judge.ts"
import { openRaces } from "./RaceRun.ts"
import { oneProofTwoKeys } from "./RequestRaces.ts"

it("two servers without the unique key on proofs are caught", async () => {
  const cluster = await startCluster({ servers: 2 })
  try {
    await execute(cluster.database.url, "alter table operations drop constraint operations_proof_key")
    const run = await openRaces(cluster, 1)
    await run.play(oneProofTwoKeys, 6)
    const verdicts = await judge(cluster, run.book)
    const found = verdicts.flatMap(({ violations }) => violations.map(({ text }) => text))
    expect(found).toContainEqual(expect.stringMatching(/^2 winners/))
    expect(found).toContainEqual("one authorization bought 2 things")
  } finally {
    await cluster.stop()
  }
})
