import { Effect } from "effect"
import { InboundMailStore } from "../email/InboundMail.ts"
import { MailPolicy } from "../email/MailPolicy.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/** Raw mails deleted per statement. Small, because each may be large. */
const BATCH = 50

/** The job that deletes raw mail before its message, if the policy limits how long raw mail is kept. */
export const make: Effect.Effect<Job, never, InboundMailStore> = Effect.gen(function* () {
  const mails = yield* InboundMailStore
  const { rawRetention } = yield* MailPolicy
  return {
    name: "raw-mail-retention",
    every: 10 * Timestamp.MINUTE,
    run:
      rawRetention === null
        ? Effect.succeed(0)
        : inBatches((limit) => mails.removeRaw({ age: rawRetention, limit }), BATCH)
  }
})
