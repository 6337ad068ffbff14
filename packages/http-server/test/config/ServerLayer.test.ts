import { DEFAULT_EVENT_POLICY, EventPolicy } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { policyLayer } from "../../src/config/ServerLayer.ts"

describe("policyLayer", () => {
  it.effect("keeps events for as long as it is told, and all else as it was", () =>
    Effect.gen(function* () {
      const surrounding = { ...DEFAULT_EVENT_POLICY, leaseDuration: 7 }
      for (const eventRetention of [40, null]) {
        const policy = yield* Effect.provide(EventPolicy, policyLayer({ eventRetention }))
        assert.deepStrictEqual(policy, { ...surrounding, auditRetention: eventRetention })
      }
    }).pipe(Effect.provideService(EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration: 7 }))
  )
})
