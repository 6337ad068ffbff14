import { Effect } from "effect"
import { InboundMailStore } from "../email/InboundMail.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

/** For how long mail is tried that can't be delivered: longer than SMTP's own servers do (RFC 5321, section 4.5.4.1). */
const GIVE_UP_AFTER = 7 * Timestamp.DAY
/** What lay while no server ran has not been tried. Otherwise it is, about once a minute. */
const ATTEMPTS_MIN = 100
/** How many mails one statement takes: each may be large. */
const BATCH = 50

/**
 * The job that gives up raw mail which can't be delivered, and removes mail of the same age that a server staged and did
 * not add before it ended. All other raw mail goes by itself: with the delivery that no mailbox wanted, or with the last
 * message that refers to it.
 */
export const make: Effect.Effect<Job, never, InboundMailStore> = Effect.map(InboundMailStore, (mails) => {
  const giveUp = (limit: number) =>
    Effect.gen(function* () {
      const given = yield* mails.giveUp({ age: GIVE_UP_AFTER, attempts: ATTEMPTS_MIN, limit })
      if (given.length > 0) yield* Effect.logError(`mails given up that could not be delivered: ${given.join(", ")}`)
      return given.length
    })
  const removeStaged = (limit: number) => mails.removeStaged({ age: GIVE_UP_AFTER, limit })
  return {
    name: "inbound-mail-retention",
    every: Timestamp.HOUR,
    run: Effect.zipWith(inBatches(giveUp, BATCH), inBatches(removeStaged, BATCH), (given, removed) => given + removed)
  }
})
