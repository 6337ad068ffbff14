import { EventStore, type Uuid } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, maxLapses, minFailAge } = TEST_EVENT_POLICY

/** Leases everything to a new session and lets the leases expire, `times` times. */
export const lapse = Effect.fnUntraced(function* (tenantId: Uuid.Uuid, times: number) {
  const store = yield* EventStore
  const clock = yield* StoreClock
  for (const _ of Array.range(1, times)) {
    yield* store.lease(tenantId, yield* Fresh.id, 100)
    yield* clock.advance(leaseDuration)
  }
})

/** The only event of a tenant, which has failed. */
export const failedEvent = Effect.gen(function* () {
  const clock = yield* StoreClock
  const { tenantId } = yield* Fresh.tenant
  const event = yield* Sample.appendOne(tenantId)
  yield* clock.advance(minFailAge)
  yield* lapse(tenantId, maxLapses + 1)
  assert.strictEqual((yield* Sample.found(event)).status, "failed")
  return event
})
