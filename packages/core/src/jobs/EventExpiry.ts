import { Effect } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/**
 * The job that stores the expiry of events. Reads treat an expired event as expired without it; the job removes these
 * events from the ones that sessions scan, and ends their remaining leases.
 */
export const make: Effect.Effect<Job, never, EventStore> = Effect.map(EventStore, (events) => ({
  name: "event-expiry",
  every: Timestamp.MINUTE,
  run: inBatches(events.expire)
}))
