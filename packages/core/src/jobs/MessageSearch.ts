import { Effect } from "effect"
import { MessageStore } from "../email/MessageStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/** Messages per transaction. Small, because the texts of each are read. */
const BATCH = 50

/** The job that makes messages searchable that were stored before messages were, or by an older server. */
export const make: Effect.Effect<Job, never, MessageStore> = Effect.map(MessageStore, (messages) => ({
  name: "message-search",
  every: Timestamp.MINUTE,
  run: inBatches(messages.makeSearchable, BATCH)
}))
