import { Effect } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

/**
 * The job that writes down which events have expired. They read so without it; it takes them out of what sessions
 * look through, and ends what is left of their leases.
 */
export const make: Effect.Effect<Job, never, EventStore> = Effect.map(EventStore, (events) => ({
  name: "event-expiry",
  every: Timestamp.MINUTE,
  run: inBatches(events.expire)
}))
