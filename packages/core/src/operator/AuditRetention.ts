import { Effect } from "effect"
import { inBatches, type Job } from "../jobs/Job.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { RetentionPolicy } from "../tenancy/Retention.ts"
import { AuditStore } from "./AuditStore.ts"

/** The job that deletes old audit records, if the policy limits how long they are kept. */
export const make = Effect.gen(function* () {
  const { remove } = yield* AuditStore
  const policy = yield* RetentionPolicy
  const job: Job = {
    name: "audit-retention",
    every: Timestamp.HOUR,
    run: Effect.suspend(() => {
      const age = policy.audit
      return age === null ? Effect.succeed(0) : inBatches((limit) => remove({ age, limit }))
    })
  }
  return job
})
