import { DEFAULT_EVENT_POLICY, EventPolicy, RateLimiter } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { policyLayer, rateLimiterLayer } from "../src/Composition.ts"
import { memory, postgres } from "../src/Storage.ts"

describe("policyLayer", () => {
  it.effect("keeps events for the configured time, and leaves the rest of the policy unchanged", () =>
    Effect.gen(function* () {
      const surrounding = { ...DEFAULT_EVENT_POLICY, leaseDuration: 7 }
      for (const eventRetention of [40, null]) {
        const policy = yield* Effect.provide(EventPolicy, policyLayer({ eventRetention }))
        assert.deepStrictEqual(policy, { ...surrounding, auditRetention: eventRetention })
      }
    }).pipe(Effect.provideService(EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration: 7 }))
  )
})

describe("rateLimiterLayer", () => {
  it.effect("limits the whole process, and nothing if rate limits are disabled", () =>
    Effect.gen(function* () {
      const rule = { name: "smtp.message", burst: 1, perSecond: 0.001, isShared: true }
      for (const storage of [memory(), postgres("postgres://localhost")]) {
        for (const rateLimit of [null, { burst: 1_200, perSecond: 20 }]) {
          const { take } = yield* Effect.provide(RateLimiter.RateLimiter, rateLimiterLayer({ storage, rateLimit }))
          assert.isTrue((yield* take(rule, "192.0.2.1")).isAdmitted)
          assert.strictEqual((yield* take(rule, "192.0.2.1")).isAdmitted, rateLimit === null)
        }
      }
    }).pipe(Effect.provide(Memory.layer))
  )
})
