import { afterAll, beforeAll, expect, it } from "vitest"
import { testServer } from "../faults/server/TestServer.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster({ servers: 1, ...testServer({ defect: "never finishes the expiry of events" }) })
})
afterAll(() => cluster.stop())

const job = async () => {
  const statement = "select leased_until, failure from jobs where name = 'event-expiry'"
  const [row] = await execute(cluster.database.url, statement)
  return row
}

it("a server that stops during a job releases it to the next server at once, without logging an error", async () => {
  const server = cluster.servers[0]!
  await expect.poll(async () => (await job())?.["leased_until"], { timeout: 60_000 }).toBeTypeOf("bigint")
  await server.stop()
  expect(await job()).toEqual({ leased_until: null, failure: "the server stopped" })
  expect(server.log()).not.toMatch(/level=ERROR|InterruptError/)
})
