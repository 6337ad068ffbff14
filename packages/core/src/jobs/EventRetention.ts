import { Effect } from "effect"
import { EventPolicy } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

/**
 * The job that deletes events which are over once the policy no longer keeps them for audit.
 *
 * Their dedupeKeys go with them. None can come again by then: an event of a payment is written with a move that
 * its operation makes once, one of a mail with a message whose id is new, and whoever tells of a thing from
 * outside stops repeating it within days, which is less than any event is kept.
 */
export const make: Effect.Effect<Job, never, EventStore> = Effect.gen(function* () {
  const events = yield* EventStore
  const { auditRetention, retention } = yield* EventPolicy
  if (auditRetention !== null && auditRetention < retention) {
    return yield* Effect.die(new Error("events can't be deleted before they have expired: see EventPolicy"))
  }
  return {
    name: "event-retention",
    every: Timestamp.MINUTE,
    run: auditRetention === null ? Effect.succeed(0) : inBatches((limit) => events.remove(auditRetention, limit))
  }
})
