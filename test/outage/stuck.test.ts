import { afterEach, expect, it, vi } from "vitest"
import { type DefectName, EXPIRY_BEGUN } from "../faults/server/Defects.ts"
import { testServer } from "../faults/server/TestServer.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { untilGone } from "../support/Processes.ts"

/** Bounds a hang, in milliseconds. */
const ENDED_WITHIN = 100_000

let cluster: Cluster | undefined
afterEach(() => cluster?.stop())

const startWith = async (defect: DefectName) => {
  cluster = await startCluster({ servers: 1, ...testServer({ defect }) })
  return cluster.servers[0]!
}

it("a blocked event loop ends the process, with a stack in the log that names the code", async () => {
  const server = await startWith("blocks the event loop when it is asked whether it is ready")
  const answered = Promise.allSettled([fetch(`${server.baseUrl}/health/ready`)])
  await untilGone([server.pid()], ENDED_WITHIN)
  expect((await answered)[0].status).toBe("rejected")
  // The last lines may arrive after the end.
  await expect.poll(() => server.log()).toMatch(/the event loop made no turn for \d+ s.*at blockForEver \(/)
})

it("SIGTERM ends a server whose work does not end, and the log names the part that does not", async () => {
  const server = await startWith("can't interrupt the expiry of events")
  await vi.waitFor(() => expect(server.log()).toContain(EXPIRY_BEGUN), ENDED_WITHIN)
  const pid = server.pid()
  process.kill(pid, "SIGTERM")
  await untilGone([pid], ENDED_WITHIN)
  await expect.poll(() => server.log()).toContain("Not finished: jobs and deliveries")
})
