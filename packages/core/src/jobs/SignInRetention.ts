import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { inBatches, type Job } from "./Job.ts"

/**
 * How long the record of a used sign-in message is kept after the message expired: far longer than the clocks of the
 * servers and of the database differ.
 */
const KEPT = Timestamp.HOUR

/** The job that deletes the records of used sign-in messages which no server accepts anymore. */
export const make: Effect.Effect<Job, never, TenantStore> = Effect.map(TenantStore, (tenants) => ({
  name: "sign-in-retention",
  every: Timestamp.HOUR,
  run: inBatches((limit) => tenants.deleteSignIns(KEPT, limit))
}))
