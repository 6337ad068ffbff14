import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { execute } from "../support/ClusterDatabase.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"

const PER_MINUTE = 60
/** Pause between requests to the second server, which reads the usage of the first once per second. */
const PACE_MILLIS = 250

let rig: RealtimeRig
beforeAll(async () => {
  const environment = { AGENTOS_RATE_LIMIT_PER_MINUTE: String(PER_MINUTE), AGENTOS_TRUSTED_PROXIES: "127.0.0.0/8" }
  rig = await startRealtimeRig({ servers: 2, environment })
})
afterAll(() => rig?.stop())

interface Caller {
  readonly address: string
  readonly token?: string
}

const status = async (index: number, path: string, { address, token }: Caller): Promise<number> => {
  const response = await fetch(`${rig.cluster.servers[index]!.baseUrl}${path}`, {
    headers: { "x-forwarded-for": address, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  })
  await response.text()
  return response.status
}

/** Sends requests to a server until it refuses one; returns the number that it admitted. */
const admitted = async (index: number, paceMillis: number, request: () => Parameters<typeof status>) => {
  for (let count = 0; ; count++) {
    if ((await status(...request())) === 429) return count
    if (count > 3 * PER_MINUTE) throw new Error(`server ${index} refuses no request`)
    await new Promise((resolve) => setTimeout(resolve, paceMillis))
  }
}

describe("two servers on one PostgreSQL", () => {
  it("share the limit of an address", async () => {
    const caller = { address: "198.51.100.1" }
    expect(await admitted(0, 0, () => [0, "/api/v1", caller])).toBeGreaterThanOrEqual(PER_MINUTE)
    expect(await admitted(1, PACE_MILLIS, () => [1, "/api/v1", caller])).toBeLessThan(PER_MINUTE / 2)
  })

  it("share the limit of a tenant across addresses", async () => {
    const [tenant] = await rig.tenants(1)
    const token = await rig.accessToken(tenant!)
    let host = 0
    const caller = () => ({ address: `203.0.113.${++host % 250}`, token })
    expect(await admitted(0, 0, () => [0, "/api/v1/events", caller()])).toBeGreaterThanOrEqual(PER_MINUTE)
    expect(await admitted(1, PACE_MILLIS, () => [1, "/api/v1/events", caller()])).toBeLessThan(PER_MINUTE / 2)
  })

  it("keep serving with a limit of their own while the database cannot share it", async () => {
    const caller = { address: "198.51.100.2" }
    await execute(rig.cluster.database.url, "alter table rate_limits rename to rate_limits_away")
    const [one, other] = await Promise.all([0, 1].map((index) => admitted(index, 0, () => [index, "/api/v1", caller])))
    await execute(rig.cluster.database.url, "alter table rate_limits_away rename to rate_limits")
    expect(one).toBeGreaterThanOrEqual(PER_MINUTE)
    expect(other).toBeGreaterThanOrEqual(PER_MINUTE)
  })
})
