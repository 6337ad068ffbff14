import { Effect } from "effect"
import { EventPolicy } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/**
 * The job that deletes acknowledged, expired and failed events once the policy no longer keeps them for audit. By default
 * the policy keeps them forever.
 *
 * It deletes their dedupeKeys too. None of these can occur again by then: a payment event is written with a state
 * transition that its operation makes once, a mail event with a message whose id is new, and external sources stop
 * repeating a report within days, which is less than the retention of any event.
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
