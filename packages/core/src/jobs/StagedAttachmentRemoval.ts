import { Effect } from "effect"
import { AttachmentStore } from "../email/AttachmentStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/** Far longer than a claim takes after its attachments were staged. */
const REMOVE_AFTER = Timestamp.HOUR
/** Attachments per statement. Small, because each may be large. */
const BATCH = 50

/** The job that deletes attachments whose server stopped after staging them and before the claim. */
export const make: Effect.Effect<Job, never, AttachmentStore> = Effect.map(AttachmentStore, (attachments) => ({
  name: "staged-attachment-removal",
  every: 10 * Timestamp.MINUTE,
  run: inBatches((limit) => attachments.removeStaged({ age: REMOVE_AFTER, limit }), BATCH)
}))
