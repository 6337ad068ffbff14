import { Effect } from "effect"
import { InboundMailStore } from "../email/InboundMail.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches, type Job } from "./Job.ts"

/** How long undeliverable mail is retried: longer than SMTP servers do (RFC 5321, section 4.5.4.1). */
const GIVE_UP_AFTER = 7 * Timestamp.DAY
/** Attempts before mail is abandoned. Mail gets about one a minute, but none while no server runs. */
const ATTEMPTS_MIN = 100
/** Mails per statement. Small, because each may be large. */
const BATCH = 50

/**
 * The job that abandons undeliverable raw mail, and removes mail of the same age that a server staged but did not add
 * before it stopped. All other raw mail is removed without this job: with a delivery that no mailbox accepts, or with
 * the last message that refers to it.
 */
export const make: Effect.Effect<Job, never, InboundMailStore> = Effect.map(InboundMailStore, (mails) => {
  const giveUp = (limit: number) =>
    Effect.gen(function* () {
      const given = yield* mails.giveUp({ age: GIVE_UP_AFTER, attempts: ATTEMPTS_MIN, limit })
      if (given.length > 0) yield* Effect.logError(`undeliverable mails deleted: ${given.join(", ")}`)
      return given.length
    })
  const removeStaged = (limit: number) => mails.removeStaged({ age: GIVE_UP_AFTER, limit })
  return {
    name: "inbound-mail-retention",
    every: Timestamp.HOUR,
    run: Effect.zipWith(inBatches(giveUp, BATCH), inBatches(removeStaged, BATCH), (given, removed) => given + removed)
  }
})
