import { Effect, Result } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Entitlement from "../phone/Entitlement.ts"
import * as NumberRelease from "../phone/NumberRelease.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

/** How many numbers one transaction suspends, and are given back before that is written down. */
const BATCH = 100

/**
 * The job that takes numbers out of use whose time is over, and gives back to the carrier what is out of use, until it
 * is gone there: at that moment it stops costing.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const releasing = yield* NumberRelease.make

  const suspend = Effect.fnUntraced(function* (limit: number) {
    const now = yield* Timestamp.now
    const over = yield* numbers.expired(now, limit)
    yield* releasing.suspend(over, "expired", (number) => !Entitlement.isUsable(number, now))
    return over.length
  })

  /** Goes once over all that is suspended; what the carrier does not take is left to the next run. */
  const giveBackAll = Effect.gen(function* () {
    let done = 0
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.suspended(after, BATCH)
      const outcomes = yield* releasing.giveBackEach(batch)
      for (const [index, outcome] of outcomes.entries()) {
        if (Result.isSuccess(outcome)) done++
        else yield* Effect.logWarning(`${batch[index]!.number} could not be given back yet: ${outcome.failure.message}`)
      }
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) return done
    }
  })

  const job: Job = {
    name: "number-expiry",
    every: 10 * Timestamp.SECOND,
    run: Effect.zipWith(inBatches(suspend, BATCH), giveBackAll, (suspended, givenBack) => suspended + givenBack)
  }
  return job
})
