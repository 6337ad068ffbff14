import { afterEach, expect, it, vi } from "vitest"
import { EXPIRY_BEGUN } from "../faults/server/Defects.ts"
import { testServer, type TestServerOptions } from "../faults/server/TestServer.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { untilGone } from "../support/Processes.ts"

/** Bounds a hang, in milliseconds. */
const ENDED_WITHIN = 100_000

let cluster: Cluster | undefined
afterEach(() => cluster?.stop())

const startWith = async (...options: ReadonlyArray<TestServerOptions>) => {
  const [first, ...others] = options.map(testServer)
  const environmentOf = (server: number) => others[server - 1]?.environment ?? {}
  cluster = await startCluster({ servers: options.length, ...first!, environmentOf })
  return cluster.servers
}

it("a blocked event loop ends the process, with a stack in the log that names the code", async () => {
  const servers = await startWith(
    {
      defect: "blocks the event loop when it is asked whether it is ready",
      watchdog: { checkEveryMillis: 100, checks: 1_000, processorSeconds: 1 }
    },
    {
      defect: "waits in the event loop when it is asked whether it is ready",
      watchdog: { checkEveryMillis: 100, checks: 10, processorSeconds: 10 }
    }
  )
  const answered = Promise.allSettled(servers.map(({ baseUrl }) => fetch(`${baseUrl}/health/ready`)))
  await untilGone(
    servers.map((server) => server.pid()),
    ENDED_WITHIN
  )
  expect((await answered).map(({ status }) => status)).toEqual(["rejected", "rejected"])
  // The last lines may arrive after the end.
  await expect.poll(() => servers[0]!.log()).toMatch(/the event loop made no turn for [\d.]+ s.*at blockForEver \(/)
  await expect.poll(() => servers[1]!.log()).toMatch(/the event loop made no turn for 1 s.*at waitForEver \(/)
})

it("SIGTERM ends a server whose work does not end, and the log names the part that does not", async () => {
  const [server] = await startWith({ defect: "can't interrupt the expiry of events" })
  await vi.waitFor(() => expect(server!.log()).toContain(EXPIRY_BEGUN), ENDED_WITHIN)
  const pid = server!.pid()
  process.kill(pid, "SIGTERM")
  await untilGone([pid], ENDED_WITHIN)
  await expect.poll(() => server!.log()).toContain("Not finished: jobs and deliveries")
})
