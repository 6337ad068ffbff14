import { Effect, Result } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Allowance from "../phone/Allowance.ts"
import { makeRelease } from "../phone/Numbers.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { inBatches, type Job } from "./Job.ts"

/** Numbers suspended per transaction, and numbers released at the carrier before the releases are stored. */
const BATCH = 100

/**
 * The job that suspends expired numbers, and releases suspended numbers at the carrier. It retries a number until the
 * carrier has released it, since the number costs money until then.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const releases = yield* makeRelease

  const suspend = Effect.fnUntraced(function* (limit: number) {
    const now = yield* Timestamp.now
    const over = yield* numbers.expired(now, limit)
    yield* releases.suspend(over, "expired", (number) => !Allowance.isUsable(number, now))
    return over.length
  })

  /** Tries once to release every suspended number. The next run retries those that the carrier did not release. */
  const releaseAll = Effect.gen(function* () {
    let done = 0
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.suspended(after, BATCH)
      const outcomes = yield* releases.release(batch)
      for (const [index, outcome] of outcomes.entries()) {
        if (Result.isSuccess(outcome)) done++
        else yield* Effect.logWarning(`${batch[index]!.number} was not released; retrying: ${outcome.failure.message}`)
      }
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) return done
    }
  })

  const job: Job = {
    name: "number-expiry",
    every: 10 * Timestamp.SECOND,
    run: Effect.zipWith(inBatches(suspend, BATCH), releaseAll, (suspended, released) => suspended + released)
  }
  return job
})
