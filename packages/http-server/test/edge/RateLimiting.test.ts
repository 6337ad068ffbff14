import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as TokenBuckets from "../../src/edge/TokenBuckets.ts"
import { call, errorOf, newTenant } from "../support/TestClient.ts"
import { startServer } from "../support/TestServer.ts"

const statusesOf = async (count: number, request: (index: number) => ReturnType<typeof call>) => {
  const statuses: Array<number> = []
  for (let index = 0; index < count; index++) statuses.push((await request(index)).status)
  return statuses
}

describe("TokenBuckets", () => {
  it.effect("let a burst through, and then as many as come back", () =>
    Effect.gen(function* () {
      const buckets = TokenBuckets.make({ burst: 3, perSecond: 2 })
      const take = buckets.take("a")
      assert.deepStrictEqual(yield* Effect.all([take, take, take, take]), [undefined, undefined, undefined, 1])
      assert.isUndefined(yield* buckets.take("b"))
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(yield* Effect.all([take, take]), [undefined, 1])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Effect.all([take, take, take, take]), [undefined, undefined, undefined, 1])
    })
  )

  it.effect("hold nothing against a client when the clock is set back", () =>
    Effect.gen(function* () {
      const buckets = TokenBuckets.make({ burst: 3, perSecond: 2 })
      const take = buckets.take("a")
      yield* TestClock.setTime(3_600_000)
      assert.isUndefined(yield* take)
      yield* TestClock.setTime(0)
      assert.deepStrictEqual(yield* Effect.all([take, take, take]), [undefined, undefined, 1])
    })
  )
})

describe("rate limiting", () => {
  it("tells an address that asks too much when to go on, and never those who watch over the server", async () => {
    const server = await startServer({ rateLimit: { burst: 5, perSecond: 0.001 } })
    const statuses = await statusesOf(5, () => call(server, "GET", "/api/v1"))
    const limited = await call(server, "GET", "/api/v1")
    const health = await call(server, "GET", "/health/ready")
    await server.stop()
    assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200])
    assert.strictEqual(limited.status, 429)
    assert.deepInclude(errorOf(limited), { code: "RATE_LIMITED", retryable: true })
    assert.isAtLeast(Number(limited.headers.get("retry-after")), 1)
    assert.strictEqual(health.status, 200)
  })

  it("knows clients by what their own proxies say, and believes nobody else", async () => {
    const from = (address: string) => ({ headers: { "x-forwarded-for": address } })
    const trusting = await startServer({
      rateLimit: { burst: 1, perSecond: 0.001 },
      trustedProxies: ["127.0.0.0/8", "::1/128"]
    })
    const apart = await statusesOf(3, (index) => call(trusting, "GET", "/api/v1", from(`198.51.100.${index}`)))
    const oneNetwork = await statusesOf(2, (index) =>
      call(trusting, "GET", "/api/v1", from(`2001:db8:0:1::${index + 1}`))
    )
    await trusting.stop()
    assert.deepStrictEqual(apart, [200, 200, 200])
    assert.deepStrictEqual(oneNetwork, [200, 429])

    const wary = await startServer({ rateLimit: { burst: 1, perSecond: 0.001 } })
    const alike = await statusesOf(2, (index) => call(wary, "GET", "/api/v1", from(`198.51.100.${index}`)))
    await wary.stop()
    assert.deepStrictEqual(alike, [200, 429])
  })

  it("limits a tenant wherever it calls from", async () => {
    const server = await startServer({ rateLimit: { burst: 4, perSecond: 0.001 }, trustedProxies: ["127.0.0.0/8"] })
    let host = 0
    const elsewhere = () => ({ "x-forwarded-for": `198.51.100.${++host}` })
    const { token } = await newTenant(server)
    const statuses = await statusesOf(5, () => call(server, "GET", "/api/v1/events", { token, headers: elsewhere() }))
    await server.stop()
    assert.deepStrictEqual(statuses, [200, 200, 200, 200, 429])
  })
})
